"""psycopg 3: run each statement of a file, see contrib/clients/t/002_parameters.pl"""

import re
import sys

import psycopg

with psycopg.connect("", autocommit=True) as connection, open(sys.argv[1]) as statements:
    connection.execute("BEGIN")
    for name, _, args, sql in (line.rstrip("\n").split("\t") for line in statements):
        sql = re.sub(r"\$(\d+)", r"%(p\1)s", sql.replace("%", "%%"))
        connection.execute("SAVEPOINT before")
        try:
            connection.execute(sql, {f"p{i}": arg for i, arg in enumerate(args.split("|"), 1)})
            print("ok", name)
        except psycopg.Error as error:
            print(error.sqlstate, name)
            print(error, file=sys.stderr)
            connection.execute("ROLLBACK TO before")
    connection.execute("ROLLBACK")
