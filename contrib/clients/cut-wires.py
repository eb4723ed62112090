#!/usr/bin/env python3
"""Cut the connections of the programs of contrib/clients/ at each message, while they create orders.

    cut-wires.py [NAME ...]        default: all of contrib/clients/programs.txt that create orders

A program reads command ids. For each, it creates an order once, retries until it is answered, and
prints the order's id. A proxy between it and the server closes the connections that are left from the
command before, and counts the messages of each side from the startup message on; the rows of one
answer count as one. For the first command it cuts the connection before the first message, for the
next one before the second, and so on to the last; then the same after each message. Then it cuts three
connections in a row, each before a request, which is a message of the program after one of the server:
the first one before the last request after whose loss the program connects again, as it does after
an error, the second one before each request, and for each of these, the third one before each request.

In the end, each command must have one order in the table, which the answer names. Three programs, which
do not retry, retry with a new command id, or have no transaction, must be caught. test-clients.sh runs this script after the other
tasks, which make the schemas of some programs."""

import asyncio
import contextlib
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import uuid

CLIENTS = pathlib.Path(__file__).parent
HANGS = 300  # seconds without an answer; the first one includes the start of the program

BY_PSQL = r"""
create_order() {    # COMMAND NOTE
    psql -XqAt -v ON_ERROR_STOP=1 -v command="$1" -v note="$2" <<'SQL'
        %(begin)s
        SELECT entity_id AS id, created
        FROM idgen.create_once(:'command', idgen.keyed_comb(area => 'orders'), 'create order', jsonb_build_object('note', :'note')) \gset
        \if :created
            INSERT INTO orders (id, note) VALUES (:'id', :'note');
        \endif
        %(commit)s
        \echo :id
SQL
}
while read -r note; do %(retry)s; echo "$id"; done"""


def by_psql(retry='until id=$(create_order "$note" "$note"); do sleep 0.1; done', begin="BEGIN;", commit="COMMIT;"):
    return "sh", "-c", BY_PSQL % locals()


NEW_COMMAND_ID = 'until id=$(create_order "$(cat /proc/sys/kernel/random/uuid)" "$note"); do sleep 0.1; done'

# A session whose connection was cut may still work.
ORDERS = r"""
SET statement_timeout = '300s';
DO $$ BEGIN
    WHILE EXISTS (SELECT FROM pg_stat_activity WHERE usename = current_user AND pid <> pg_backend_pid()) LOOP
        PERFORM pg_sleep(0.1), pg_stat_clear_snapshot();
    END LOOP;
END $$;
SELECT format('SELECT note, id FROM %s', oid::regclass) FROM pg_class WHERE relname = 'orders' AND relkind = 'r' \gexec
"""


async def message(reader, kind):
    length = await reader.readexactly(4)
    return kind + length + await reader.readexactly(int.from_bytes(length, "big") - 4)


async def messages_of_client(reader):
    version = 0
    while version != 3:  # requests of encryption and the startup message have no type
        startup = await message(reader, b"")
        version = int.from_bytes(startup[4:6], "big")
        yield startup
    while True:
        yield await message(reader, await reader.readexactly(1))


async def messages_of_server(reader):
    while (kind := await reader.readexactly(1)) == b"N":  # no encryption
        yield kind
    while True:
        yield await message(reader, kind)
        kind = await reader.readexactly(1)


class Proxy:
    """Forwards messages, and cuts connections in a row, each before or after one of its messages."""

    connections = ()

    async def plan(self, *cuts):
        """Each cut is (side, when, number), where a side is client, server, or request."""
        for connection in self.connections:
            connection.cancel()
        await asyncio.gather(*self.connections)
        self.connections = []
        self.cuts, self.reached = list(cuts), []
        self.begin()

    def begin(self):
        self.side, self.when, self.number = self.cuts.pop(0) if self.cuts else (None, None, None)
        self.seen = {"client": 0, "server": 0, "request": 0}
        self.last = None

    async def connect(self, reader, writer):
        self.connections.append(asyncio.current_task())
        with contextlib.suppress(asyncio.CancelledError), contextlib.closing(writer):
            server = await asyncio.open_connection(os.environ["PGHOST"], os.environ["PGPORT"])
            pumps = [
                asyncio.create_task(self.forward("client", messages_of_client(reader), server[1])),
                asyncio.create_task(self.forward("server", messages_of_server(server[0]), writer)),
            ]
            with contextlib.closing(server[1]):
                try:
                    await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for pump in pumps:
                        pump.cancel()

    async def forward(self, side, messages, writer):
        previous = b""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            async for text in messages:
                counted = [] if previous[:1] == text[:1] == b"D" else [side]
                if side == "client" != self.last:
                    counted.append("request")
                here = self.side in counted and self.seen[self.side] == self.number
                when = self.when
                for each in counted:
                    self.seen[each] += 1
                previous, self.last = text, side
                if here:
                    self.reached.append(text)
                    self.begin()
                if not here or when == "after":
                    writer.write(text)
                    await writer.drain()
                if here:
                    return


class Program:
    cuts = lost_completions = in_a_row = 0
    failure = None

    def __init__(self, name, *command, caught=None):
        self.name, self.command, self.caught = name, command, caught
        self.answers = {}
        self.errors = tempfile.TemporaryFile("w+", errors="replace")

    async def run(self):
        proxy = Proxy()
        listener = await asyncio.start_server(proxy.connect, "127.0.0.1", 0)
        port = str(listener.sockets[0].getsockname()[1])
        process = await asyncio.create_subprocess_exec(
            *self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
            env={**os.environ, "PGHOST": "127.0.0.1", "PGPORT": port}, start_new_session=True)
        try:
            for side, when in itertools.product(["client", "server"], ["before", "after"]):
                for number in itertools.count():
                    plan = [(side, when, number)]
                    if not await self.create_order(process, proxy, plan):
                        break
                    self.lost_completions += (side, when, proxy.reached[0][:1]) == ("server", "before", b"C")
            tried = []
            for number in itertools.count():
                plan = [("request", "before", number)]
                if not await self.create_order(process, proxy, plan):
                    break
                tried.append((len(proxy.connections), plan))
            last = max((plan for connections, plan in tried if connections > len(proxy.connections)), default=[])
            for second in itertools.count():
                for third in itertools.count():
                    plan = [*last, ("request", "before", second), ("request", "before", third)]
                    if await self.create_order(process, proxy, plan) < 3:
                        break
                    self.in_a_row += 1
                if len(proxy.reached) < 2:
                    break
            process.stdin.close()
            await asyncio.wait_for(process.wait(), HANGS)
        except (asyncio.TimeoutError, EOFError, ConnectionError) as error:
            self.failure = f"{error!r} {plan}: {proxy.reached}"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            await proxy.plan()
            listener.close()

    async def create_order(self, process, proxy, plan):
        """The number of connections that were cut."""
        await proxy.plan(*plan)
        command = str(uuid.uuid4())
        self.answers[command] = None
        process.stdin.write(f"{command}\n".encode())
        answer = await asyncio.wait_for(process.stdout.readline(), HANGS)
        if not answer:
            raise EOFError("the program ended")
        self.answers[command] = answer.decode().strip()
        self.cuts += len(proxy.reached)
        return len(proxy.reached)

    def verdict(self, orders):
        """A duplicate is a command with several orders; a loss is one whose answer names none of its orders."""
        found = [(answer, orders.get(command, [])) for command, answer in self.answers.items()]
        faults = {"duplicates": sum(len(ids) > 1 for _, ids in found),
                  "losses": sum(answer not in ids for answer, ids in found)}
        expected = all((number > 0) == (fault == self.caught) for fault, number in faults.items())
        ok = expected and not self.failure and self.lost_completions > 0 and (self.in_a_row > 0 or self.caught is not None)
        print("ok" if ok else "not ok", f"{'is caught: ' if self.caught else ''}{self.name}: {self.cuts} cuts, {self.in_a_row} times three in a row,",
              ", ".join(f"{number} {fault}" for fault, number in faults.items()))
        if self.failure:
            self.errors.seek(0)
            print("", self.failure, *self.errors.read().splitlines()[-20:], sep="\n    ")
        return ok


async def main(wanted):
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    names = re.findall(r"^([a-z]\S*) *\| *(?:all|diff) ", (CLIENTS / "programs.txt").read_text(), re.M)
    names = [name for name in names if not wanted or name in wanted]
    programs = [*(Program(name, CLIENTS / "run.sh", "--orders", name) for name in names), Program("psql", *by_psql()),
                Program("no retry", *by_psql('id=$(create_order "$note" "$note")'), caught="losses"),
                Program("new command id", *by_psql(NEW_COMMAND_ID), caught="duplicates"),
                Program("no transaction", *by_psql(begin="", commit=""), caught="losses")]
    await asyncio.gather(*(program.run() for program in programs))

    orders = {}
    rows = subprocess.run(["psql", "-XqAt", "-F", " "], input=ORDERS, text=True, check=True, stdout=subprocess.PIPE).stdout
    for note, id in (row.rsplit(" ", 1) for row in rows.splitlines()):
        orders.setdefault(note, []).append(id)
    passed = sum([program.verdict(orders) for program in programs])
    print(f"\n{sum(program.cuts for program in programs)} cuts in {len(programs)} programs")
    print(f"{passed} passed, {len(programs) - passed} failed")
    sys.exit(passed < len(programs))


asyncio.run(main(sys.argv[1:]))
