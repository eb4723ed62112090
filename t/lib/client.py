"""Text forms by an implementation independent of idgen: Python's uuid and integers.

    client.py check < FILE    check what the server wrote, print what is wrong
    client.py make N          write N random and all boundary values

A line is a uuid and its forms, separated by tabs: base 16, 32, 36, 58, 62,
prefixed id, TypeID, ULID.
"""

import sys
import uuid

ALPHABETS = {
    16: "0123456789abcdef",
    32: "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
    36: "0123456789abcdefghijklmnopqrstuvwxyz",
    58: "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    62: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
}
WIDTHS = {16: 32, 32: 26, 36: 25, 58: 22, 62: 22}


def encode(number, base):
    digits = ""
    while number:
        number, digit = divmod(number, base)
        digits = ALPHABETS[base][digit] + digits
    return digits.rjust(WIDTHS[base], ALPHABETS[base][0])


def decode(digits, base):
    if base in (16, 36):
        return int(digits, base)
    number = 0
    for digit in digits:
        number = number * base + ALPHABETS[base].index(digit)
    return number


def check():
    lines = wrong = 0
    for line in sys.stdin:
        lines += 1
        text, b16, b32, b36, b58, b62, prefixed, typeid, ulid = line.rstrip("\n").split("\t")
        number = uuid.UUID(text).int
        read = [decode(b16, 16), decode(b32, 32), decode(b36, 36), decode(b58, 58), decode(b62, 62),
                int(prefixed.rpartition("_")[2], 36), decode(typeid.rpartition("_")[2].upper(), 32), decode(ulid, 32)]
        if any(value != number for value in read):
            wrong += 1
            print("wrong:", line, end="")
    print(f"{lines} lines, {wrong} wrong")


def edges():
    yield 0
    yield (1 << 128) - 1
    for bit in range(128):
        yield 1 << bit
        yield (1 << bit) - 1
        yield (1 << 128) - (1 << bit)


def make(count):
    values = list(edges()) + [uuid.uuid4().int for _ in range(count)]
    for number in values:
        base_32 = encode(number, 32)
        print(uuid.UUID(int=number), *(encode(number, base) for base in (16, 32, 36, 58, 62)),
              "line_item_" + encode(number, 36), "line_item_" + base_32.lower(), base_32, sep="\t")


if sys.argv[1] == "check":
    check()
else:
    make(int(sys.argv[2]))
