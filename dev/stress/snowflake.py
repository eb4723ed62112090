"""snowflake.py FOLDER SECONDS SEED: see dev/stress.sh.

Exits with status 1 if a value occurred twice or was not greater than the values before, or if no
value was returned. Three sessions call snowflake(), whose high-water mark is ten hours ahead of the
clock, so that the clock does not protect the values. Another chooses among KINDS, replacements of
the sequence also as the first statement after a restart. Values of a transaction that replaced the
sequence and was rolled back do not count (docs/promises.md).
"""

import collections
import contextlib
import random
import sys
import threading
import time

from server import Lost, Refused, connect, counts, over, pg_ctl, print_counts, seconds, seed

SEQUENCE = 'idgen.snowflake_mark'
SET_UP = [
    'CREATE EXTENSION idgen', 'CREATE ROLE keeper',
    f"SELECT setval('{SEQUENCE}', extract(epoch FROM now() + interval '10 hours')::bigint << 28)",
    'CREATE TABLE source WITH (parallel_workers = 2) AS SELECT generate_series(1, 20000) i', 'ANALYZE source', 'CHECKPOINT']
USE_UP = 'SELECT count(idgen.snowflake()) FROM generate_series(1, {})'


def values(count):
    """A query for time and counter."""
    return ("SELECT 'row', (id >> 22 << 12) | (id & 4095)"
            f" FROM (SELECT idgen.snowflake() AS id FROM generate_series(1, {count}) OFFSET 0) s")


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
    """A statement that replaces the sequence and sets the new one to the mark of the former."""
    return f"""DO $do$
        DECLARE
            mark bigint;
        BEGIN
            ALTER SEQUENCE {SEQUENCE} CACHE 1;  -- keeps the other sessions out
            SELECT last_value INTO mark FROM {SEQUENCE};
            {how}
            PERFORM setval('{SEQUENCE}', mark);
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
    """Sessions that generate, one after the other: the server can crash."""
    rng = random.Random(f'{seed} session {number}')
    while not over.is_set():
        session = connect(rng.choice(['', '-c lock_timeout=300ms']))
        with contextlib.suppress(Lost):
            while not over.is_set() and rng.random() >= 0.05:
                before = history.greatest
                with contextlib.suppress(Refused):
                    if rng.random() < 0.5:
                        # ten seconds have 40 million values
                        session.run(USE_UP.format(rng.choice([100, 20000, 5000000])))
                    history.add(session.run(values(rng.choice([1, 3, 50]))), before, f'session {number}')
        session.close()


def statements(rng, what):
    """The statements, and whether their values count."""
    end, way = rng.choice(['COMMIT', 'ROLLBACK']), rng.choice(['ROLLBACK TO s', 'RELEASE s'])
    use = USE_UP.format(rng.choice([1, 1000, 50000]))
    alter = f'ALTER SEQUENCE {SEQUENCE}'
    changes = {
        'alter': [f"{alter} {rng.choice(['INCREMENT 1', 'AS bigint', 'CACHE 1'])}", use, values(3)],
        'savepoint': ['SAVEPOINT s', f'{alter} INCREMENT 1', use, values(2), way,
                      values(2), rng.choice([f'{alter} CACHE 1', 'SELECT 1']), values(2)],
        'restart': ['SELECT idgen.snowflake()', f'{alter} RESTART', use, values(2)],
        **{name: [replace_sequence(how), use, values(2)] for name, how in REPLACEMENTS.items()}}
    if what in changes:
        return ['BEGIN', *changes[what], end], end == 'COMMIT' and (what != 'savepoint' or way == 'RELEASE s')
    return {
        'owner': ['BEGIN', f"{alter} OWNER TO {rng.choice(['keeper', 'keeper', 'CURRENT_USER'])}",     # perhaps without rights
                  rng.choice([f'REVOKE ALL ON SEQUENCE {SEQUENCE} FROM keeper', 'SELECT 1']), values(2), end],
        # with a query that could be parallel
        'grant': ['SET parallel_setup_cost = 0', 'SET parallel_tuple_cost = 0', 'SET min_parallel_table_scan_size = 0',
                  'BEGIN', f'GRANT SELECT ON {SEQUENCE} TO PUBLIC', 'SELECT count(idgen.snowflake()) FROM source',
                  values(3), f'REVOKE SELECT ON {SEQUENCE} FROM PUBLIC', values(3), end],
        'nextval': [f"SELECT max(nextval('{SEQUENCE}')) FROM generate_series(1, {rng.choice([1, 2, 31, 32, 33, 34, 65, 66])})",
                    rng.choice([values(2), 'SELECT 1'])],
        'setval': [f"SELECT setval('{SEQUENCE}', last_value + {rng.choice([222, 2 << 28, 60 << 28])}) FROM {SEQUENCE}"],
        'checkpoint': ['CHECKPOINT']}[what], True


KINDS = ['alter', 'alter', 'savepoint', 'restart', 'extension', 'drop', 'rename', 'owner', 'grant', 'nextval', 'nextval',
         'setval', 'checkpoint', 'immediate', 'immediate', 'fast']


def cause_faults():
    rng, end = random.Random(seed), time.monotonic() + seconds
    while time.monotonic() < end:
        what = rng.choice(KINDS)
        counts[what] += 1
        if what in ('immediate', 'fast'):
            if not (pg_ctl('-m', what, 'stop') and pg_ctl('start')):
                sys.exit('the server did not restart')
            if rng.random() < 0.5:
                continue
            # the first statement after the start, unless a session is faster
            what = rng.choice(list(REPLACEMENTS))
            counts[what + ' after a restart'] += 1
        sql, kept = statements(rng, what)
        before, session = history.greatest, connect()
        with contextlib.suppress(Refused):      # for example, a deadlock with a waiting session
            rows = [row for statement in sql for row in session.run(statement)]
            if kept:
                history.add(rows, before, what)
        session.close()


for statement in SET_UP:
    connect().run(statement)
sessions = [threading.Thread(target=take_values, args=(number,), daemon=True) for number in range(3)]
for thread in sessions:
    thread.start()
cause_faults()
over.set()
for thread in sessions:
    thread.join(60)

print_counts()
print(f'{history.statements} statements returned {history.count.total()} values')
repeats = [value for value, times in history.count.items() if times > 1]
print(f'{len(repeats)} occurred twice: {repeats[:10]}')
print(f'{len(history.falls)} not greater than before: {history.falls[:10]}')
sys.exit(bool(repeats or history.falls or not history.count))
