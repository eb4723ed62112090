"""The server of create_once.py and snowflake.py, which have the arguments FOLDER SECONDS SEED: its
sessions, which it can lose, and its restarts. FOLDER contains its data folder and log.
"""

import collections
import itertools
import os
import subprocess
import sys
import threading
import time

folder, seconds, seed = sys.argv[1], float(sys.argv[2]), sys.argv[3]
over = threading.Event()
counts, errors = collections.Counter(), collections.Counter()

# a client that fails ends the program, with status 1
threading.excepthook = lambda failure: (sys.__excepthook__(*failure[:3]), os._exit(1))


class Lost(Exception):
    """The connection ended."""


class Refused(Exception):
    """The server raised an error, whose SQLSTATE is the argument."""


class Session:
    """A psql process. A query for rows has 'row' as its first column."""

    numbers = itertools.count()

    def __init__(self, settings='', database='postgres'):
        self.name = f'torture {next(self.numbers)}'
        self.psql = subprocess.Popen(
            ['psql', '-X', '-q', '-A', '-t', '-F', ' ', database], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env=dict(os.environ, PGAPPNAME=self.name, PGOPTIONS=settings))
        self.process = int(self.run("SELECT 'row', pg_backend_pid()")[0][0][0])

    def close(self):
        self.psql.kill()
        self.psql.communicate()

    def ask(self, sql):
        try:
            self.psql.stdin.write(sql + ';\n\\echo end :SQLSTATE\n')
            self.psql.stdin.flush()
        except OSError as error:
            raise Lost from error

    def answer(self):
        """The rows and the notices, as lists of words."""
        rows, notices = [], []
        for line in self.psql.stdout:
            word, *values = line.split() or ['']
            if word == 'row':
                rows.append(values)
            elif word == 'NOTICE:':
                notices.append(values)
            elif word == 'end':
                # there is no SQLSTATE if the connection is lost, unless an administrator ends it
                if not values or values[0].startswith('57P'):
                    break
                if values[0] == '00000':
                    return rows, notices
                errors[values[0]] += 1
                raise Refused(values[0])
        raise Lost

    def run(self, sql):
        self.ask(sql)
        return self.answer()


def connect(settings='', lost=None, database='postgres'):
    """A session, once the server has recovered and the process of a lost session has ended."""
    while True:
        try:
            session = Session(settings, database)
            while lost and session.run(f"SELECT 'row' FROM pg_stat_activity WHERE application_name = '{lost.name}'")[0]:
                time.sleep(0.01)
            return session
        except Lost:
            time.sleep(0.05)


def pg_ctl(*arguments):
    """Whether it succeeded."""
    command = ['pg_ctl', '-D', f'{folder}/data', '-w', '-s', '-l', f'{folder}/server.log', *arguments]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


def print_counts():
    for what, times in sorted(counts.items()) + [(f'error {state}', times) for state, times in sorted(errors.items())]:
        print(f'{times:6} {what}')
