"""Text forms and timestamps by an implementation independent of idgen: Python's uuid and integers.

    client.py forms           10,000 random and all boundary values: a uuid and its forms in
                              base 16, 32, 36, 58 and 62, as prefixed id, TypeID and ULID
    client.py times < FILE    the uuids in FILE and 1000 new ones of version 1, each with
                              whether version and variant are right, and its 100 ns ticks

The fields of a line are separated by tabs.
"""

import sys
import uuid

WIDTHS = {
    "0123456789abcdef": 32,
    "0123456789ABCDEFGHJKMNPQRSTVWXYZ": 26,
    "0123456789abcdefghijklmnopqrstuvwxyz": 25,
    "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz": 22,
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz": 22,
}


def encode(number, alphabet):
    digits = ""
    while number:
        number, digit = divmod(number, len(alphabet))
        digits = alphabet[digit] + digits
    return digits.rjust(WIDTHS[alphabet], alphabet[0])


def values():
    """No bits, all bits, each single bit, the neighbours of these values, and random ones."""
    yield from (0, (1 << 128) - 1)
    for bit in range(128):
        yield from (1 << bit, (1 << bit) - 1, (1 << 128) - (1 << bit))
    for _ in range(10000):
        yield uuid.uuid4().int


if sys.argv[1] == "forms":
    for value in values():
        b16, b32, b36, b58, b62 = (encode(value, alphabet) for alphabet in WIDTHS)
        prefixed, typeid = "line_item_" + b36, "line_item_" + b32.lower()
        print(uuid.UUID(int=value), b16, b32, b36, b58, b62, prefixed, typeid, b32, sep="\t")
else:
    for one in [uuid.UUID(line.strip()) for line in sys.stdin] + [uuid.uuid1() for _ in range(1000)]:
        print(one, one.version == 1 and one.variant == uuid.RFC_4122, one.time, sep="\t")
