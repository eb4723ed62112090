<?php

// The generators of PHP, see t/003_generators.pl
require 'generators/hmac_comb.php';
require 'generators/short_comb.php';

$generators = [
    'short' => fn ($period, $prefix, $ms, $random) => short_comb((int) $ms, hex2bin($random), (int) $period, (int) $prefix),
    'hmac' => fn ($key, $area, $period, $ms, $random) =>
        hmac_comb(hex2bin($key), $area, (int) $ms, hex2bin($random), (int) $period),
    'now' => fn ($key, $area) => short_comb() . ' ' . hmac_comb(hex2bin($key), $area),
];
foreach (file('php://stdin', FILE_IGNORE_NEW_LINES) as $line) {
    $words = explode("\t", $line);
    echo $generators[array_shift($words)](...$words), "\n";
}
