"""COMBs of version 4 as idgen makes them"""

import hashlib
import hmac
import math
import os
import time
import uuid


def hmac_comb(key, area, unix_ms=None, random=None, period_ms=3_600_000):
    """Begins with an HMAC of the hour and its twelfth. The key is the 16 bytes of the server's key file."""
    if len(key) != 16:
        raise ValueError("the key of hmac_comb() must have 16 bytes")
    if not isinstance(area, str) or len(area.encode()) > 63:
        raise ValueError("an area must be a text of at most 63 bytes")
    ms = time.time_ns() // 1_000_000 if unix_ms is None else math.floor(unix_ms)

    def digest(level, number):
        return hmac.digest(key, f"{level} {period_ms} {number} {area}".encode(), hashlib.sha256)

    prefix = digest(1, ms // period_ms)[:3] + digest(2, ms * 12 // period_ms)[:1]
    return stamp(prefix, random)


def short_comb(unix_ms=None, random=None, period_ms=60_000, prefix_bytes=2):
    """Begins with the number of the period, by default the minute modulo 65536."""
    ms = time.time_ns() // 1_000_000 if unix_ms is None else math.floor(unix_ms)
    prefix = (ms // period_ms % 256**prefix_bytes).to_bytes(prefix_bytes, "big")
    return stamp(prefix, random)


def stamp(prefix, random):
    random = os.urandom(16) if random is None else random
    return uuid.UUID(bytes=prefix + random[len(prefix) :], version=4)  # 16 bytes; sets version and variant
