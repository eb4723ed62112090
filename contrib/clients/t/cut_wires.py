#!/usr/bin/env python3
"""cut_wires.py COMMAND: cut the connections of a program while it creates orders.

The program answers the commands of programs.txt. For each new command id, it receives the command create_once, and
receives it again until it reports anything other than a lost connection. A proxy between the program and the server
(PGHOST, PGPORT) first closes the remaining connections. It then cuts one connection, before or after it forwards the
first packet of the client or of the server. For the next command, it cuts at the second packet, and so on to the last.
All of this is repeated with three successive connections, each of which is cut at this packet.

The script prints a line "command id, id of the order" for each command. The last line contains the numbers of cuts, of
lost answers to a transaction, and of series of three cuts."""

import asyncio
import contextlib
import itertools
import os
import re
import signal
import sys

sys.path.insert(0, "generators")
from combs import uuid_v7

HANGS = int(os.environ.get("PG_TEST_TIMEOUT_DEFAULT", 180))  # seconds without an answer


class Proxy:
    """Forwards packets, and cuts successive connections, each before or after one of its packets."""

    connections = ()

    async def plan(self, *cuts):
        """Each cut is (side, when, number of the packet)."""
        for connection in self.connections:
            connection.cancel()
        await asyncio.gather(*self.connections, return_exceptions=True)
        self.connections, self.cuts, self.reached = [], list(cuts), []

    async def connect(self, reader, writer):
        self.connections.append(asyncio.current_task())
        server = await asyncio.open_connection(os.environ["PGHOST"], os.environ["PGPORT"])
        with contextlib.closing(writer), contextlib.closing(server[1]):
            pumps = [asyncio.create_task(self.forward("client", reader, server[1])),
                     asyncio.create_task(self.forward("server", server[0], writer))]
            try:
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for pump in pumps:
                    pump.cancel()

    async def forward(self, side, reader, writer):
        for number in itertools.count():
            packet = await reader.read(1 << 16)
            when = next((when for cut, when, n in self.cuts[:1] if (cut, n) == (side, number)), None)
            if when:
                self.reached.append(packet)
                self.cuts.pop(0)
            if not packet or when == "before":
                return
            writer.write(packet)
            await writer.drain()
            if when:
                return


class Program:
    async def start(self, command):
        self.proxy = Proxy()
        listener = await asyncio.start_server(self.proxy.connect, "127.0.0.1", 0)
        port = str(listener.sockets[0].getsockname()[1])
        url = re.sub(r":\d+/", f":{port}/", os.environ["DATABASE_URL"])
        self.process = await asyncio.create_subprocess_exec(
            "sh", "-c", command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PGPORT": port, "DATABASE_URL": url}, start_new_session=True)

    async def ask(self, *words):
        self.process.stdin.write(("\t".join(words) + "\n").encode())
        while True:
            line = await asyncio.wait_for(self.process.stdout.readline(), HANGS)
            if not line:
                sys.exit("the program ended")
            if re.match(rb"(ok|error)\b", line):
                return line.decode().rstrip("\n").split("\t")

    async def create_order(self, cuts):
        """Create an order while connections are cut, and return the packets at which they were cut."""
        await self.proxy.plan(*cuts)
        command = str(uuid_v7())
        for attempt in itertools.count():
            outcome, word, *rest = await self.ask("create_once", command, command)
            if outcome == "ok":
                print(command, word)
                return self.proxy.reached
            if not re.match("(08|40|57P|$)", word) or attempt == 100:
                sys.exit(f"{cuts}: {word} {rest}")
            await asyncio.sleep(0.02)


async def main(command):
    program = Program()
    cuts = lost_completions = three_in_a_row = 0
    await program.start(command)
    try:
        for side, when, in_a_row in itertools.product(["server", "client"], ["after", "before"], [1, 3]):
            for number in itertools.count():
                packets = await program.create_order([(side, when, number)] * in_a_row)
                if not packets:
                    break
                cuts += len(packets)
                three_in_a_row += len(packets) == 3
                # The lost answer is the answer to a COMMIT or to a single statement.
                is_completion = re.search(rb"(COMMIT|SELECT 1)\0", packets[0]) is not None
                lost_completions += is_completion and (side, when) == ("server", "before")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.process.pid, signal.SIGTERM)
        await program.proxy.plan()
    print(cuts, lost_completions, three_in_a_row)


asyncio.run(main(sys.argv[1]))
