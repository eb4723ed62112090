"""What the Python programs share, apart from the generator: the verdict of a task."""

import contextlib
import datetime
import pathlib
import sys
import time

from short_comb import short_comb

# An integer that a double cannot hold: 2^53 + 1.
BEYOND_DOUBLE = 9007199254740993


class Tasks:
    """with task(NAME): ... runs a task and prints its verdict."""

    def __init__(self, program):
        self.program = program
        self.failed = False

    @contextlib.contextmanager
    def __call__(self, name):
        try:
            yield
            print(f"ok {self.program}: {name}")
        except Exception as error:
            self.failed = True
            print(f"not ok {self.program}: {name}: {' '.join(repr(error).split())}")

    def finish(self):
        sys.exit(1 if self.failed else 0)


def only_orders(create_order):
    """With the argument "orders", the program only creates orders: one for each command id that it reads."""
    if sys.argv[1:] == ["orders"]:
        for command in map(str.strip, sys.stdin):
            print(create_order(command, command)[0], flush=True)
        sys.exit()


def known_answers():
    header, *lines = pathlib.Path(__file__).with_name("short_comb_vectors.csv").read_text().splitlines()
    assert len(lines) == 40
    for period_ms, prefix_bytes, unix_ms, random, expected in (line.split(",") for line in lines):
        for time_ms in int(unix_ms), int(unix_ms) + 0.5:
            id = short_comb(time_ms, bytes.fromhex(random), int(period_ms), int(prefix_bytes))
            assert str(id) == expected, expected


def hours_from_now(hours):
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=hours)


def yesterday_short_comb():
    """An old one, which check_recent_id() refuses."""
    return short_comb(time.time_ns() // 1_000_000 - 24 * 3_600_000)
