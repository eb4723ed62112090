"""A COMB as idgen.hmac_comb() makes it: a UUID of version 4 whose first four bytes are an HMAC-SHA-256 of the hour and
of its twelfth. The key is the 16 bytes that the server's key file has, too."""

import hashlib
import hmac
import os
import time
import uuid


def hmac_comb(key, area="", unix_ms=None, random=None, period_ms=3_600_000):
    if len(key) != 16:
        raise ValueError("the key of hmac_comb() must have 16 bytes")
    if unix_ms is None:
        unix_ms = time.time_ns() // 1_000_000

    def digest(level, number):
        return hmac.digest(key, f"{level} {period_ms} {number} {area}".encode(), hashlib.sha256)

    prefix = digest(1, unix_ms // period_ms)[:3] + digest(2, unix_ms * 12 // period_ms)[:1]
    return uuid.UUID(bytes=prefix + (random or os.urandom(16))[4:], version=4)  # sets version and variant
