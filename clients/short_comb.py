"""A short COMB: a UUID of version 4 that begins with the minute modulo 65536,
as idgen.short_comb() makes it."""

import os
import time
import uuid


def short_comb(unix_ms=None, random=None):
    if unix_ms is None:
        unix_ms = time.time_ns() // 1_000_000
    if random is None:
        random = os.urandom(16)
    prefix = (unix_ms // 60_000 % 65_536).to_bytes(2, "big")
    return uuid.UUID(bytes=prefix + random[2:], version=4)  # sets version and variant
