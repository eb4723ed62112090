"""A short COMB: a UUID of version 4 that begins with the number of the period, as
idgen.short_comb() makes it; by default, the minute modulo 65536."""

import os
import time
import uuid


def short_comb(unix_ms=None, random=None, period_ms=60_000, prefix_bytes=2):
    if unix_ms is None:
        unix_ms = time.time_ns() // 1_000_000
    if random is None:
        random = os.urandom(16)
    # a float, such as time.time() * 1000, is rounded down
    prefix = (int(unix_ms) // period_ms % 256**prefix_bytes).to_bytes(prefix_bytes, "big")
    return uuid.UUID(bytes=prefix + random[prefix_bytes:], version=4)  # sets version and variant
