"""TraceId and DecimalId as the pattern "ID generation" defines them, by its
table of bits and its table of decimal places. No code is shared with idgen.

    id_pattern.py trace < FILE      decode: a line is an identifier
    id_pattern.py decimal < FILE
    id_pattern.py make-trace        encode: every boundary value and 1000 random ones,
    id_pattern.py make-decimal      each an identifier and its parts
    id_pattern.py numbers < FILE    print those that are not JavaScript integers

Parts are separated by tabs.
"""

import itertools
import random
import sys


# From the high end: 1 bit reserved, 25 timestamp, 16 node_no, 22 counter
TRACE_RANGES = ((0, 2**25 - 1), (0, 2**16 - 1), (1, 2**22 - 1))


def trace_parts(number):
    bits = format(number, "064b")
    assert len(bits) == 64 and bits[0] == "0", number
    return int(bits[1:26], 2), int(bits[26:42], 2), int(bits[42:64], 2)


def trace_id(timestamp, node_no, counter):
    return timestamp * 2**38 + node_no * 2**22 + counter


# cc*ggggglllll: counter, generator_id, launch_id
DECIMAL_RANGES = ((1, 922_337_202), (0, 99_999), (0, 99_999))


def decimal_parts(number):
    digits = str(number)
    return int(digits[:-10]), int(digits[-10:-5]), int(digits[-5:])


def decimal_id(counter, generator_id, launch_id):
    return counter * 10**10 + generator_id * 10**5 + launch_id


def decode(ranges, parts_of, identifier):
    for line in sys.stdin:
        number = int(line)
        parts = parts_of(number)
        for value, (least, most) in zip(parts, ranges):
            assert least <= value <= most, number
        assert identifier(*parts) == number and 1 <= number < 2**63, number
        print(*parts, sep="\t")


def make(ranges, _, identifier):
    edges = list(itertools.product(*ranges))
    some = [[random.randint(*ends) for ends in ranges] for _ in range(1000)]
    for parts in edges + some:
        print(identifier(*parts), *parts, sep="\t")


def numbers():
    """Number.isSafeInteger(), and the number goes through a double unchanged."""
    for line in sys.stdin:
        number = int(line)
        if not 1 <= number <= 2**53 - 1 or int(float(number)) != number or f"{float(number):.0f}" != line.strip():
            print(number)


KINDS = {"trace": (TRACE_RANGES, trace_parts, trace_id), "decimal": (DECIMAL_RANGES, decimal_parts, decimal_id)}

command = sys.argv[1]
if command == "numbers":
    numbers()
elif command.startswith("make-"):
    make(*KINDS[command.split("-")[1]])
else:
    decode(*KINDS[command])
