"""Answer the commands of programs.txt."""

import sys


def all_pages(next_page):
    """Return the ids of all pages. next_page(last) returns the page after the row "last"."""
    rows = []
    while page := next_page(rows[-1] if rows else None):
        rows += page
    return [row.id for row in rows]


def serve(commands, cause, before_each=lambda: None):
    """Answer commands. Each command is a function. cause(error) returns the driver's error, or None."""
    commands = {command.__name__: command for command in commands}
    for line in sys.stdin:
        name, *words = line.rstrip("\n").split("\t")
        before_each()
        try:
            answer = ["ok", *(commands[name](*words) or [])]
        except Exception as error:
            diag = getattr(cause(error), "diag", None)
            if diag is None:
                raise
            answer = ["error", diag.sqlstate or "", diag.constraint_name or "", " ".join(str(error).split())]
        print(*answer, sep="\t", flush=True)
