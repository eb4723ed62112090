#!/usr/bin/env python3
"""cut_wires.py [--new-command-id] COMMAND: cut the connections of a program while it creates orders.

The program answers the commands of programs.txt. For each new command id it is asked to create_once(), again with the
same id until an answer is not a lost connection (with --new-command-id, each time with another one). Before each
command, a proxy between it and the server (PGHOST, PGPORT) closes the connections that are left, and then cuts one:
before or after it forwards the first packet of the client or of the server, for the next command the second one, and so
on to the last. Then it cuts three connections in a row before packets of the client: the last one after whose loss the
program connects again, as it does after an error; then each; and for each of these, each.

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


class Proxy:
    """Forwards packets, and cuts connections in a row, each before or after one of its packets."""

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
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.process.pid, signal.SIGTERM)
        await program.proxy.plan()
    print(program.cuts, lost_completions, in_a_row)


asyncio.run(main(*sys.argv[1:]))
