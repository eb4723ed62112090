#!/usr/bin/env python3
"""cut_wires.py [--new-command-id] COMMAND: cut the connections of a program at each message, while it creates orders.

The program answers the commands of programs.txt. For each new command id it is asked to create_once(), again with the
same id until an answer is not a lost connection (with --new-command-id, each time with another one). A proxy between it
and the server (PGHOST, PGPORT) closes the connections that are left from the command before, and counts the messages
of each side from the startup message on; the rows of one answer count as one. For the first command it cuts the
connection before the first message, for the next one before the second, and so on to the last; then the same after
each message. Then it cuts three connections in a row, each before a request, which is a message of the program after one
of the server: the last one after whose loss the program connects again; then each; and for each of these, each.

Prints a line "command id, id of the order" for each command, and a last one: the numbers of cuts, of lost answers to
COMMIT, and of three cuts in a row."""

import asyncio
import contextlib
import itertools
import os
import re
import signal
import sys
import uuid

HANGS = int(os.environ.get("PG_TEST_TIMEOUT_DEFAULT", 180))  # seconds without an answer


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
    cuts = 0

    async def start(self, command, has_new_ids):
        self.proxy, self.has_new_ids = Proxy(), has_new_ids
        listener = await asyncio.start_server(self.proxy.connect, "127.0.0.1", 0)
        port = str(listener.sockets[0].getsockname()[1])
        url = re.sub(r":\d+/", f":{port}/", os.environ["DATABASE_URL"])
        await self.proxy.plan()
        self.process = await asyncio.create_subprocess_exec(
            "sh", "-c", command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PGHOST": "127.0.0.1", "PGPORT": port, "DATABASE_URL": url}, start_new_session=True)

    async def ask(self, *words):
        self.process.stdin.write(("\t".join(words) + "\n").encode())
        while True:
            line = await asyncio.wait_for(self.process.stdout.readline(), HANGS)
            if not line:
                sys.exit("the program ended")
            if re.match(rb"(ok|error)\b", line):
                return line.decode().rstrip("\n").split("\t")

    async def create_order(self, *cuts):
        """Whether all of these cuts were made."""
        await self.proxy.plan(*cuts)
        note = command = str(uuid.uuid4())
        while True:
            outcome, word, *_ = await self.ask("create_once", command, note)
            if outcome == "ok":
                break
            if not re.match("(08|40|57P|$)", word):
                sys.exit(f"{cuts}: {word} {_}")
            if self.has_new_ids:
                command = str(uuid.uuid4())
            await asyncio.sleep(0.02)
        print(note, word)
        self.cuts += len(self.proxy.reached)
        return len(self.proxy.reached) == len(cuts)

    async def last_request_of_connection(self):
        """The cut before the last request after whose loss the program connects again, as it does after an error"""
        connections = []
        for number in itertools.count():
            is_cut = await self.create_order(("request", "before", number))
            connections.append(len(self.proxy.connections))
            if not is_cut:
                return [("request", "before", max(n for n in range(number) if connections[n] > connections[-1]))]


async def main(*arguments):
    *options, command = arguments
    program = Program()
    lost_completions = in_a_row = 0
    await program.start(command, options == ["--new-command-id"])
    try:
        for side, when in itertools.product(["client", "server"], ["before", "after"]):
            for number in itertools.count():
                if not await program.create_order((side, when, number)):
                    break
                lost_completions += (side, when, program.proxy.reached[0][:1]) == ("server", "before", b"C")
        last = await program.last_request_of_connection()
        for second in itertools.count():
            for third in itertools.count():
                if not await program.create_order(*last, ("request", "before", second), ("request", "before", third)):
                    break
                in_a_row += 1
            if len(program.proxy.reached) < 2:
                break
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.process.pid, signal.SIGTERM)
        await program.proxy.plan()
    print(program.cuts, lost_completions, in_a_row)


asyncio.run(main(*sys.argv[1:]))
