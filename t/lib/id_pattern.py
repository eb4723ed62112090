"""TraceId and DecimalId as the pattern "ID generation" defines them, by its
table of bits and its table of decimal places. No code is shared with idgen.

    id_pattern.py trace < FILE      decode: a line is an identifier
    id_pattern.py decimal < FILE
    id_pattern.py make-trace        encode: every boundary value and 1000 random ones,
    id_pattern.py make-decimal      each an identifier and its parts
    id_pattern.py numbers < FILE    print those that are not JavaScript integers

Parts are separated by tabs.
"""

import random
import sys


class TraceId:
    """From the high end: 1 bit reserved, 25 timestamp, 16 node_no, 22 counter"""

    TIMESTAMP_MAX = (1 << 25) - 1
    NODE_MAX = (1 << 16) - 1
    COUNTER_MAX = (1 << 22) - 1
    RANGES = ((0, TIMESTAMP_MAX), (0, NODE_MAX), (1, COUNTER_MAX))

    def __init__(self, timestamp, node_no, counter):
        self.timestamp = timestamp
        self.node_no = node_no
        self.counter = counter

    @classmethod
    def decode(cls, number):
        bits = format(number, "064b")
        assert len(bits) == 64 and bits[0] == "0", number
        return cls(int(bits[1:26], 2), int(bits[26:42], 2), int(bits[42:64], 2))

    def encode(self):
        return self.timestamp * 2**38 + self.node_no * 2**22 + self.counter

    def parts(self):
        return self.timestamp, self.node_no, self.counter


class DecimalId:
    """cc*ggggglllll: counter, generator_id, launch_id"""

    COUNTER_MAX = 922_337_202
    RANGES = ((1, COUNTER_MAX), (0, 99_999), (0, 99_999))

    def __init__(self, counter, generator_id, launch_id):
        self.counter = counter
        self.generator_id = generator_id
        self.launch_id = launch_id

    @classmethod
    def decode(cls, number):
        digits = str(number)
        return cls(int(digits[:-10]), int(digits[-10:-5]), int(digits[-5:]))

    def encode(self):
        return self.counter * 10**10 + self.generator_id * 10**5 + self.launch_id

    def parts(self):
        return self.counter, self.generator_id, self.launch_id


def decode(kind):
    for line in sys.stdin:
        number = int(line)
        one = kind.decode(number)
        for value, (least, most) in zip(one.parts(), kind.RANGES):
            assert least <= value <= most, number
        assert one.encode() == number and 1 <= number < 2**63, number
        print(*one.parts(), sep="\t")


def make(kind):
    first, second, third = kind.RANGES
    edges = [kind(a, b, c) for a in first for b in second for c in third]
    some = [kind(*(random.randint(*ends) for ends in kind.RANGES)) for _ in range(1000)]
    for one in edges + some:
        print(one.encode(), *one.parts(), sep="\t")


def numbers():
    """Number.isSafeInteger(), and the number goes through a double unchanged."""
    for line in sys.stdin:
        number = int(line)
        if not 1 <= number <= 2**53 - 1 or int(float(number)) != number or f"{float(number):.0f}" != line.strip():
            print(number)


KINDS = {"trace": TraceId, "decimal": DecimalId}

command = sys.argv[1]
if command == "numbers":
    numbers()
elif command.startswith("make-"):
    make(KINDS[command.split("-")[1]])
else:
    decode(KINDS[command])
