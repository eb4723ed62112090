#!/usr/bin/env python3
"""mask.py {mask|unmask|permute} KEY: convert the lines of stdin.

This program implements the definitions, independently of the extension's code: SipHash-2-4 (Aumasson and Bernstein,
2012), docs/masks.md, and the Feistel network that the comments of src/mask.c define. KEY is 32 hexadecimal digits. A
line contains the other parameters of the corresponding function below.
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


# The paper's appendix uses the key 00 01 ... 0f and the message 00 01 ... 0e.
assert siphash(bytes(range(16)), bytes(range(15))) == 0xa129ca6149be45e5


def exchange_version(key, text, rounds):
    bits = f'{UUID(text).int:0128b}'
    version = 4 if bits[48:52] == '0111' else 7
    free = bits[:48] + bits[52:64] + bits[66:]
    halves = [int(free[:61], 2), int(free[61:], 2)]
    for i in rounds:
        other = halves[(i + 1) % 2]
        halves[i % 2] ^= siphash(key, struct.pack('<QB', other, i)) % (1 << 61)
    free = f'{halves[0]:061b}{halves[1]:061b}'
    return UUID(int=int(f'{free[:48]}{version:04b}{free[48:60]}10{free[60:]}', 2))


def mask_uuid(key, text):
    return exchange_version(key, text, range(10))


def unmask_uuid(key, text):
    return exchange_version(key, text, reversed(range(10)))


def permute(key, number, max_value, area=''):
    number, max_value = int(number), int(max_value)
    bits = (max_value - 1).bit_length()
    widths = (bits // 2, bits - bits // 2)
    inner = struct.pack('<Q', siphash(key, area.encode())) if area else b''
    number -= 1
    while True:
        left, right = number >> widths[1], number & (1 << widths[1]) - 1
        for i in range(10):
            message = struct.pack('<Q', max_value) + inner + struct.pack('<IB', right, i)
            left, right = right, (left ^ siphash(key, message)) & (1 << widths[i % 2]) - 1
        number = left << widths[1] | right
        if number < max_value:
            return number + 1


function = {'mask': mask_uuid, 'unmask': unmask_uuid, 'permute': permute}[sys.argv[1]]
key = bytes.fromhex(sys.argv[2])
for line in sys.stdin:
    print(function(key, *line.rstrip('\n').split(' ', function.__code__.co_argcount - 2)))
