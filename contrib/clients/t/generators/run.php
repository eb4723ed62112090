<?php

// See t/003_generators.pl.
require 'generators/combs.php';

foreach (file('php://stdin', FILE_IGNORE_NEW_LINES) as $line) {
    [$name, $key, $area, $period, $prefix, $ms, $random] = explode("\t", $line);
    echo match ($name) {
        'short' => short_comb((int) $ms, hex2bin($random), (int) $period, (int) $prefix),
        'hmac' => hmac_comb(hex2bin($key), $area === '\N' ? null : $area, (int) $ms, hex2bin($random), (int) $period),
        'now' => short_comb() . ' ' . hmac_comb(hex2bin($key), $area),
    }, "\n";
}
