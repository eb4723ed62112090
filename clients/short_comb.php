<?php

/** A short COMB: the number of the minute modulo 65536, then 106 random bits, as a UUID of version 4. */
function short_comb(?int $time = null, ?string $random = null): string
{
    $bytes = substr_replace($random ?? random_bytes(16), pack('n', intdiv($time ?? time(), 60) % 65536), 0, 2);
    $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
    $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
    return implode('-', unpack('H8a/H4b/H4c/H4d/H12e', $bytes));
}
