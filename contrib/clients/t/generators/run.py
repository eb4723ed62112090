"""The generators of Python, see t/003_generators.pl"""

import sys

sys.path.insert(0, "generators")
from hmac_comb import hmac_comb
from short_comb import short_comb

GENERATORS = {
    "short": lambda period, prefix, ms, random: short_comb(int(ms), bytes.fromhex(random), int(period), int(prefix)),
    "hmac": lambda key, area, period, ms, random: hmac_comb(
        bytes.fromhex(key), area, int(ms), bytes.fromhex(random), int(period)),
    "now": lambda key, area: f"{short_comb()} {hmac_comb(bytes.fromhex(key), area)}",
}
for line in sys.stdin:
    name, *words = line.rstrip("\n").split("\t")
    print(GENERATORS[name](*words))
