"""Times as Python's uuid reads them: on standard input uuids of version 1, on
standard output each with its 60-bit count of 100 ns ticks; then, after a line
"made", version 1 uuids that Python makes, with theirs.
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
