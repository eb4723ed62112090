"""See t/003_generators.pl."""

import sys

sys.path.insert(0, "generators")
from combs import hmac_comb, short_comb, uuid_v7

for line in sys.stdin:
    name, key, text, period, prefix, ms, random = line.rstrip("\n").split("\t")
    area = None if text == "\\N" else text
    unix_ms = float(ms) + 0.5  # the fraction of a millisecond is dropped
    if name == "short":
        print(short_comb(unix_ms, bytes.fromhex(random), int(period), int(prefix)))
    elif name == "hmac":
        print(hmac_comb(bytes.fromhex(key), area, unix_ms, bytes.fromhex(random), int(period)))
    elif name == "v7":
        print(uuid_v7(unix_ms, bytes.fromhex(random)), uuid_v7())
    else:
        print(short_comb(), hmac_comb(bytes.fromhex(key), area))
