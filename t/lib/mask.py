#!/usr/bin/env python3
"""mask.py {uuid|number} KEY: mask what the lines of stdin contain.

Written from the definitions, apart from the extension's code: SipHash-2-4
(Aumasson and Bernstein, 2012), UUIDv47, and the Feistel network that the
comments of src/mask.c define.  KEY is 32 hexadecimal digits.  A line is a uuid,
or a number and the greatest one.
"""
import sys

WORD = (1 << 64) - 1


def rotate(word, bits):
    return ((word << bits) | (word >> (64 - bits))) & WORD


def siphash(key, message):
    k0 = int.from_bytes(key[:8], 'little')
    k1 = int.from_bytes(key[8:], 'little')
    v0, v1, v2, v3 = (k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
                      k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573)

    def rounds(n):
        nonlocal v0, v1, v2, v3
        for _ in range(n):
            v0 = (v0 + v1) & WORD
            v1 = rotate(v1, 13) ^ v0
            v0 = rotate(v0, 32)
            v2 = (v2 + v3) & WORD
            v3 = rotate(v3, 16) ^ v2
            v0 = (v0 + v3) & WORD
            v3 = rotate(v3, 21) ^ v0
            v2 = (v2 + v1) & WORD
            v1 = rotate(v1, 17) ^ v2
            v2 = rotate(v2, 32)

    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) % 256])
    for i in range(0, len(padded), 8):
        word = int.from_bytes(padded[i:i + 8], 'little')
        v3 ^= word
        rounds(2)
        v0 ^= word
    v2 ^= 0xff
    rounds(4)
    return v0 ^ v1 ^ v2 ^ v3


# the key 00 01 ... 0f and the message 00 01 ... 0e of the paper's appendix
assert siphash(bytes(range(16)), bytes(range(15))) == 0xa129ca6149be45e5


def mask_uuid(key, text):
    b = bytes.fromhex(text.replace('-', ''))
    message = bytes([b[6] & 0x0f, b[7], b[8] & 0x3f]) + b[9:]
    time = int.from_bytes(b[:6], 'big') ^ siphash(key, message) & (1 << 48) - 1
    version = 4 if b[6] >> 4 == 7 else 7
    digits = (time.to_bytes(6, 'big') + bytes([version << 4 | b[6] & 0x0f]) + b[7:]).hex()
    return '-'.join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def permute(key, number, max_value):
    bits = (max_value - 1).bit_length()
    widths = (bits // 2, bits - bits // 2)
    number -= 1
    while True:
        left, right = number >> widths[1], number & (1 << widths[1]) - 1
        for i in range(10):
            message = max_value.to_bytes(8, 'little') + right.to_bytes(4, 'little') + bytes([i])
            left, right = right, (left ^ siphash(key, message)) & (1 << widths[i % 2]) - 1
        number = left << widths[1] | right
        if number < max_value:
            return number + 1


def main():
    kind, key = sys.argv[1], bytes.fromhex(sys.argv[2])
    for line in sys.stdin:
        if kind == 'uuid':
            print(mask_uuid(key, line.strip()))
        else:
            print(permute(key, *map(int, line.split())))


main()
