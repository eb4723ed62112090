"""decimal_id.py FOLDER SECONDS SEED: see scripts/dev/torture.sh.

FOLDER contains the data folder and the server's log; PGHOST and so on name the
server. Exits with status 1 if a value occurred twice or was not greater than
the values before, or if no value was returned.
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
LEAVE_AFTER = 60    # seconds for a session to notice the end


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

    def __init__(self):
        self.lock = threading.Lock()
        self.count = collections.Counter()
        self.greatest = 0
        self.falls = []
        self.statements = 0

    def begin(self):
        with self.lock:
            return self.greatest

    def add(self, new, before, origin):
        with self.lock:
            self.statements += 1
            self.falls += [f'{origin}: {value} after {before}' for value in new if value <= before]
            self.count.update(new)
            self.greatest = max([self.greatest, *new])

    def repeats(self):
        return [value for value, times in self.count.items() if times > 1]


class Session:
    """A psql process that runs statements."""

    def __init__(self, settings):
        self.psql = subprocess.Popen(PSQL, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, text=True,
                                     env=dict(os.environ, PGOPTIONS=settings))

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


history = History()
over = threading.Event()
done = collections.Counter()


def take_values(number):
    """A session that uses the ticker, and reconnects after crashes of the server."""
    rng = random.Random(seed * 100 + number)
    session = None
    while not over.is_set():
        try:
            session = session or Session(rng.choice(['', '-c lock_timeout=300ms']))
            before = history.begin()
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


def statements(rng, what):
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
    if what == 'extension':
        return ['BEGIN', 'DROP EXTENSION idgen', 'CREATE EXTENSION idgen', use, values(2), end], kept
    if what == 'grant':
        return ['SET parallel_setup_cost = 0', 'SET parallel_tuple_cost = 0', 'SET min_parallel_table_scan_size = 0',
                'BEGIN', f'GRANT SELECT ON {SEQUENCE} TO PUBLIC', 'SELECT count(idgen.decimal_id()) FROM source',
                values(3), f'REVOKE SELECT ON {SEQUENCE} FROM PUBLIC', values(3), end], True
    if what == 'nextval':
        calls = rng.choice([1, 2, 31, 32, 33, 34, 65, 66])
        return [f"SELECT max(nextval('{SEQUENCE}')) FROM generate_series(1, {calls})",
                rng.choice([values(2), 'SELECT 1'])], True
    if what == 'setval':
        # more than the sessions can use up in the meantime
        return [f"SELECT setval('{SEQUENCE}', last_value + 100000222) FROM {SEQUENCE}"], True
    if what == 'raise':
        return ["SELECT idgen.raise_ticker('decimal_id', coalesce(last_value, 1) + "
                f"{rng.choice([0, 1, 1000, 3000000])}) FROM idgen.ticker_state('decimal_id')", values(2)], True
    return ['CHECKPOINT'], True


def torture():
    rng = random.Random(seed)
    kinds = ['alter', 'alter', 'savepoint', 'extension', 'grant', 'nextval', 'nextval', 'setval', 'raise',
             'checkpoint', 'immediate', 'immediate', 'fast']
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        what = rng.choice(kinds)
        done[what] += 1
        if what in ('immediate', 'fast'):
            stop_and_start(what)
            continue
        sql, kept = statements(rng, what)
        before = history.begin()
        result = subprocess.run([*PSQL, '-v', 'ON_ERROR_STOP=1', *sum((['-c', s] for s in sql), [])],
                                capture_output=True, text=True, check=False)
        if result.returncode != 0:
            # for example, a deadlock with a waiting session
            done[what + ': ' + result.stderr.strip().split('\n')[0]] += 1
        elif kept:
            history.add(numbers(result.stdout.split()), before, what)


sessions = [threading.Thread(target=take_values, args=(number,), daemon=True) for number in range(3)]
for thread in sessions:
    thread.start()
torture()
over.set()
for thread in sessions:
    thread.join(LEAVE_AFTER)

for what, times in sorted(done.items()):
    print(f'{times:6} {what}')
print(f'{history.statements} statements returned {history.count.total()} values')
print(f'{len(history.repeats())} occurred twice: {history.repeats()[:10]}')
print(f'{len(history.falls)} not greater than before: {history.falls[:10]}')
sys.exit(bool(history.repeats() or history.falls or not history.count))
