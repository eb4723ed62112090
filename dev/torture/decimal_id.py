"""decimal_id.py FOLDER SECONDS SEED: see dev/torture.sh.

Exits with status 1 if a value occurred twice or was not greater than the values before, or if no
value was returned. Three sessions call decimal_id(), whose ticker does not follow the clock. Another
chooses among KINDS, replacements of the sequence also as the first statement after a restart. The
tickers of its 30 other databases do not fit into memory before version 17. Values of a transaction
that replaced the sequence and was rolled back do not count (docs/tickers.md).
"""

import collections
import contextlib
import random
import sys
import threading
import time

from server import Lost, Refused, connect, counts, over, pg_ctl, print_counts, seconds, seed

SEQUENCE = 'idgen.decimal_id_ticker'
USE_UP = 'SELECT count(idgen.decimal_id()) FROM generate_series(1, {})'


def values(count):
    """A query for ticker values."""
    return ("SELECT 'row', d / 10000000000 + (d / 100000 % 100000) * 922337202"
            f" FROM (SELECT idgen.decimal_id() d FROM generate_series(1, {count}) OFFSET 0) s")


class History:
    """All values that were returned."""

    lock, count, falls = threading.Lock(), collections.Counter(), []
    greatest = statements = 0

    def add(self, rows, before, origin):
        new = [int(value) for value, in rows]
        with self.lock:
            self.statements += 1
            self.falls += [f'{origin}: {value} after {before}' for value in new if value <= before]
            self.count.update(new)
            self.greatest = max([self.greatest, *new])


def replace_sequence(how):
    """A statement that replaces the sequence as docs/tickers.md says: with a value above its mark."""
    return f"""DO $do$
        DECLARE
            mark bigint;
        BEGIN
            ALTER SEQUENCE {SEQUENCE} CACHE 1;  -- keeps the other sessions out
            SELECT coalesce(reserved_value, 1) - 1 INTO mark FROM idgen.ticker_state('decimal_id');
            {how}
            EXECUTE format('SELECT idgen.raise_decimal_id(%s)',
                           (mark % 922337202 + 1) * 10000000000 + mark / 922337202 * 100000);
        END
        $do$"""


REPLACEMENTS = {
    'extension': 'DROP EXTENSION idgen; CREATE EXTENSION idgen;',
    'drop': f'ALTER EXTENSION idgen DROP SEQUENCE {SEQUENCE}; DROP SEQUENCE {SEQUENCE};'
            f' CREATE SEQUENCE {SEQUENCE}; ALTER EXTENSION idgen ADD SEQUENCE {SEQUENCE};',
    'rename': f'ALTER EXTENSION idgen DROP SEQUENCE {SEQUENCE}; DROP SEQUENCE IF EXISTS public.former;'
              f' ALTER SEQUENCE {SEQUENCE} RENAME TO former; ALTER SEQUENCE idgen.former SET SCHEMA public;'
              f' CREATE SEQUENCE {SEQUENCE}; ALTER EXTENSION idgen ADD SEQUENCE {SEQUENCE};'}


history = History()


def take_values(number):
    """Sessions that use the ticker, one after the other: the server can crash."""
    rng = random.Random(f'{seed} session {number}')
    while not over.is_set():
        session = connect(rng.choice(['', '-c lock_timeout=300ms']))
        with contextlib.suppress(Lost):
            while not over.is_set() and rng.random() >= 0.05:
                before = history.greatest
                with contextlib.suppress(Refused):
                    if rng.random() < 0.5:
                        session.run(USE_UP.format(rng.choice([100, 20000, 500000, 1900000])))
                    history.add(session.run(values(rng.choice([1, 3, 50])))[0], before, f'session {number}')
        session.close()


def statements(rng, what, restarted):
    """The statements, and whether their values count."""
    end, way = rng.choice(['COMMIT', 'ROLLBACK']), rng.choice(['ROLLBACK TO s', 'RELEASE s'])
    use = USE_UP.format(rng.choice([1, 1000, 2500000, 4500000]))
    alter = f'ALTER SEQUENCE {SEQUENCE}'
    changes = {
        'alter': [f"{alter} {rng.choice(['INCREMENT 1', 'AS bigint', 'CACHE 1', 'RESTART'])}", use, values(3)],
        'savepoint': ['SAVEPOINT s', f'{alter} INCREMENT 1', use, values(2), way,
                      values(2), rng.choice([f'{alter} CACHE 1', 'SELECT 1']), values(2)],
        **{name: [replace_sequence(how), use, values(2)] for name, how in REPLACEMENTS.items()}}
    if not restarted and rng.random() < 0.5:    # memory has the values, because they are used in the transaction
        changes['extension'] = [f'{alter} CACHE 1', 'SELECT idgen.decimal_id()', REPLACEMENTS['extension'], use, values(2)]
    if what in changes:
        return ['BEGIN', *changes[what], end], end == 'COMMIT' and (what != 'savepoint' or way == 'RELEASE s')
    return {
        'owner': ['BEGIN', f"{alter} OWNER TO {rng.choice(['keeper', 'keeper', 'CURRENT_USER'])}",     # perhaps without rights
                  rng.choice([f'REVOKE ALL ON SEQUENCE {SEQUENCE} FROM keeper', 'SELECT 1']), values(2), end],
        # with a query that could be parallel
        'grant': ['SET parallel_setup_cost = 0', 'SET parallel_tuple_cost = 0', 'SET min_parallel_table_scan_size = 0',
                  'BEGIN', f'GRANT SELECT ON {SEQUENCE} TO PUBLIC', 'SELECT count(idgen.decimal_id()) FROM source',
                  values(3), f'REVOKE SELECT ON {SEQUENCE} FROM PUBLIC', values(3), end],
        'nextval': [f"SELECT max(nextval('{SEQUENCE}')) FROM generate_series(1, {rng.choice([1, 2, 31, 32, 33, 34, 65, 66])})",
                    rng.choice([values(2), 'SELECT 1'])],
        # more than the sessions can use up in the meantime
        'setval': [f"SELECT setval('{SEQUENCE}', last_value + 100000222) FROM {SEQUENCE}"],
        'raise': [f'SELECT idgen.raise_decimal_id(idgen.decimal_id() + {rng.choice([0, 1, 1000, 3000000])} * 10000000000)',
                  values(2)],
        'checkpoint': ['CHECKPOINT']}[what], True


greatest_in = {f'other_{number}': 0 for number in range(1, 31)}


def visit_databases():
    """Take a value in each of the other databases, whose tickers take each other's place."""
    for database, before in greatest_in.items():
        session = connect(database=database)
        session.run('SELECT idgen.snowflake(), idgen.trace_id(), idgen.js_id(), idgen.uuid_v7_ordered()')
        greatest_in[database] = value = int(session.run(values(1))[0][0][0])
        session.close()
        if value <= before:
            history.falls.append(f'{database}: {value} after {before}')


KINDS = ['alter', 'alter', 'savepoint', 'extension', 'drop', 'rename', 'owner', 'grant', 'nextval', 'nextval',
         'setval', 'raise', 'checkpoint', 'immediate', 'immediate', 'fast', 'databases']


def torture():
    rng, end = random.Random(seed), time.monotonic() + seconds
    while time.monotonic() < end:
        what = rng.choice(KINDS)
        restarted = what in ('immediate', 'fast')
        counts[what] += 1
        if what == 'databases':
            visit_databases()
            continue
        if restarted:
            if not (pg_ctl('-m', what, 'stop') and pg_ctl('start')):
                sys.exit('the server did not restart')
            if rng.random() < 0.5:
                continue
            # the first statement after the start, unless a session is faster
            what = rng.choice(list(REPLACEMENTS))
            counts[what + ' after a restart'] += 1
        sql, kept = statements(rng, what, restarted)
        before, session = history.greatest, connect()
        with contextlib.suppress(Refused):      # for example, a deadlock with a waiting session
            rows = [row for statement in sql for row in session.run(statement)[0]]
            if kept:
                history.add(rows, before, what)
        session.close()


sessions = [threading.Thread(target=take_values, args=(number,), daemon=True) for number in range(3)]
for thread in sessions:
    thread.start()
torture()
over.set()
for thread in sessions:
    thread.join(60)

print_counts()
print(f'{history.statements} statements returned {history.count.total()} values')
repeats = [value for value, times in history.count.items() if times > 1]
print(f'{len(repeats)} occurred twice: {repeats[:10]}')
print(f'{len(history.falls)} not greater than before: {history.falls[:10]}')
sys.exit(bool(repeats or history.falls or not history.count))
