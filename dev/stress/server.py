"""The server of the other programs here, which have the arguments FOLDER SECONDS SEED: its sessions,
which it can lose, and its restarts. FOLDER contains its data folder and log.
"""

import collections
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

    def __init__(self, settings=''):
        self.psql = subprocess.Popen(
            ['psql', '-X', '-q', '-A', '-t', '-F', ' ', 'postgres'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env=dict(os.environ, PGOPTIONS=settings))
        self.run('SELECT 1')

    def close(self):
        self.psql.kill()
        self.psql.communicate()

    def run(self, sql):
        """The rows, as lists of words."""
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
                # there is no SQLSTATE if the connection is lost, unless an administrator ends it
                if not values or values[0].startswith('57P'):
                    break
                if values[0] == '00000':
                    return rows
                errors[values[0]] += 1
                raise Refused(values[0])
        raise Lost


def connect(settings=''):
    """A session, once the server has recovered."""
    while True:
        try:
            return Session(settings)
        except Lost:
            time.sleep(0.05)


def pg_ctl(*arguments):
    """Whether it succeeded."""
    command = ['pg_ctl', '-D', f'{folder}/data', '-w', '-s', '-l', f'{folder}/server.log', *arguments]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


def print_counts():
    for what, times in sorted(counts.items()) + [(f'error {state}', times) for state, times in sorted(errors.items())]:
        print(f'{times:6} {what}')
