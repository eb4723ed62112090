"""snowflake.py FOLDER SECONDS SEED: see dev/stress.sh.

The program exits with status 1 if a value occurred twice or was not greater than earlier values, or if no value was
returned. Three sessions call snowflake(), whose high-water mark is ten hours ahead of the clock, so that the clock
alone does not prevent repeated values. Another session changes the sequence in the ways that KINDS lists, sometimes in
the first statement after a restart. If a transaction replaced the sequence and was rolled back, its values are ignored.
"""

import collections
import contextlib
import os
import random
import subprocess
import sys
import threading
import time

folder, seconds, seed = sys.argv[1], float(sys.argv[2]), sys.argv[3]
over = threading.Event()
counts, errors = collections.Counter(), collections.Counter()


def fail(kind, error, trace):
    """Print a line for the summary of a run, and end the program."""
    sys.__excepthook__(kind, error, trace)
    print(f'FAILED  {kind.__name__}: {error}', flush=True)
    os._exit(1)


sys.excepthook = fail
# A failure in a thread ends the program.
threading.excepthook = lambda failure: fail(*failure[:3])


class Lost(Exception):
    """Raised when a connection has ended."""


class Refused(Exception):
    """Raised when the server reports an error. The argument is its SQLSTATE."""


class Session:
    """A psql process. If the rows of a query are needed, its first column must be 'row'."""

    def __init__(self, settings=''):
        self.psql = subprocess.Popen(
            ['psql', '-X', '-q', '-A', '-t', '-F', ' ', 'postgres'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env=dict(os.environ, PGOPTIONS=settings))
        self.run('SELECT 1')

    def close(self):
        self.psql.kill()
        self.psql.communicate()

    def run(self, sql):
        """Run a statement, and return its rows as lists of words."""
        try:
            self.psql.stdin.write(sql + ';\n\\echo end :SQLSTATE\n')
            self.psql.stdin.flush()
        except OSError as error:
            raise Lost from error
        rows = []
        for line in self.psql.stdout:
            word, *values = line.split() or ['']
            if word == 'row':
                rows.append(values)
            elif word == 'end':
                # A lost connection has no SQLSTATE unless an administrator has terminated it.
                if not values or values[0].startswith('57P'):
                    break
                if values[0] == '00000':
                    return rows
                errors[values[0]] += 1
                raise Refused(values[0])
        raise Lost


def connect(settings=''):
    """Return a session, after waiting for the server to recover."""
    while True:
        try:
            return Session(settings)
        except Lost:
            time.sleep(0.05)


def pg_ctl(*arguments):
    """Run pg_ctl, and return whether it succeeded."""
    command = ['pg_ctl', '-D', f'{folder}/data', '-w', '-s', '-l', f'{folder}/server.log', *arguments]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


def print_counts():
    for what, times in sorted(counts.items()) + [(f'error {state}', times) for state, times in sorted(errors.items())]:
        print(f'{times:6} {what}')


SEQUENCE = 'idgen.snowflake_mark'
SET_UP = [
    'CREATE EXTENSION idgen', 'CREATE ROLE keeper',
    f"SELECT setval('{SEQUENCE}', extract(epoch FROM now() + interval '10 hours')::bigint << 28)",
    'CHECKPOINT']
USE_UP = 'SELECT count(idgen.snowflake()) FROM generate_series(1, {})'


def values(count):
    """Return a query for the time and the counter of new values."""
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
    """Return a statement that replaces the sequence and sets the new one to the last value of the former."""
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
    """Generate values in one session after another, because the server can crash."""
    rng = random.Random(f'{seed} session {number}')
    while not over.is_set():
        session = connect(rng.choice(['', '-c lock_timeout=300ms']))
        with contextlib.suppress(Lost):
            while not over.is_set() and rng.random() >= 0.05:
                before = history.greatest
                with contextlib.suppress(Refused):
                    if rng.random() < 0.5:
                        # Ten seconds have 40 million values.
                        session.run(USE_UP.format(rng.choice([100, 20000, 5000000])))
                    history.add(session.run(values(rng.choice([1, 3, 50]))), before, f'session {number}')
        session.close()


def statements(rng, what):
    """Return statements, and whether their values count."""
    end = rng.choice(['COMMIT', 'ROLLBACK'])
    use = USE_UP.format(rng.choice([1, 1000, 50000]))
    changes = {
        'alter': f"ALTER SEQUENCE {SEQUENCE} {rng.choice(['INCREMENT 1', 'RESTART', 'CACHE 1', 'OWNER TO keeper'])}",
        'nextval': f"SELECT max(nextval('{SEQUENCE}')) FROM generate_series(1, {rng.choice([1, 31, 32, 33, 66])})",
        # The new mark is so far ahead that no other session reaches it in the meantime.
        'setval': f"SELECT setval('{SEQUENCE}', last_value + {rng.choice([20, 40]) << 28}) FROM {SEQUENCE}",
        'checkpoint': 'CHECKPOINT',
        **{name: replace_sequence(how) for name, how in REPLACEMENTS.items()}}
    if what in ('nextval', 'setval', 'checkpoint'):
        return [changes[what], values(2)], True
    savepoint = rng.random() < 0.3
    # RESTART removes the high-water mark, so a server that has not returned a value yet would follow the clock.
    return [*(['SELECT idgen.snowflake()'] if what == 'alter' else []),
            'BEGIN', *(['SAVEPOINT s'] if savepoint else []), changes[what], use, values(2),
            *(['ROLLBACK TO s', values(2)] if savepoint else []), end], end == 'COMMIT' and not savepoint


KINDS = ['alter', 'alter', 'extension', 'drop', 'rename', 'nextval', 'setval', 'checkpoint', 'fast', *['immediate'] * 2]


def cause_faults():
    rng, end = random.Random(seed), time.monotonic() + seconds
    while time.monotonic() < end:
        what = rng.choice(KINDS)
        counts[what] += 1
        if what in ('immediate', 'fast'):
            if not (pg_ctl('-m', what, 'stop') and pg_ctl('start')):
                raise RuntimeError(f'the server did not restart after a stop in mode {what}')
            if rng.random() < 0.5:
                continue
            # This is the first statement after the start, unless another session is faster.
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
    thread.join()

print_counts()
print(f'{history.statements} statements returned {history.count.total()} values')
repeats = [value for value, times in history.count.items() if times > 1]
if repeats or history.falls or not history.count:
    sys.exit(f'FAILED  {len(repeats)} values occurred twice: {repeats[:3]};'
             f' {len(history.falls)} were not greater than before: {history.falls[:3]}')
