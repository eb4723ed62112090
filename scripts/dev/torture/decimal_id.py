"""decimal_id.py FOLDER SECONDS SEED: see scripts/dev/torture.sh.

FOLDER contains the data folder and the server's log; PGHOST and so on name the server.
Exits with status 1 if a value occurred twice or was not greater than the values before,
or if no value was returned.

Three sessions call decimal_id(), whose ticker does not follow the clock. Another session
chooses at random among ALTER SEQUENCE, DROP and CREATE EXTENSION, the same with the
sequence, and renaming it, in a transaction that commits or rolls back, also as the first
statement after a restart; another owner without rights, GRANT with a query that could be
parallel, nextval(), setval() to a greater value, raise_decimal_id(), CHECKPOINT, clean and
immediate stops, and calls in 30 other databases in turn, whose tickers do not fit into
memory before version 17. Values of a transaction that replaced the sequence and was rolled
back do not count: see docs/tickers.md.
"""

import collections
import os
import random
import subprocess
import sys
import threading
import time

folder, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
SEQUENCE = 'idgen.decimal_id_ticker'
PSQL = ['psql', '-X', '-q', '-A', '-t']


def values(count):
    """A query for ticker values, as lines that begin with v."""
    return ("SELECT 'v' || d / 10000000000 + (d / 100000 % 100000) * 922337202"
            f" FROM (SELECT idgen.decimal_id() d FROM generate_series(1, {count}) OFFSET 0) s")


def use_up(count):
    return f'SELECT count(idgen.decimal_id()) FROM generate_series(1, {count})'


def numbers(lines):
    return [int(line[1:]) for line in lines if line.startswith('v')]


class History:
    """All values that were returned."""

    lock = threading.Lock()
    count = collections.Counter()
    greatest = statements = 0
    falls = []

    def add(self, new, before, origin):
        with self.lock:
            self.statements += 1
            self.falls += [f'{origin}: {value} after {before}' for value in new if value <= before]
            self.count.update(new)
            self.greatest = max([self.greatest, *new])


class Session:
    """A psql process that runs statements."""

    def __init__(self, settings):
        self.psql = subprocess.Popen(PSQL, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                     text=True, env=dict(os.environ, PGOPTIONS=settings))

    def run(self, sql):
        self.psql.stdin.write(sql + ';\n\\echo end\n')
        self.psql.stdin.flush()
        lines = []
        for line in self.psql.stdout:
            if line == 'end\n':
                return lines
            lines.append(line.strip())
        raise EOFError

    def close(self):
        self.psql.kill()
        self.psql.wait()


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
over = threading.Event()
done = collections.Counter()


def take_values(number):
    """A session that uses the ticker, and reconnects after crashes of the server."""
    rng, session = random.Random(seed * 100 + number), None
    while not over.is_set():
        try:
            session = session or Session(rng.choice(['', '-c lock_timeout=300ms']))
            before = history.greatest
            if rng.random() < 0.5:
                session.run(use_up(rng.choice([100, 20000, 500000, 1900000])))
            history.add(numbers(session.run(values(rng.choice([1, 3, 50])))), before, f'session {number}')
            if rng.random() < 0.05:
                session.close()
                session = None
        except (EOFError, OSError):
            session.close()
            session = None
            over.wait(0.05)
    if session:
        session.close()


def stop_and_start(mode):
    control = ['pg_ctl', '-D', f'{folder}/data', '-w', '-s']
    subprocess.run([*control, '-m', mode, 'stop'], check=True)
    subprocess.run([*control, '-l', f'{folder}/server.log', 'start'], check=True)


def statements(rng, what, restarted):
    """The statements, and whether their values count."""
    end = rng.choice(['COMMIT', 'ROLLBACK'])
    kept = end == 'COMMIT'
    use = use_up(rng.choice([1, 1000, 2500000, 4500000]))

    if what == 'alter':
        how = rng.choice(['INCREMENT 1', 'AS bigint', 'CACHE 1', 'RESTART'])
        return ['BEGIN', f'ALTER SEQUENCE {SEQUENCE} {how}', use, values(3), end], kept
    if what == 'savepoint':
        way = rng.choice(['ROLLBACK TO s', 'RELEASE s'])
        again = rng.choice([f'ALTER SEQUENCE {SEQUENCE} CACHE 1', 'SELECT 1'])
        return ['BEGIN', 'SAVEPOINT s', f'ALTER SEQUENCE {SEQUENCE} INCREMENT 1', use, values(2), way,
                values(2), again, values(2), end], kept and way == 'RELEASE s'
    if what == 'extension' and not restarted and rng.random() < 0.5:
        # memory has the values, because they are used in the transaction
        return ['BEGIN', f'ALTER SEQUENCE {SEQUENCE} CACHE 1', 'SELECT idgen.decimal_id()',
                'DROP EXTENSION idgen', 'CREATE EXTENSION idgen', use, values(2), end], kept
    if what in REPLACEMENTS:
        return ['BEGIN', replace_sequence(REPLACEMENTS[what]), use, values(2), end], kept
    if what == 'owner':
        rights = rng.choice([f'REVOKE ALL ON SEQUENCE {SEQUENCE} FROM keeper', 'SELECT 1'])
        owner = rng.choice(['keeper', 'keeper', 'CURRENT_USER'])
        return ['BEGIN', f'ALTER SEQUENCE {SEQUENCE} OWNER TO {owner}', rights, values(2), end], True
    if what == 'grant':
        return ['SET parallel_setup_cost = 0', 'SET parallel_tuple_cost = 0', 'SET min_parallel_table_scan_size = 0',
                'BEGIN', f'GRANT SELECT ON {SEQUENCE} TO PUBLIC', 'SELECT count(idgen.decimal_id()) FROM source',
                values(3), f'REVOKE SELECT ON {SEQUENCE} FROM PUBLIC', values(3), end], True
    if what == 'nextval':
        calls = rng.choice([1, 2, 31, 32, 33, 34, 65, 66])
        return [f"SELECT max(nextval('{SEQUENCE}')) FROM generate_series(1, {calls})",
                rng.choice([values(2), 'SELECT 1'])], True
    if what == 'setval':    # more than the sessions can use up in the meantime
        return [f"SELECT setval('{SEQUENCE}', last_value + 100000222) FROM {SEQUENCE}"], True
    if what == 'raise':
        return ['SELECT idgen.raise_decimal_id(idgen.decimal_id() + '
                f'{rng.choice([0, 1, 1000, 3000000])} * 10000000000)', values(2)], True
    return ['CHECKPOINT'], True


greatest_in = {f'other_{number}': 0 for number in range(1, 31)}


def visit_databases():
    """Take a value in each of the other databases, whose tickers take each other's place."""
    for database, before in greatest_in.items():
        result = subprocess.run([*PSQL, '-d', database, '-c', 'SELECT idgen.snowflake(), idgen.trace_id(), idgen.js_id(),'
                                 ' idgen.uuid_v7_ordered()', '-c', values(1)],
                                capture_output=True, text=True, check=False)
        for value in numbers(result.stdout.split()):
            if value <= before:
                history.falls.append(f'{database}: {value} after {before}')
            greatest_in[database] = value


def torture():
    rng = random.Random(seed)
    kinds = ['alter', 'alter', 'savepoint', 'extension', 'drop', 'rename', 'owner', 'grant', 'nextval', 'nextval',
             'setval', 'raise', 'checkpoint', 'immediate', 'immediate', 'fast', 'databases']
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        what = rng.choice(kinds)
        restarted = what in ('immediate', 'fast')
        done[what] += 1
        if what == 'databases':
            visit_databases()
            continue
        if restarted:
            stop_and_start(what)
            if rng.random() < 0.5:
                continue
            # the first statement after the start, unless a session is faster
            what = rng.choice(list(REPLACEMENTS))
            done[what + ' after a restart'] += 1
        sql, kept = statements(rng, what, restarted)
        before = history.greatest
        result = subprocess.run([*PSQL, '-v', 'ON_ERROR_STOP=1', *sum((['-c', s] for s in sql), [])],
                                capture_output=True, text=True, check=False)
        if result.returncode != 0:      # for example, a deadlock with a waiting session
            done[what + ': ' + result.stderr.strip().split('\n')[0]] += 1
        elif kept:
            history.add(numbers(result.stdout.split()), before, what)


sessions = [threading.Thread(target=take_values, args=(number,), daemon=True) for number in range(3)]
for thread in sessions:
    thread.start()
torture()
over.set()
for thread in sessions:
    thread.join(60)

for what, times in sorted(done.items()):
    print(f'{times:6} {what}')
print(f'{history.statements} statements returned {history.count.total()} values')
repeats = [value for value, times in history.count.items() if times > 1]
print(f'{len(repeats)} occurred twice: {repeats[:10]}')
print(f'{len(history.falls)} not greater than before: {history.falls[:10]}')
sys.exit(bool(repeats or history.falls or not history.count))
