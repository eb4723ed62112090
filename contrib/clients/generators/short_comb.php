<?php

/**
 * A short COMB as idgen.short_comb() makes it: a UUID of version 4 that begins with the number
 * of the period, by default the minute modulo 65536.
 */
function short_comb(int|float|null $unixMs = null, ?string $random = null, int $periodMs = 60_000, int $prefixBytes = 2): string
{
    $period = intdiv((int) ($unixMs ?? microtime(true) * 1000), $periodMs);
    $bytes = substr_replace($random ?? random_bytes(16), substr(pack('J', $period), -$prefixBytes), 0, $prefixBytes);
    $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
    $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
    return implode('-', unpack('H8a/H4b/H4c/H4d/H12e', $bytes));
}
