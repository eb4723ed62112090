"""create_once.py FOLDER SECONDS SEED [sabotage]: see scripts/dev/histories.sh.

FOLDER contains the data folder and the server's log; PGHOST and so on name the
server. Exits with status 3 if no order explains the answers about a command, with
4 if an acknowledged entity is missing, an entity appeared that no answer allows,
or an error was raised that create_once() does not document.

The model. A command is recorded, with an entity, or not. Each answer is an
operation on that state: a condition that the state met at one moment between the
request and the answer, and perhaps a new state. PostgreSQL's transactions define
the moments:

- An answer that changes nothing, and does not depend on a change made before in
  the same transaction, holds at a moment of its statement under READ COMMITTED,
  and at a moment of the transaction's first statement, which takes the snapshot,
  under REPEATABLE READ and SERIALIZABLE.
- The first change that a transaction makes to a command meets its condition when
  it is made, and, since the row is locked, also at commit. All changes to a command
  take effect together at a moment of COMMIT or COMMIT PREPARED.
- Answers after the first change must follow from the transaction's own changes.
- If the connection is lost, the effect is unknown: it happens or not, at the latest
  when the server process has ended; for a prepared transaction, at any time.

A command's operations are explained if they can be put into an order that respects
real time, in which each meets its condition (Wing and Gong, 1993; with the memory
of visited states by Lowe, 2017).
"""

import collections
import itertools
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import uuid

FOREVER = float('inf')
PATIENCE = float(os.environ.get('PG_TEST_TIMEOUT_DEFAULT', 180))    # seconds
TABLE = 'idgen.creation_identifiers'
READ_COMMITTED = 'READ COMMITTED'

# What a client gets without having done anything wrong: serialization failure,
# deadlock, lock timeout, cancel. Termination ends the connection.
EXPECTED_ERRORS = {'40001', '40P01', '55P03', '57014'}
OTHER_COMMAND, READ_ONLY = '23514', '25006'

# --- the checker --------------------------------------------------------------

# A state is None, or (entity, kind, name, request) of a recorded command.
Operation = collections.namedtuple('Operation', 'begin end condition change optional', defaults=[False])
NO_CHANGE = 'no change'


def meets(state, condition):
    what, value = condition
    if what == 'absent':
        return state is None
    if what == 'recorded':
        return state is not None
    if what == 'entity':        # recorded with this entity
        return state is not None and state[0] == value
    if what == 'not entity':
        return state is None or state[0] != value
    if what == 'is':
        return state == value
    assert what == 'differs'    # recorded as another command
    return state is not None and state[1:] != value[1:]


def explained(operations):
    """Whether some order of the operations on one command explains them."""
    visited = set()
    pending = [(frozenset(range(len(operations))), None)]
    while pending:
        left, state = pending.pop()
        while True:
            limit = min((operations[i].end for i in left if not operations[i].optional), default=None)
            if limit is None:
                return True
            limit = min(operations[i].end for i in left)
            next_ones = [i for i in left if operations[i].begin <= limit]
            # an answer that agrees with the state can always come first
            agreeing = [i for i in next_ones if operations[i].change == NO_CHANGE and meets(state, operations[i].condition)]
            if not agreeing:
                break
            left = left.difference(agreeing)
        if (left, state) in visited:
            continue
        visited.add((left, state))
        for i in next_ones:
            operation = operations[i]
            if operation.change != NO_CHANGE and meets(state, operation.condition):
                pending.append((left - {i}, operation.change))
            if operation.optional and operation.end == limit:
                pending.append((left - {i}, state))
    return False


def check_the_checker():
    one, two = ('one', 'uuid', '', ''), ('two', 'uuid', '', '')

    def create(begin, end, state, optional=False):
        return Operation(begin, end, ('absent', None), state, optional)

    def replay(begin, end, state):
        return Operation(begin, end, ('is', state), NO_CHANGE)

    def forget(begin, end, optional=False):
        return Operation(begin, end, ('recorded', None), None, optional)

    for operations in [
            [create(1, 2, one), replay(3, 4, one)],
            [replay(1, 4, one), create(2, 3, one)],                         # at the same time
            [create(1, 2, one, True), create(3, 4, two)],                   # unknown: it did not happen
            [create(1, FOREVER, one, True), replay(3, 4, one)],             # it happened
            [create(1, 2, one), forget(3, 4), create(5, 6, two)],
            [create(1, 2, one), forget(3, FOREVER, True), create(5, 6, two), replay(7, 8, two)]]:
        assert explained(operations), operations
    for operations in [
            [create(1, 2, one), create(3, 4, two)],
            [create(1, 4, one), create(2, 3, two)],
            [create(1, 2, one), replay(3, 4, two)],
            [replay(1, 2, one), create(3, 4, one)],                         # before it was created
            [create(1, 2, one), forget(3, 4), replay(5, 6, one)],
            [create(1, 2, one, True), create(3, 4, two), replay(5, 6, one)],
            [create(1, 2, one), forget(5, FOREVER, True), create(3, 4, two)]]:
        assert not explained(operations), operations


# --- the server -----------------------------------------------------------------

class Lost(Exception):
    """The connection ended."""


class Refused(Exception):
    """The server raised an error."""

    def __init__(self, fields):
        super().__init__(fields[b'M'])
        self.state = fields[b'C']


class Session:
    """A connection with the simple query protocol."""

    names = itertools.count()

    def __init__(self, settings=''):
        self.name = f'histories {next(self.names)}'
        self.process = None
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        try:
            self.socket.connect(f'{os.environ["PGHOST"]}/.s.PGSQL.{os.environ["PGPORT"]}')
            self.stream = self.socket.makefile('rb')
            parameters = ['user', os.environ['PGUSER'], 'database', os.environ['PGDATABASE'],
                          'application_name', self.name, 'options', settings]
            self.send(b'', struct.pack('!i', 196608) + b''.join(p.encode() + b'\0' for p in parameters) + b'\0')
            self.answer()
        except (Lost, Refused, OSError) as error:
            self.socket.close()
            raise Lost from error

    def send(self, kind, body):
        try:
            self.socket.sendall(kind + struct.pack('!i', len(body) + 4) + body)
        except TimeoutError:
            raise
        except OSError as error:
            raise Lost from error

    def read(self, count):
        try:
            data = self.stream.read(count)
        except TimeoutError:
            raise               # the server hangs
        except OSError as error:
            raise Lost from error
        if len(data) < count:
            raise Lost
        return data

    def answer(self):
        """The rows, when the server is ready for the next query."""
        rows, error = [], None
        while True:
            kind = self.read(1)
            body = self.read(struct.unpack('!i', self.read(4))[0] - 4)
            if kind == b'K':
                self.process = struct.unpack('!i', body[:4])[0]
            elif kind == b'E':
                error = Refused({part[:1]: part[1:].decode() for part in body.split(b'\0') if part})
            elif kind == b'D':
                rows.append(columns(body))
            elif kind == b'Z':
                if error:
                    raise error
                return rows

    def ask(self, sql):
        self.send(b'Q', sql.encode() + b'\0')

    def run(self, sql):
        self.ask(sql)
        return self.answer()

    def close(self):
        self.stream.close()     # or the socket stays open
        self.socket.close()


def columns(body):
    count, at, row = struct.unpack('!h', body[:2])[0], 2, []
    for _ in range(count):
        length = struct.unpack('!i', body[at:at + 4])[0]
        at += 4
        row.append(None if length < 0 else body[at:at + length].decode())
        at += max(length, 0)
    return row


def connect(settings=''):
    """A connection, also if the server has yet to recover."""
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            return Session(settings)
        except Lost:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.05)


def connect_after(lost, settings=''):
    """A connection, once the process of a lost one has ended."""
    while True:
        session = connect(settings)
        try:
            while session.run(f"SELECT FROM pg_stat_activity WHERE application_name = '{lost.name}'"):
                time.sleep(0.01)
            return session
        except Lost:
            pass


# --- the histories ----------------------------------------------------------------

class Histories:
    """The operations on each command, and the commands in use."""

    def __init__(self, seed, size=6, uses=25):
        self.lock = threading.Lock()
        self.random = random.Random(f'{seed} commands')
        self.uses = uses
        self.operations = collections.defaultdict(list)
        self.removals = []                  # which can concern any command
        self.impossible = []                # answers against the transaction's own changes
        self.acknowledged, self.possible = set(), set()     # entities
        self.entities = itertools.count(1)
        self.known = {}                     # an entity of the command
        self.counts = collections.Counter()
        self.window = collections.deque([self.new_command(), self.uses] for _ in range(size))

    def new_command(self):
        return str(uuid.UUID(int=self.random.getrandbits(128)))

    def choose(self, rng):
        """A command in use; each is used some times, and then replaced."""
        with self.lock:
            entry = self.window[rng.randrange(len(self.window))]
            entry[1] -= 1
            if entry[1] < 0:
                entry[:] = self.new_command(), self.uses
            return entry[0]

    def add(self, command, operation):
        with self.lock:
            self.operations[command].append(operation)

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def unexplained(self):
        """The commands whose answers no order explains, with their operations."""
        for command, operations in self.operations.items():
            begin = min(o.begin for o in operations)
            end = max((o.begin for o in operations if not o.optional), default=begin)
            operations += [o for o in self.removals if o.end >= begin and o.begin <= end]
            if not explained(operations):
                yield command, operations


def now():
    return time.monotonic_ns()


class Statement:
    """A call about one command, and what its answers mean."""

    def __init__(self, histories, rng, command=None, read_only=False):
        self.histories = histories
        self.command = command or histories.choose(rng)
        self.creates = None
        kind = 'uuid' if int(self.command[0], 16) % 2 else 'bigint'
        name, request = 'order', '{"total": 1}'
        entity = next(histories.entities)
        what = 'create' if command else rng.choices(['create', 'forget', 'forget entity', 'find'], [75, 9, 8, 8])[0]
        if what == 'create':
            if command is None and rng.random() < 0.1:      # another command with the same id
                kind, name, request = rng.choice([({'uuid': 'bigint', 'bigint': 'uuid'}[kind], name, request),
                                                  (kind, 'invoice', request), (kind, name, '{"total": 2}'), (kind, name, None)])
            entity = str(uuid.UUID(int=entity)) if kind == 'uuid' else str(entity)
            self.creates = (entity, kind, name, request)
            function, column = ('create_once', 'entity_id') if kind == 'uuid' else ('create_once_bigint', 'entity_number')
            request = f"'{request}'" if request else 'NULL'
            self.sql = f"SELECT {column}, created FROM idgen.{function}('{self.command}', '{entity}', '{name}', {request})"
            if not read_only:
                self.sql = (f"WITH c AS ({self.sql}), e AS (INSERT INTO entities SELECT {column}::text FROM c WHERE created)"
                            f" SELECT {column}, created FROM c")
            self.effect = ('absent', None), self.creates
        elif what == 'forget':
            self.sql = f"SELECT idgen.forget_creation('{self.command}')::int"
            self.effect = ('recorded', None), None
        elif what == 'forget entity':
            self.entity = histories.known.get(self.command, str(entity))
            is_uuid = '-' in self.entity
            self.sql = f"SELECT idgen.forget_creation_of{'' if is_uuid else '_bigint'}('{self.entity}')"
            self.effect = ('entity', self.entity), None
        else:
            self.sql = f"SELECT coalesce(entity_id::text, entity_number::text) FROM idgen.find_creation('{self.command}')"
            self.effect = None
        self.what = what

    def meaning(self, rows):
        """The condition and change that an answer reports."""
        if self.what == 'create':
            entity, created = rows[0]
            self.histories.known[self.command] = entity
            self.histories.count('created' if created == 't' else 'replayed')
            return self.effect if created == 't' else (('is', (entity, *self.creates[1:])), NO_CHANGE)
        self.histories.count(self.what)
        if self.what == 'find':
            return (('entity', rows[0][0]) if rows else ('absent', None)), NO_CHANGE
        if rows[0][0] == '1':
            return self.effect
        return (('not entity', self.entity) if self.what == 'forget entity' else ('absent', None)), NO_CHANGE

    def meaning_of_error(self, state):
        """The same for an error; None if it says nothing about the command."""
        self.histories.count(f'error {state}')
        if state == OTHER_COMMAND and self.what == 'create':
            return ('differs', self.creates), NO_CHANGE
        if state == READ_ONLY:
            return (('absent', None), NO_CHANGE) if self.what == 'create' else None
        if state not in EXPECTED_ERRORS:
            self.histories.count(f'unexpected error {state}: {self.sql}')
        return None


class Transaction:
    """What a transaction has answered and changed so far."""

    def __init__(self, histories, isolation=READ_COMMITTED):
        self.histories = histories
        self.isolation = isolation
        self.snapshot = None
        self.changes = {}       # command: the condition of the first change, and its state
        self.created = []       # entities

    def answer(self, command, begin, meaning):
        end = now()
        self.snapshot = self.snapshot or (begin, end)
        if meaning is None:
            return
        condition, change = meaning
        if command in self.changes:
            first, state = self.changes[command]
            if not meets(state, condition):
                self.histories.impossible.append((command, state, condition))
            if change != NO_CHANGE:
                self.changes[command] = first, change
        else:
            if self.isolation != READ_COMMITTED and change == NO_CHANGE:
                begin, end = self.snapshot
            self.histories.add(command, Operation(begin, end, condition, NO_CHANGE))
            if change != NO_CHANGE:
                self.changes[command] = condition, change
        if change not in (NO_CHANGE, None):
            self.created.append(change[0])

    def state(self):
        return dict(self.changes), list(self.created)

    def go_back(self, state):
        self.changes, self.created = dict(state[0]), list(state[1])

    def end(self, begin, end, certain=True):
        """It committed, certainly or perhaps."""
        for command, (condition, change) in self.changes.items():
            self.histories.add(command, Operation(begin, end, condition, change, not certain))
        with self.histories.lock:
            (self.histories.acknowledged if certain else self.histories.possible).update(self.created)
        self.histories.count('committed' if certain else 'unknown')


class Client:
    """A session that sends commands."""

    everyone = []
    abandoned = set()           # prepared transactions whose client has gone

    def __init__(self, histories, seed, number):
        self.histories = histories
        self.random = random.Random(f'{seed} client {number}')
        self.number = number
        self.prepared = 0
        self.error = None
        self.session = connect()
        self.everyone.append(self)

    def reconnect(self):
        lost = self.session
        lost.close()
        settings = self.random.choice(['', '-c lock_timeout=30ms', '-c lock_timeout=5ms', '-c enable_seqscan=off'])
        self.session = connect_after(lost, settings)

    def work(self, over):
        try:
            while not over.is_set():
                action = self.random.choices([self.single, self.several, self.remove, self.tidy], [40, 45, 4, 8])[0]
                try:
                    action()
                except Lost:
                    self.histories.count('lost')
                    self.reconnect()
        except Exception as error:      # any: reported at the end
            self.error = error
            raise

    def tidy(self):
        """What a pool or an application does between transactions."""
        what = self.random.choice(['DISCARD ALL', 'DISCARD ALL', 'DISCARD PLANS', 'SET lock_timeout = 20', 'RESET ALL', None])
        if what:
            self.session.run(what)
        else:
            raise Lost

    def single(self):
        """A statement that is a transaction, which the client may leave."""
        transaction = Transaction(self.histories)
        statement = Statement(self.histories, self.random)
        begin = now()
        try:
            self.session.ask(statement.sql)
            if self.random.random() < 0.01:
                raise Lost
            transaction.answer(statement.command, begin, statement.meaning(self.session.answer()))
            transaction.end(begin, now())
        except Refused as error:
            transaction.answer(statement.command, begin, statement.meaning_of_error(error.state))
        except Lost:
            if statement.effect:
                transaction.changes = {statement.command: statement.effect}
                transaction.created = [statement.creates[0]] if statement.creates else []
            self.reconnect()
            transaction.end(begin, now(), certain=False)

    def several(self):
        rng = self.random
        isolation = rng.choice([READ_COMMITTED, 'REPEATABLE READ', 'SERIALIZABLE'])
        transaction = Transaction(self.histories, isolation)
        read_only = rng.random() < 0.05
        self.session.run(f"BEGIN ISOLATION LEVEL {isolation}{' READ ONLY' if read_only else ''}")
        saved = None
        for _ in range(rng.choice([1, 2, 2, 3, 4])):
            if rng.random() < 0.3:
                self.session.run('SAVEPOINT s')
                saved = transaction.state()
            statement = Statement(self.histories, rng, read_only=read_only)
            # its snapshot contains a row that another session has deleted since and this one recorded again
            if statement.what == 'find' and isolation == 'SERIALIZABLE' and transaction.changes:
                continue
            begin = now()
            try:
                rows = self.session.run(statement.sql)
                transaction.answer(statement.command, begin, statement.meaning(rows))
                go_back = rng.random() < 0.25
            except Refused as error:
                transaction.answer(statement.command, begin, statement.meaning_of_error(error.state))
                if saved is None:
                    self.session.run('ROLLBACK')
                    return
                go_back = True
            if saved is not None and go_back:
                self.session.run('ROLLBACK TO s')
                transaction.go_back(saved)
        if rng.random() < 0.2:
            self.session.run('ROLLBACK')
        elif rng.random() < 0.25:
            self.commit_prepared(transaction)
        else:
            self.commit(transaction)

    def commit(self, transaction):
        """COMMIT; returns false if it failed."""
        begin = now()
        try:
            self.session.run('COMMIT')
            transaction.end(begin, now())
        except Refused as error:
            if error.state not in EXPECTED_ERRORS:
                self.histories.count(f'unexpected error {error.state}: COMMIT')
            return False
        except Lost:
            self.reconnect()
            transaction.end(begin, now(), certain=False)
        return True

    def commit_prepared(self, transaction):
        self.prepared += 1
        name = f'{self.number} {self.prepared}'
        how = self.random.choice(['COMMIT', 'COMMIT', 'ROLLBACK'])
        prepared = False
        begin = now()
        try:
            self.session.run(f"PREPARE TRANSACTION '{name}'")
            prepared = True
            begin_2 = now()
            if self.random.random() < 0.1:
                raise Lost
            self.session.run(f"{how} PREPARED '{name}'")
            if how == 'COMMIT':
                transaction.end(begin_2, now())
            self.histories.count(f'{how} PREPARED')
        except Refused as error:
            if error.state not in EXPECTED_ERRORS:
                self.histories.count(f'unexpected error {error.state}: PREPARE')
            if prepared:
                transaction.end(begin, FOREVER, certain=False)
                self.abandoned.add(name)
        except Lost:
            transaction.end(begin, FOREVER, certain=False)
            self.abandoned.add(name)
            self.reconnect()

    def remove(self):
        """Purge or trim, and compare the rows before and after."""
        rng = self.random
        isolation = rng.choice([READ_COMMITTED, 'REPEATABLE READ', 'REPEATABLE READ', 'SERIALIZABLE'])
        call = rng.choice([f"purge_creations('{rng.randrange(3000)} ms', {rng.choice([1, 3, 1000])})",
                           f'trim_creations({rng.choice([0, 3, 6, 10])})'])
        rows = f'SELECT command_id, coalesce(entity_id::text, entity_number::text) FROM {TABLE}'
        transaction = Transaction(self.histories, isolation)
        begin = now()
        try:
            self.session.run(f'BEGIN ISOLATION LEVEL {isolation}')
            before = {tuple(row) for row in self.session.run(rows)}
            count = int(self.session.run(f'SELECT idgen.{call}')[0][0])
            removed = before - {tuple(row) for row in self.session.run(rows)}
        except Refused as error:
            if error.state not in EXPECTED_ERRORS:
                self.histories.count(f'unexpected error {error.state}: {call}')
            self.session.run('ROLLBACK')
            return
        self.histories.count(call.split('(')[0])
        if isolation == READ_COMMITTED:
            # other sessions remove and record rows meanwhile, so that which ones it removed is not known
            if self.commit(transaction) and count > 0:
                self.histories.removals.append(Operation(begin, now(), ('recorded', None), None, True))
            return
        if len(removed) != count:
            self.histories.impossible.append((call, count, removed))
        transaction.changes = {command: (('entity', entity), None) for command, entity in removed}
        self.commit(transaction)


# --- the faults -----------------------------------------------------------------

FAULTS = {
    'REINDEX': f'REINDEX TABLE CONCURRENTLY {TABLE}',
    'REINDEX INDEX': 'REINDEX INDEX CONCURRENTLY idgen.creation_identifiers_pkey',
    'VACUUM FULL': f'VACUUM FULL {TABLE}',
    'CLUSTER': f'CLUSTER {TABLE} USING creation_identifiers_pkey',
    'VACUUM': f'VACUUM {TABLE}',
    'ADD COLUMN': f'ALTER TABLE {TABLE} ADD COLUMN IF NOT EXISTS note text',
    'DROP COLUMN': f'ALTER TABLE {TABLE} DROP COLUMN IF EXISTS note',
    'FILLFACTOR': f'ALTER TABLE {TABLE} SET (fillfactor = 70)',
    'CHECKPOINT': 'CHECKPOINT',
    'delete': f'DELETE FROM {TABLE} WHERE command_id = (SELECT command_id FROM {TABLE} ORDER BY random() LIMIT 1)'}
# what a REINDEX CONCURRENTLY left that did not finish
INVALID_INDEXES = f"SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid AND indrelid = '{TABLE}'::regclass"


class Faults:
    """A session that disturbs the clients, and one that ends their prepared transactions."""

    def __init__(self, histories, seed, folder, sabotage):
        self.histories = histories
        self.random = random.Random(f'{seed} faults')
        self.folder = folder
        self.session = connect()
        self.cycle = ['cancel', 'terminate', 'cancel', 'cancel', *FAULTS, 'REINDEX INDEX', 'terminate', 'kill a backend', 'kill the server']
        if sabotage:
            self.cycle = ['delete', 'cancel', 'delete', 'terminate']
        else:
            self.cycle.remove('delete')

    def kill_server(self):
        with open(f'{self.folder}/data/postmaster.pid', encoding='ascii') as file:
            os.kill(int(file.readline()), signal.SIGKILL)
        give_up = time.monotonic() + PATIENCE
        # fails while a process of the old server runs
        while subprocess.run(['pg_ctl', '-D', f'{self.folder}/data', '-w', '-s', '-l', f'{self.folder}/server.log', 'start'],
                             stderr=subprocess.DEVNULL, check=False).returncode != 0:
            assert time.monotonic() < give_up, 'the server does not start'
            time.sleep(0.1)

    def do(self, what):
        process = self.random.choice(Client.everyone).session.process
        if what == 'cancel':
            self.session.run(f'SELECT pg_cancel_backend({process})')
        elif what == 'terminate':
            self.session.run(f'SELECT pg_terminate_backend({process})')
        elif what == 'kill a backend':
            # a process of another server can have the number by now
            if self.session.run(f'SELECT FROM pg_stat_activity WHERE pid = {process}'):
                os.kill(process, signal.SIGKILL)
        elif what == 'kill the server':
            self.kill_server()
        else:
            for (index,) in self.session.run(INVALID_INDEXES):
                self.session.run(f'DROP INDEX {index}')
            self.session.run(FAULTS[what])
        self.histories.count(f'fault: {what}')

    def run_cycle(self):
        """Each kind of fault, in random order."""
        for what in self.random.sample(self.cycle, len(self.cycle)):
            time.sleep(self.random.choice([0, 0.05, 0.2]))
            try:
                self.do(what)
            except Refused as error:
                self.histories.count(f'fault: {what}: error {error.state}')
            except (Lost, ProcessLookupError):
                self.session = connect()

    def end_prepared(self, over):
        """End the transactions that clients left."""
        rng = random.Random(f'{self.random.random()}')
        session = connect()
        while not over.wait(0.1) or Client.abandoned:
            for name in list(Client.abandoned):
                try:
                    session.run(f"{rng.choice(['COMMIT', 'ROLLBACK'])} PREPARED '{name}'")
                    Client.abandoned.discard(name)
                except Refused:
                    # it was not prepared, has ended, or its client's process is still busy with it
                    if over.is_set():
                        Client.abandoned.discard(name)
                except Lost:
                    session = connect()


def last_calls(histories, rng, sabotage):
    """Send each command in use twice, without disturbances; the entities that exist."""
    session = connect()
    for name, in session.run('SELECT gid FROM pg_prepared_xacts'):
        session.run(f"ROLLBACK PREPARED '{name}'")
    for (index,) in session.run(INVALID_INDEXES):
        session.run(f'DROP INDEX {index}')
    for command, _ in histories.window:
        for _ in range(2):
            transaction = Transaction(histories)
            statement = Statement(histories, rng, command)
            begin = now()
            try:
                transaction.answer(command, begin, statement.meaning(session.run(statement.sql)))
                transaction.end(begin, now())
            except Refused as error:
                transaction.answer(command, begin, statement.meaning_of_error(error.state))
            if sabotage:
                session.run(f"DELETE FROM {TABLE} WHERE command_id = '{command}'")
    return {row[0] for row in session.run('SELECT id FROM entities')}


def main():
    folder, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    sabotage = sys.argv[4:] == ['sabotage']

    check_the_checker()
    histories = Histories(seed)
    faults = Faults(histories, seed, folder, sabotage)
    over, clients_over = threading.Event(), threading.Event()
    clients = [Client(histories, seed, number) for number in range(5)]
    threads = [threading.Thread(target=client.work, args=(over,), daemon=True) for client in clients]
    janitor = threading.Thread(target=faults.end_prepared, args=(clients_over,), daemon=True)
    for thread in [*threads, janitor]:
        thread.start()

    # at least one cycle, whatever the speed of the machine
    end = time.monotonic() + seconds
    while True:
        faults.run_cycle()
        if time.monotonic() > end:
            break
    over.set()
    for thread in threads:
        thread.join()
    clients_over.set()
    janitor.join()
    entities = last_calls(histories, random.Random(seed), sabotage)

    unexplained = list(histories.unexplained())
    missing = histories.acknowledged - entities
    surplus = entities - histories.acknowledged - histories.possible
    unexpected = [what for what in histories.counts if what.startswith('unexpected')]

    for what, times in sorted(histories.counts.items()):
        print(f'{times:6} {what}')
    for command, operations in unexplained[:3]:
        print(f'no order explains the answers about command {command}:')
        for operation in sorted(operations):
            begin, done = (f'{t / 1e6:.3f}' for t in operation[:2])
            print(f'    {begin} to {done} ms:', *operation.condition, '->', operation.change, 'perhaps' * operation.optional)
    print(f'{sum(map(len, histories.operations.values()))} operations on {len(histories.operations)} commands,'
          f' {len(unexplained)} commands unexplained')
    print(f'{len(histories.impossible)} answers against the own transaction: {histories.impossible[:3]}')
    print(f'{len(entities)} entities, {len(missing)} missing, {len(surplus)} surplus: {[*missing, *surplus][:5]}')
    if any(client.error for client in clients):
        sys.exit(1)
    if unexplained or histories.impossible:
        sys.exit(3)
    sys.exit(4 if missing or surplus or unexpected else 0)


main()
