#!/usr/bin/python3
"""Write the report of runs of the laboratory: report.md and the pictures, *.svg.

The program reads the files in the folders and their subfolders that run.sh wrote (measurements.csv, keys.csv,
settings.csv, touches.csv) or that --store wrote. Missing files, scenes, keys and metrics are omitted, so an interrupted
run also has a report. The same input always results in the same output, byte for byte.
"""

import argparse
import os
import re
import sys
from collections import Counter, namedtuple

sys.dont_write_bytecode = True      # do not write files next to the sources

from reporting import pictures
from reporting.measurements import METRICS, Run, figure, ratio, short, warn, with_spread

# heading     the heading of the section
# about       a description of how the scene was measured
# series, x   the headings of the first columns of the tables
# metrics     the metrics, each of which has a table
# ratios      pairs of keys whose ratios of costs are columns of the tables
# picture     the title of a picture that shows the WAL over x, with a panel for each series
# left_out    for a metric, a pattern of series whose figures repeat those of others, so that its table omits them
Scene = namedtuple("Scene", "heading about series x metrics ratios picture left_out",
                   defaults=["", "", [], [], None, {}])
TO_RANDOM = [("random", "keyed_comb"), ("keyed_comb", "uuid_v7")]
COSTS = {"wal_bytes_per_row", "rows_per_s", "replay_s", "cpu_us_per_row"}
TIMED = {"rows_per_s", "replay_s"}
SHORTEST = {"cpu_us_per_row"}      # because the mean would depend on other load on the machine
ONE_SESSION = ("session", "100000000")     # rates.session if sessions do not take turns

SCENES = {
    "usual": Scene("A usual table", """\
The table "usual" has rows of 300 bytes. Besides the primary key, it has indexes on the customer (one of 100,000), on
the time, and on a unique random string. The table "narrow" has only the key and a number. A "new" table has 100,000
rows, which were inserted at 200 rows a minute. A table of "5 years" has 2,630,000 rows, which were inserted at one row
a minute. After a checkpoint, one session inserts the given number of rows at 200 rows a minute. The measurement is
repeated at different moments of the hour. In the first column, "1 a commit, on" means one row per commit, with
synchronous_commit on. Other settings are measured with 50 rows per commit and synchronous_commit off. The CSV file
contains more combinations of tables, commits, and settings. The amount of WAL includes the WAL of all indexes. The keys
of `hmac_comb` are those of simulated programs whose clocks differ by up to 0.4 seconds. Before VACUUM, the oldest
twentieth of the rows is deleted. The WAL of VACUUM is divided by the number of deleted rows.""",
                   "table, age, commits or setting", "rows after a checkpoint",
                   ["wal_bytes_per_row", "index_bytes_per_row"], TO_RANDOM,
                   left_out={"wal_bytes_per_row": "1 a commit, off|50 a commit, on|shared_buffers"
                                                  "|^narrow.*(wal_|full_page_writes)",
                             "index_bytes_per_row": "^(?!.*5 years, 1 a commit, on)"}),
    "change": Scene("A table in use gets another default", """\
The table has 2,000,000 rows, each with a random key and a number. `ALTER TABLE ... ALTER id SET DEFAULT` changes how
new keys are generated, but changes neither the existing rows nor the index. After a checkpoint, either one INSERT adds
5,000 rows, using the server's clock, or rows are inserted at the given rate for 5 or 30 minutes of simulated time. The
size of the index is measured in another table, in which 500,000 new rows follow 500,000 rows with random keys. Most
random keys are greater than version 7 UUIDs, so new version 7 UUIDs are inserted between existing keys, not at the
right edge of the index. When a page that is not at the right edge is full, it is split in half, and ascending keys
never fill the left half.""",
                    "rows", "new rows", ["wal_bytes_per_row", "index_mb"], TO_RANDOM),
    "age": Scene("WAL over the age of the table", """\
A table with only a key and a number grows for five years. It receives rows in only 200 minutes of each 45.5-day cycle
of short COMBs. With rows in other minutes, too, the table would be larger, and random keys would cost more. These rows
would not affect the cost of short COMBs, which share pages only with short COMBs of the same minutes in other cycles.
Each measurement covers the rows of the five minutes after a checkpoint. Short COMBs have a run length of 1, as if a
separate transaction inserted each row.""",
                 "rate", "years", ["wal_bytes_per_row", "index_bytes_per_row"],
                 picture="WAL of an inserted row over the age of the table, by key"),
    "rates": Scene("Slow tables and fast ones", """\
Rows are inserted at a constant rate into a table with only a key and a number. A slow table receives few rows between
two checkpoints, and few rows whose keys share a prefix. Measurements begin at different moments of the hour. At the
higher rates, random keys would cause more WAL in a larger table. In the series "sessions of 8,000 rows", each session
inserts 8,000 rows before the next session begins. The size of the index does not depend on the time between
checkpoints.""",
                   "checkpoints", "rows a minute", ["wal_bytes_per_row", "index_bytes_per_row"], TO_RANDOM,
                   "WAL of an inserted row by the rate of the inserts, by key and time between two checkpoints",
                   {"index_bytes_per_row": "every (30|60) minutes"}),
    "speed": Scene("Rows a second", """\
Sessions insert one row per transaction, using the server's clock. The tables are those of the section [A usual
table](#a-usual-table), and contain the rows of a month. There is a checkpoint every 30 seconds. In each round, the keys
are measured one after another. From PostgreSQL 16 on, the server uses direct I/O, so the tables are cached only in
shared buffers.""",
                   "table and commits", "sessions", ["rows_per_s", "wal_bytes_per_row"],
                   [("keyed_comb", "random"), ("keyed_comb", "uuid_v7")]),
    "replay": Scene("Replay of the WAL", """\
The given number of rows is inserted after a checkpoint, and an immediate shutdown stops the server. Recovery replays
the WAL of these rows, as a standby does, and the server logs how long this takes. The operating system has cached the
files. From PostgreSQL 16 on, the replay is also measured with direct I/O, which disables prefetching during recovery.
The section [A usual table](#a-usual-table) describes the tables.""",
                    "table", "rows", ["replay_s"], TO_RANDOM),
    "bulk": Scene("Many rows at once", """\
A table with only a key and a number contains the rows of a year. After a checkpoint, many rows are inserted by one
INSERT, by eight sessions, or by one INSERT whose keys alternate among twelve areas. The server's clock is used.""",
                  "rows", "", ["wal_bytes_per_row", "reads_per_row"], [("keyed_comb", "uuid_v7")]),
    "delete": Scene("Deleting old rows", """\
The number of rows in the table remains constant. In each step, new rows are inserted, the same number of the oldest
rows is deleted, and VACUUM runs. The index is measured after all rows have been replaced the given number of times.""",
                    "rate", "replacements", ["index_bytes_per_row"]),
    "tenants": Scene("Primary keys that begin with a tenant", """\
The primary key is (tenant, id). All tenants together insert 200 rows a minute, and each row belongs to a random tenant.
The entries of a tenant are adjacent in the index, so the cost depends on the insert rate of each tenant. With one
tenant, the index resembles an index on the id alone, but its entries are larger.""",
                     "table", "rows after a checkpoint", ["wal_bytes_per_row", "index_bytes_per_row"],
                     [("keyed_comb", "uuid_v7")]),
    "areas": Scene("An area for each tenant", """\
Tenants share a table with only a key and a number. All tenants together insert 200 rows a minute, and each row belongs
to a random tenant. `keyed_comb()` is called with an area for each tenant, so that no tenant can date the keys of
another. New rows of different tenants go to different pages of the index, so with many tenants, the cost approaches
that of random keys. Each measurement covers 1,000 rows after a checkpoint.""",
                   "", "tenants", ["wal_bytes_per_row", "index_bytes_per_row"], [("random", "keyed_comb")]),
    "orders": Scene("An order with its lines", """\
Orders are inserted at a rate of 200 a minute. Each order has three lines, which refer to the order in an indexed
column. All keys are of the same kind. An order and its lines add four keys to the indexes of the primary keys, and
three to the index on the references. Another index contains the time of each order. The amount of WAL is that of an
order with its lines. Afterwards, with empty shared buffers, a query reads the newest 100 orders with their lines.""",
                    "", "", ["wal_bytes_per_row", "newest_blocks"], TO_RANDOM),
    "lists": Scene("A list page by page", """\
A list shows the newest rows first. For this list, a table of keyed COMBs needs a column with the time of the row, and
an index on this column and the key. A table of version 7 UUIDs needs only its primary key. (An application can hide
these keys with `mask_uuid_v7()`, which is not called here.) Each table also has a column with a number. Rows are
inserted at 200 a minute. Each measurement covers 1,000 rows after a checkpoint.""",
                   "", "", ["wal_bytes_per_row", "table_bytes_per_row"], [("keyed_comb", "uuid_v7")]),
    "commands": Scene("Commands that are executed once", """\
The columns compare kinds of command ids. Each transaction calls `create_once()` and, if the command is new, inserts a
row that consists of a keyed COMB and a number. Before the measurements, the given number of commands is recorded over
one simulated day. After a checkpoint, one session executes the commands of five minutes at this rate, either for the
first time ("first call") or again ("repetition"). In the series "first call beside a purge", another session deletes
one of the oldest commands for each new one. WAL written by the inserts and the purge is included. At the end, 2 % of
the recorded commands are purged, and the WAL of VACUUM is divided by their number. The CPU time is that of the server
process that executes the commands. It includes the inserts and the commits, and is taken from the fastest round. The
index is that of the primary key of the recorded commands.""",
                      "call", "commands of a day", ["wal_bytes_per_row", "fpi_per_row", "cpu_us_per_row", "index_mb"],
                      [("random", "uuid_v7"), ("named_v7", "uuid_v7")]),
    "entities": Scene("Ids that commands propose", """\
The columns compare kinds of proposed ids. `create_once()`, `create_once_bigint()` or `create_once_text()` records the
proposed id in an indexed column. The command ids are version 7 UUIDs, and the commands insert no rows. The commands of
five minutes are measured as described under [commands](#commands-that-are-executed-once), with and without the index on
the proposed ids. The size is that of this index.""",
                      "index", "commands of a day", ["wal_bytes_per_row", "fpi_per_row", "index_mb"],
                      [("random", "keyed_comb"), ("text_random", "text_keyed")]),
    "heat": Scene("Where new rows go in the index", """\
Each dot represents a row. The rows were inserted within three hours, at ten rows a minute. Random keys go to almost all
leaf pages of the index. Short COMBs go to the pages of the current minute, keyed COMBs go to the pages of the current
hour, and version 7 UUIDs go to the right edge of the index. If new rows go to few pages, these pages stay in memory and
cause few full-page images."""),
}
ABOUT = """\
Each figure is a mean, unless its heading states otherwise. If the measurements differ, the minimum and the maximum
follow in parentheses; in the pictures, they are the ends of the thin bars. A column with a colon in its heading
contains the ratio of the figures of two keys. The sign ~ replaces a ratio of throughputs or replay times whose ranges
overlap, and – replaces a missing figure. Times, and all figures of "Rows a second", depend on other load on the
machine. The amount of WAL is the difference between two values of `wal_bytes` in `pg_stat_wal`. It includes full-page
images, but neither alignment padding nor page headers. The clock is simulated, except in sections that mention the
server's clock. `bench/lab/sizes.txt` explains conditions such as `places` and `history`."""


def code(key):
    return f"`{key}`"


def table(head, rows):
    line = lambda cells: "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    return "\n".join([line(head), "|---|" + "--:|" * (len(head) - 1), *map(line, rows)])


def tables(run, name):
    """Return a table for each metric, with a row for each series and x, and a column for each key and ratio."""
    scene, keys = SCENES[name], run.scene_keys(name)
    series_of = run.series(name)
    places = sorted({(at[2], at[3]) for at in run.values if at[0] == name},
                    key=lambda place: (series_of.index(place[0]), place[1] or 0))
    first = [scene.series] * any(series for series, _ in places) + [scene.x] * any(x is not None for _, x in places)
    blocks = []
    for metric in scene.metrics:
        pattern = scene.left_out.get(metric)
        shown = [name for name in series_of if not (pattern and re.search(pattern, name))] or series_of
        ratios = [pair for pair in scene.ratios if metric in COSTS and set(pair) <= set(keys)]
        rows = []
        for series, x in places:
            stats = [run.values.get((name, key, series, x, metric)) for key in keys]
            if metric in SHORTEST:
                stats = [stat and stat._replace(mean=stat.low, high=stat.low) for stat in stats]
            if any(stats) and series in shown:
                at = ["" if x is None else short(x)] * (scene.x in first)
                at = [series] * (scene.series in first or not at) + at
                rows.append(at + [with_spread(stat) for stat in stats] + [
                    ratio(*(stats[keys.index(key)] for key in pair), metric in TIMED) for pair in ratios])
        if rows:
            head = (first or [""]) + [code(key) for key in keys] + [f"{one} : {other}" for one, other in ratios]
            blocks += [f"**{METRICS[metric]}**", table(head, rows)]
    return blocks


def heat(run):
    """Return the panels of the picture of places in the index, and their table."""
    panels = {}
    for key in ("random", "short_comb", "keyed_comb", "uuid_v7"):
        if touches := run.touches.get(key):
            panels[key] = touches, f"{len({touch.block for touch in touches}):,} of {touches[0].blocks:,.0f} pages"
    rows = [[code(key), f"{len(touches):,}", pages] for key, (touches, pages) in panels.items()]
    return panels, [table(["key", "rows", "leaf pages that they changed"], rows)] if rows else []


def picture_of(run, name, about):
    """Return the title of a picture and its SVG, or None."""
    scene = SCENES[name]
    if name == "heat":
        title = "Leaf page of the index to which each new row went, in the order of the inserts, by key"
        panels = heat(run)[0]
        return title, pictures.heat(title, about, run.colours, panels) if panels else None
    if not scene.picture:
        return None
    curves = {series: run.curves(name, "wal_bytes_per_row", series) for series in run.series(name)}
    panels = [(f"{series}: {METRICS['wal_bytes_per_row']}", found) for series, found in curves.items()
              if max(map(len, found.values()), default=0) > 2]
    return scene.picture, pictures.lines(scene.picture, about, run.colours, panels, scene.x, name == "rates")


def machine(settings):
    """Return those conditions of a run that most scenes share, by name."""
    version, memory = settings.get("server_version", "").split(), re.fullmatch(r"(\d+) kB", settings.get("memory", ""))
    facts = {"date": settings.get("date"),
             "version": version and f"PostgreSQL {version[0]}",
             "cores": settings.get("cores") and f"{settings['cores']} cores",
             "memory": memory and f"{int(memory.group(1)) / 1048576:.1f} GB of memory"}
    for name in ("full_page_writes", "wal_compression", "data_checksums"):
        facts[name] = settings.get(name) and f"{name} {settings[name]}"
    return {name: fact for name, fact in facts.items() if fact}


def common_conditions(run):
    """Return the result of machine() for most scenes."""
    counts = Counter(fact for runs in run.settings.values() for settings in runs for fact in machine(settings).items())
    return {name: max((fact for fact in counts if fact[0] == name), key=counts.get)[1] for name, _ in counts}


def conditions(run, scene):
    """Return a paragraph for each run in which a scene was measured, with its conditions except the common ones."""
    common, paragraphs = common_conditions(run), []
    for settings in run.settings.get(scene, []):
        of = {name.split(".", 1)[1].replace("_", " "): value
              for name, value in settings.items() if name.startswith(scene + ".")}
        buffers = of.pop("shared buffers", settings.get("shared_buffers", ""))
        parts = [fact for name, fact in machine(settings).items() if fact != common[name]]
        parts += [buffers and f"shared_buffers {buffers}"]
        parts += [f"{name} " + ", ".join(short(float(part)) if part.isdigit() else part for part in value.split(","))
                  for name, value in of.items() if (name, value) != ONE_SESSION]
        command = f"`bench/lab/{settings['command']}`" if settings.get("command") else ""
        stored = f" ([{settings['run']}](runs/{settings['run']}))" if settings.get("run") else ""
        facts = "; ".join(part for part in parts if part)
        paragraphs.append(f"Conditions: {facts}. Run: {command}{stored}.")
    return paragraphs


NO_MATPLOTLIB = "matplotlib is missing (Debian: python3-matplotlib)"


def write_report(run, out):
    body = []
    for name, scene in SCENES.items():
        blocks = heat(run)[1] if name == "heat" else tables(run, name)
        if not blocks:
            continue
        about = " ".join(scene.about.split())
        body += [f"## {scene.heading}", about]
        if not pictures.matplotlib:
            body += [f"No picture: {NO_MATPLOTLIB}."] * bool(scene.picture or name == "heat")
        elif (picture := picture_of(run, name, about)) and picture[1]:
            with open(os.path.join(out, name + ".svg"), "w", encoding="utf-8") as file:
                file.write(picture[1])
            body.append(f"![{picture[0]}]({name}.svg)")
        body += conditions(run, name) + blocks
    keys = table(["key", "type", "expression"],
                 [[code(key), run.types.get(key, ""), code(run.labels.get(key, key))] for key in run.keys])
    about = " ".join(ABOUT.split())
    if common := common_conditions(run):
        about += f" Unless a section states otherwise, the conditions are: {'; '.join(common.values())}."
    blocks = ["# What a primary key costs", about, "## Keys", keys, *body]
    with open(os.path.join(out, "report.md"), "w", encoding="utf-8") as file:
        file.write("\n\n".join(blocks) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", metavar="FOLDER", nargs="+",
                        help="a folder that run.sh wrote, or a parent of such folders")
    parser.add_argument("--out", metavar="FOLDER", help="write the report to this folder (default: the first)")
    parser.add_argument("--store", metavar="FILE",
                        help="only store the part of a run that the report needs in this file, as in docs/report/runs")
    arguments = parser.parse_args()

    run = Run(arguments.folders)
    if not run.keys:
        warn(f"nothing was measured in {', '.join(arguments.folders)}")
        return 1
    if arguments.store:
        run.store(arguments.store)
        return 0
    out = arguments.out or arguments.folders[0]
    os.makedirs(out, exist_ok=True)
    if not pictures.matplotlib:
        warn(f"no pictures: {NO_MATPLOTLIB}")
    write_report(run, out)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, RuntimeError) as error:
        warn(error)
        sys.exit(1)
