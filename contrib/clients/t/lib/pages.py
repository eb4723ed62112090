"""psycopg 3: read a list page by page, see contrib/clients/t/006_lists.pl"""

import re
import sys
from datetime import datetime

import psycopg

query = re.sub(r"\$(\d)", r"%(p\1)s", sys.argv[1])
ids = []
position = {"p1": "infinity", "p2": "ffffffff-ffff-ffff-ffff-ffffffffffff"}
with psycopg.connect("") as connection:
    while rows := connection.execute(query, position).fetchall():
        ids += [row[0] for row in rows]
        created_at = rows[-1][1]
        position = {"p1": created_at if isinstance(created_at, str) else datetime.fromisoformat(created_at.isoformat()),
                    "p2": rows[-1][0]}
print(f"{len(ids)} rows, {len(set(ids))} ids")
