<?php

/**
 * A COMB as idgen.hmac_comb() makes it: a UUID of version 4 whose first four bytes are an HMAC-SHA-256 of the hour and
 * of its twelfth. The key is the 16 bytes that the server's key file has, too.
 */
function hmac_comb(string $key, string $area = '', ?int $unixMs = null, ?string $random = null, int $periodMs = 3_600_000): string
{
    if (strlen($key) !== 16) {
        throw new InvalidArgumentException('the key of hmac_comb() must have 16 bytes');
    }
    $ms = $unixMs ?? (int) (microtime(true) * 1000);
    $floor = fn (int $a): int => intdiv($a, $periodMs) - ($a % $periodMs < 0 ? 1 : 0);
    $hash = fn (int $level, int $number): string => hash_hmac('sha256', "$level $periodMs $number $area", $key, true);
    $prefix = substr($hash(1, $floor($ms)), 0, 3) . $hash(2, $floor($ms * 12))[0];
    $bytes = $prefix . substr($random ?? random_bytes(16), 4);
    $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40); // version 4
    $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80); // variant of RFC 9562
    return implode('-', unpack('H8a/H4b/H4c/H4d/H12e', $bytes));
}
