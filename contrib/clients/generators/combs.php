<?php

// Generate version 4 COMBs as idgen does.

/** Begins with an HMAC of the hour and of its twelfth. The server's key file contains the same 16-byte key. */
function hmac_comb(
    string $key,
    string $area,
    ?int $unixMs = null,
    ?string $random = null,
    int $periodMs = 3_600_000
): string {
    if (strlen($key) !== 16) {
        throw new InvalidArgumentException('the key of hmac_comb() must have 16 bytes');
    }
    if (strlen($area) > 63) {
        throw new InvalidArgumentException('an area must have at most 63 bytes');
    }
    $ms = $unixMs ?? (int) (microtime(true) * 1000);
    $hash = fn (int $level, int $ms): string =>
        hash_hmac('sha256', "$level $periodMs " . comb_period($ms, $periodMs) . " $area", $key, true);
    return stamp_comb(substr($hash(1, $ms), 0, 3) . $hash(2, $ms * 12)[0], $random);
}

/** Begins with the number of the period, by default the minute modulo 65536. */
function short_comb(?int $unixMs = null, ?string $random = null, int $periodMs = 60_000, int $prefixBytes = 2): string
{
    $period = comb_period($unixMs ?? (int) (microtime(true) * 1000), $periodMs);
    return stamp_comb(substr(pack('J', $period), -$prefixBytes), $random);
}

function comb_period(int $ms, int $periodMs): int
{
    return intdiv($ms, $periodMs) - ($ms % $periodMs < 0 ? 1 : 0); // round down
}

function stamp_comb(string $prefix, ?string $random): string
{
    $bytes = $prefix . substr($random ?? random_bytes(16), strlen($prefix));
    if (strlen($bytes) !== 16) {
        throw new InvalidArgumentException('a COMB must have 16 bytes');
    }
    $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40); // version 4
    $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80); // variant of RFC 9562
    return implode('-', unpack('H8a/H4b/H4c/H4d/H12e', $bytes));
}
