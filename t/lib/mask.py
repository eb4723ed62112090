#!/usr/bin/env python3
"""mask.py {uuid|number} KEY: mask what the lines of stdin contain.

Written from the definitions, apart from the extension's code: SipHash-2-4
(Aumasson and Bernstein, 2012), UUIDv47, and the Feistel network that the
comments of src/mask.c define.  KEY is 32 hexadecimal digits.  A line is a uuid,
or a number and the greatest one.
"""
import struct
import sys
from uuid import UUID

WORD = (1 << 64) - 1


def rotate(word, bits):
    return ((word << bits) | (word >> (64 - bits))) & WORD


def add_rotate_xor(a, b, bits):
    a = (a + b) & WORD
    return a, rotate(b, bits) ^ a


def rounds(n, v0, v1, v2, v3):
    for _ in range(n):
        v0, v1 = add_rotate_xor(v0, v1, 13)
        v2, v3 = add_rotate_xor(v2, v3, 16)
        v0, v3 = add_rotate_xor(rotate(v0, 32), v3, 21)
        v2, v1 = add_rotate_xor(v2, v1, 17)
        v2 = rotate(v2, 32)
    return v0, v1, v2, v3


def siphash(key, message):
    k0, k1 = struct.unpack('<QQ', key)
    v0, v1, v2, v3 = (k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
                      k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573)
    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) % 256])

    for (word,) in struct.iter_unpack('<Q', padded):
        v0, v1, v2, v3 = rounds(2, v0, v1, v2, v3 ^ word)
        v0 ^= word
    v0, v1, v2, v3 = rounds(4, v0, v1, v2 ^ 0xff, v3)
    return v0 ^ v1 ^ v2 ^ v3


# the key 00 01 ... 0f and the message 00 01 ... 0e of the paper's appendix
assert siphash(bytes(range(16)), bytes(range(15))) == 0xa129ca6149be45e5


def mask_uuid(key, text):
    b = UUID(text).bytes
    message = bytes([b[6] & 0x0f, b[7], b[8] & 0x3f]) + b[9:]
    time = int.from_bytes(b[:6], 'big') ^ siphash(key, message) & (1 << 48) - 1
    version = 4 if b[6] >> 4 == 7 else 7
    return UUID(bytes=time.to_bytes(6, 'big') + bytes([version << 4 | b[6] & 0x0f]) + b[7:])


def permute(key, number, max_value):
    bits = (max_value - 1).bit_length()
    widths = (bits // 2, bits - bits // 2)
    number -= 1
    while True:
        left, right = number >> widths[1], number & (1 << widths[1]) - 1
        for i in range(10):
            message = struct.pack('<QIB', max_value, right, i)
            left, right = right, (left ^ siphash(key, message)) & (1 << widths[i % 2]) - 1
        number = left << widths[1] | right
        if number < max_value:
            return number + 1


kind, hex_key = sys.argv[1:]
for line in sys.stdin:
    if kind == 'uuid':
        print(mask_uuid(bytes.fromhex(hex_key), line.strip()))
    else:
        print(permute(bytes.fromhex(hex_key), *map(int, line.split())))
