"""Generate version 4 COMBs as idgen does, and version 7 UUIDs."""

import hashlib
import hmac
import math
import os
import time
import uuid


def hmac_comb(key, area, unix_ms=None, random=None, period_ms=3_600_000):
    """Return a COMB that begins with an HMAC of the hour and its twelfth. The server's key file has the same key."""
    if len(key) != 16:
        raise ValueError("the key of hmac_comb() must have 16 bytes")
    if not isinstance(area, str) or len(area.encode()) > 63:
        raise ValueError("an area must be a text of at most 63 bytes")
    ms = milliseconds(unix_ms)

    def digest(level, number):
        return hmac.digest(key, f"{level} {period_ms} {number} {area}".encode(), hashlib.sha256)

    prefix = digest(1, ms // period_ms)[:3] + digest(2, ms * 12 // period_ms)[:1]
    return stamp(prefix, random)


def short_comb(unix_ms=None, random=None, period_ms=60_000, prefix_bytes=2):
    """Return a COMB that begins with the number of the period, by default the minute modulo 65536."""
    ms = milliseconds(unix_ms)
    prefix = (ms // period_ms % 256**prefix_bytes).to_bytes(prefix_bytes, "big")
    return stamp(prefix, random)


def uuid_v7(unix_ms=None, random=None):
    """Generate command ids before Python 3.14, which has uuid.uuid7()."""
    return stamp(milliseconds(unix_ms).to_bytes(6, "big"), random, version=7)


def milliseconds(unix_ms):
    return time.time_ns() // 1_000_000 if unix_ms is None else math.floor(unix_ms)


def stamp(prefix, random, version=4):
    random = os.urandom(16) if random is None else random
    id = bytearray(prefix + random[len(prefix) :])
    id[6] = id[6] & 0x0F | version << 4
    id[8] = id[8] & 0x3F | 0x80  # variant of RFC 9562
    return uuid.UUID(bytes=bytes(id))  # raises an error unless there are 16 bytes
