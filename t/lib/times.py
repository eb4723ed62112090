"""Timestamps as Python's uuid reads them. Standard input: uuids of version 1.
Standard output: each one with its 60-bit count of 100 ns ticks; then, after a line
"made", uuids of version 1 that Python generates, with their counts.
"""

import sys
import uuid

for line in sys.stdin:
    one = uuid.UUID(line.strip())
    print(one, one.version, one.variant == uuid.RFC_4122, one.time, sep="\t")
print("made")
for _ in range(1000):
    one = uuid.uuid1()
    print(one, one.time, sep="\t")
