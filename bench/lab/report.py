#!/usr/bin/python3
"""Write the report of runs of the laboratory: report.md and the pictures, *.svg.

Reads the files that run.sh and long.sh wrote to the folders and to the folders in them
(measurements.csv, keys.csv, settings.csv, touches.csv). Missing files, scenes, keys and
metrics are left out, so that an interrupted run has a report too. The same input gives
the same output, byte for byte.
"""

import argparse
import os
import re
import sys

sys.dont_write_bytecode = True      # no files beside the sources

from reporting import pictures
from reporting.measurements import BASES, LIMITS, Run, metric_title, ratio, short, stat_of, warn, with_spread

COST = ["wal_bytes_per_row", "fpi_per_row"]
INDEX = ["index_bytes", "leaf_density", "leaf_pages", "touched_leaf_pages"]


def code(key):
    return f"`{key}`"


def table(head, rows):
    line = lambda cells: "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    return "\n".join([line(head), "|---|" + "--:|" * (len(head) - 1), *map(line, rows)])


# --- parts of sections --------------------------------------------------------


def of_keys(run, scene, metrics, series=""):
    """[a table] with a row for each key and a column for each metric; those of costs
    have columns of ratios to the bases."""
    metrics = [metric for metric in metrics if any(run.stat(scene, key, metric, series) for key in run.keys)]
    keys = [key for key in run.keys if any(run.stat(scene, key, metric, series) for metric in metrics)]
    head, rows = ["key"], [[code(key)] for key in keys]
    for metric in metrics:
        bases = [base for base in BASES if base in keys and metric in ("wal_bytes_per_row", "rows_per_s")]
        head += [metric_title(metric)] + [": " + base for base in bases]
        for row, key in zip(rows, keys):
            stat = run.stat(scene, key, metric, series)
            row.append(with_spread(stat, metric))
            row += ["1" if base == key else ratio(metric, stat, run.stat(scene, base, metric, series)) for base in bases]
    return [table(head, rows)] if rows else []


def summary(run, level):
    """The tables of steady and bulk, with headings of that level."""
    metrics = [*COST, "index_bytes", "leaf_density"]
    return [block for scene in ("steady", "bulk") if (tables := of_keys(run, scene, metrics))
            for block in (f"{level} {scene.capitalize()}", *tables)]


def by_x(run, scene, metrics, xname, series=("",), pairs=()):
    """A table for each metric: a row for each key and series, a column for each x, and
    rows of the ratios of the pairs of keys."""
    blocks = []
    for metric in metrics:
        rows = {(key, name): dict(curve) for key in run.keys for name in series if (curve := run.curve(scene, key, metric, name))}
        xs = sorted({x for row in rows.values() for x in row})
        if not xs:
            continue
        cells = [[f"{code(key)} {name}".strip(), *(with_spread(row.get(x), metric) for x in xs)] for (key, name), row in rows.items()]
        cells += [[f"{code(one)} : {code(other)} {name}".strip(),
                   *(ratio(metric, rows[one, name].get(x), rows[other, name].get(x)) for x in xs)]
                  for name in series for one, other in pairs
                  if metric == "wal_bytes_per_row" and {(one, name), (other, name)} <= set(rows)]
        blocks += [f"**{metric_title(metric)}**", table([xname] + [short(x) for x in xs], cells)]
    return blocks


def curves(run, scene, metric, series=""):
    return {key: curve for key in run.keys if (curve := run.curve(scene, key, metric, series))}


def stats(run, scene, metric, series=""):
    return {key: stat for key in run.keys if (stat := run.stat(scene, key, metric, series))}


def conditions(run, scene):
    """The server, the machine and the sizes of the runs in which a scene was measured."""
    dates = {}      # facts: [the date of a run, ...]
    commands = {}   # the files of stored runs, and their commands
    for settings in run.settings.get(scene, []):
        of = {name.split(".", 1)[1].replace("_", " "): value
              for name, value in settings.items() if name.startswith(scene + ".")}
        buffers = of.pop("shared buffers", settings.get("shared_buffers", ""))
        memory = re.fullmatch(r"(\d+) kB", settings.get("memory", ""))
        parts = [f"PostgreSQL {settings['server_version'].split()[0]}" if settings.get("server_version") else "",
                 f"{settings['cores']} cores" if settings.get("cores") else "",
                 f"{int(memory.group(1)) / 1048576:.1f} GB of memory" if memory else "",
                 f"shared_buffers {buffers}" if buffers else ""]
        shown = ("synchronous_commit", "full_page_writes", "wal_compression", "autovacuum") + ("checkpoint_timeout",) * (scene == "long")
        parts += [f"{name} {settings[name]}" for name in shown if settings.get(name)]
        parts += [f"{name} " + ", ".join(short(float(part)) if part.isdigit() else part for part in value.split(","))
                  for name, value in of.items()]
        parts.append(settings.get("note", ""))      # written into a stored run by hand
        dates.setdefault("; ".join(filter(None, parts)), {})[settings.get("date", "")] = None
        if settings.get("command"):
            stored = f" ([{settings['run']}](runs/{settings['run']}))" if settings.get("run") else ""
            commands[f"`bench/lab/{settings['command']}`{stored}"] = None
    facts = ["; ".join(filter(None, (", ".join(filter(None, dates[rest])), rest))) for rest in dates]
    return ["Conditions: " + ". ".join(facts) + "." + (f" Run: {', '.join(commands)}." if commands else "")] if any(facts) else []


# --- scenes ----------------------------------------------------------------------
#
# A function's docstring says in the report how the scene was measured. It returns the heading, the
# picture or None, and the tables. A picture is (a function of pictures, the title, its arguments ...).


def curve(run):
    """The first change of a page after a checkpoint writes the whole page to the WAL; the more rows are inserted between
    two checkpoints, the more rows share that. Each point is a checkpoint and the given number of rows, at the rate that
    takes five minutes for them, loaded into a table of that rate whose short COMBs began again with 0 in its middle: this
    is their first cycle. They have no runs, as if each row came in a transaction of its own; the clock is simulated.
    Shared buffers are smaller than the index: a random key must also read a block for nearly every row."""
    pairs = [("random", "short_comb"), ("random", "uuid_v7"), ("short_comb", "uuid_v7")]
    return ("Rows between two checkpoints, with checkpoints every five minutes",
            (pictures.lines, "WAL of an inserted row and index blocks read for it, by the number of rows between two checkpoints",
             [(None, metric, curves(run, "curve", metric)) for metric in ("wal_bytes_per_row", "reads_per_row")],
             "rows inserted between two checkpoints, with checkpoints every five minutes (log scale)", True),
            by_x(run, "curve", ["wal_bytes_per_row", "fpi_per_row", "reads_per_row", "index_bytes_per_row", "leaf_density"],
                 "rows between checkpoints", pairs=pairs))


def age(run):
    """Five years of a table: of each cycle of the short prefix (65536 minutes), the same minutes are filled at the given
    rate, because only rows of the same minutes share pages with them. A measurement is a checkpoint and the rows of
    five minutes, at six places of the cycle. The clock is simulated, and short COMBs have no runs, as if each row came
    in a transaction of its own. Shared buffers are small, so that the index blocks that are read count. A table filled
    in full has many more rows: for random keys, WAL and reads are lower bounds."""
    in_full = [name for name in run.scene_series("age") if name.endswith(" in full")]
    series = [name for name in run.scene_series("age") if name not in in_full]
    tables = [by_x(run, "age", ["wal_bytes_per_row", "reads_per_row", "index_bytes_per_row"], "years", names,
                   [("keyed_comb", "uuid_v7"), ("short_comb", "uuid_v7")]) for names in (series, in_full)]
    return ("WAL over the age of the table",
            (pictures.lines, "WAL of an inserted row over the age of the table, by key",
             [(name, "wal_bytes_per_row", curves(run, "age", "wal_bytes_per_row", name)) for name in series], "age of the table, years"),
            tables[0] + (["As a check, three cycles of a table that is filled in full:", *tables[1]] if in_full else []))


def rates(run):
    """The WAL of a row by the rows a minute, for several times between two checkpoints: a slow table inserts few rows
    between two of them, and few with one prefix of a keyed COMB. The clock is simulated; the rows of an interval are
    measured at twelve places. In a larger table, random keys would cost more at the higher rates."""
    series = run.scene_series("rates")
    return ("Slow tables and fast ones",
            (pictures.lines, "WAL of an inserted row by the rate of the inserts, by key and time between two checkpoints",
             [(key, "wal_bytes_per_row", {name: curve for name in series if (curve := run.curve("rates", key, "wal_bytes_per_row", name))})
              for key in run.keys], "rows a minute (log scale)", True, True),
            by_x(run, "rates", ["wal_bytes_per_row", "index_bytes_per_row"], "rows a minute", series, [("keyed_comb", "uuid_v7")]))


def disk(run):
    """Each page that a row changes is written to the disk until the end of the next checkpoint, also with `full_page_writes`
    off, as on ZFS. Counted are the distinct pages of the table and its index that the records in the WAL change, each as a
    whole. The table gets 200 rows a minute, by a simulated clock; checkpoints are as far apart as it takes for the given
    rows. A name and a value is a setting other than in the conditions. Then the oldest rows are deleted; the WAL of the VACUUM
    that follows is divided by their number."""
    series = [name for name in run.scene_series("disk") if name != "VACUUM"]
    vacuum = of_keys(run, "disk", ["wal_bytes_per_row"], "VACUUM")
    return ("What reaches the disk", None,
            by_x(run, "disk", ["disk_bytes_per_row", "wal_bytes_per_row", "changed_pages_per_row"], "rows between checkpoints", series,
                 [("keyed_comb", "uuid_v7")]) + (["VACUUM, a deleted row:", *vacuum] if vacuum else []))


def backup(run):
    """The size of the index in an incremental backup, as `pg_basebackup` makes it from PostgreSQL 17 on, some hours after the full
    one: the pages that were changed since then, or the whole file, if these are nearly all. Below, the size of the index
    then. The table gets 200 rows a minute, by a simulated clock."""
    return ("An incremental backup", None, by_x(run, "backup", ["incremental_bytes", "index_bytes"], "hours since the full backup"))


def orders(run):
    """An order has three lines and, later, a payment; a foreign key with an index leads from both to the order. All have keys
    of the same kind. An order and its lines are seven entries of indexes of such keys, and one of the order's time; a payment
    is two. There are 200 orders a minute, by a simulated clock; their WAL, and that of the payments made in the same
    time, is of all tables, after a checkpoint. Then, with empty shared buffers, queries read the newest 100 orders with
    their lines, 100 orders of 1.2 times the delay of a payment ago with lines and payments, and 1,000 orders in the order of
    the key, from the middle of the table on. The correlation is that of the key with the place of the row in the
    table."""
    return ("An order with its lines", None,
            of_keys(run, "orders", ["wal_bytes_per_order", "wal_bytes_per_payment", "blocks_newest", "blocks_older", "blocks_by_key",
                                    "correlation"]))


def long(run):
    """Sessions insert one row of about 150 bytes a transaction, in each configuration for the given number of seconds
    after a warm-up, with autovacuum and regular checkpoints, into an index larger than the memory that the server may
    use; a replica is on the same machine. WAL and images include those of autovacuum, which freezes the loaded rows
    when a fifth as many were inserted. The history is of 30 days, so that short COMBs are in their first cycle. The spread
    is that of the intervals. "Once more" is a repetition on another day, with today's rule of keyed COMBs."""
    lag = ["The lag is the age of the last commit that the replica has replayed, negative if it came after the start of the "
           "statement that reads it; the replica has caught up before each configuration, and with direct I/O does not "
           "prefetch."] if run.scene_has("long", "replica_lag_ms") else []
    series = run.scene_series("long")
    first = ["rows_per_s", "latency_p50_ms", "latency_p99_ms", "latency_p999_ms", "wal_bytes_per_row", "fpi_per_row"]
    then = ["reads_per_row", "heap_reads_per_row", "checkpoint_bytes", "backend_bytes", "rows_per_checkpoint", "index_bytes", "heap_bytes",
            "replica_lag_ms", "replica_lag_slope"]
    return ("A long run",
            (pictures.bars, "Rows inserted per second in a long run, by configuration",
             [(name.replace("; ", "\n"), stats(run, "long", "rows_per_s", name)) for name in series]),
            [block for name in series
             for block in (f"**{name}**", *of_keys(run, "long", first, name), *of_keys(run, "long", then, name))] + lag)


def places(run):
    """Each dot is an inserted row; some hundred are drawn. Random keys go to all leaf pages of the index; those of a short
    COMB to the pages of the current minute, those of a keyed COMB to the pages of its prefix, and those of
    version 7 to the right edge. Few pages stay in memory, and cause few full-page images."""
    shown = {key: run.touches[key] for key in ("random", "short_comb", "keyed_comb", "uuid_v7") if key in run.touches}
    shown = shown or {key: run.touches[key] for key in list(run.touches)[:3]}
    pages = {}
    for key, touches in shown.items():
        touched, before = (run.median("steady", key, metric) for metric in ("touched_leaf_pages", "leaf_pages"))
        pages[key] = f"{touched:,.0f} of {before:,.0f} pages" if touched and before else f"{len({touch.block for touch in touches}):,} pages"
    return ("Where new rows go in the index",
            (pictures.heat, "Leaf page of the index to which each new row went, in the order of the inserts, by key",
             {key: (touches, pages[key]) for key, touches in shown.items()}),
            [table(["key", "rows drawn", "pages that all rows touched"],
                   [[code(key), f"{len(touches):,}", pages[key]] for key, touches in shown.items()])])


def steady(run):
    """A table with a history of days until now, a checkpoint, and then one row in each transaction. The size with short
    COMBs depends on where in a cycle of their prefix the history begins."""
    return ("One row a transaction",
            (pictures.bars, "One row a transaction: WAL of an inserted row, and size of the index, by key",
             [(metric_title(metric), stats(run, "steady", metric)) for metric in ("wal_bytes_per_row", "index_bytes")]),
            of_keys(run, "steady", COST) + of_keys(run, "steady", INDEX))


def bulk(run):
    """A table whose rows are all of one minute, a checkpoint, and then many more rows of that minute in one INSERT."""
    return ("Many rows within one minute", None, of_keys(run, "bulk", COST) + of_keys(run, "bulk", INDEX))


def tenants(run):
    """A table with the primary key (tenant, id), into which all tenants together insert 200 rows a minute, each row of a
    tenant at random. A tenant's rows are side by side in the index, so the rate of each tenant counts: with one tenant,
    the index is as one of the id alone, but for the wider key. The clock is simulated; the rows are measured at six
    places."""
    return ("Primary keys that begin with a tenant", None,
            by_x(run, "tenants", ["wal_bytes_per_row", "index_bytes_per_row", "leaf_density"], "rows between checkpoints",
                 run.scene_series("tenants")))


def reindex(run):
    """REINDEX, or a restore, fills pages to the fillfactor of the index, 90 % by default; then new keys split full pages
    among the old ones. Growth is that of the index over all rows inserted since, divided by their number; WAL is that of
    the rows of some minutes after a checkpoint, at twelve places of them; the size is that of the index there. The clock
    is simulated."""
    return ("After REINDEX", None, by_x(run, "reindex", ["growth_bytes_per_row", "wal_bytes_per_row", "index_bytes_per_row"], "rows a minute",
                                        run.scene_series("reindex")))


def delete(run):
    """A table of constant size: the oldest rows are deleted, as many new ones are inserted, and VACUUM follows, in steps.
    After each window, all rows have been replaced once. The size is that of the index, divided by the rows of the
    table."""
    return ("Deleting old rows", None, by_x(run, "delete", ["leaf_density", "index_bytes_per_row"], "window", run.scene_series("delete")))


def changeover(run):
    """A table has random keys of version 4, and its default changes to another key. Beside it, one keeps its random keys
    (unchanged), and one had keys of version 7 from the start. Growth is that of the index since the change, divided by
    the rows since then; the spread of a step includes its growth."""
    return ("Changing the default of a table with random keys", None,
            by_x(run, "changeover", COST + ["growth_bytes_per_row", "leaf_density"], "rows since the change", run.scene_series("changeover")))


def model(run):
    """What `idgen.expected_key_cost()` predicts, divided by what was measured, of all measured keys; medians of the
    repetitions."""
    rows = []
    for metric, limit in LIMITS.items():
        points = {}     # {scene: [ratio, ...]}
        for scene, key, series, x, name in run.values:
            if name == "predicted_" + metric and (measured := run.median(scene, key, metric, series, x)):
                points.setdefault(scene, []).append(run.median(scene, key, name, series, x) / measured)
        rows += [[scene, metric_title(metric), f"{min(found):.2f}", f"{stat_of(found).median:.2f}", f"{max(found):.2f}",
                  f"{sum(abs(part - 1) <= limit for part in found)} of {len(found)} within {limit * 100:.0f} %"] for scene, found in points.items()]
    return ("Model and measurement", None, [table(["scene", "metric", "least", "median", "greatest", "near"], rows)] if rows else [])


# --- the report -----------------------------------------------------------------

SCENES = {"age": age, "rates": rates, "disk": disk, "backup": backup, "orders": orders, "curve": curve, "tenants": tenants,
          "long": long, "heat": places, "steady": steady, "bulk": bulk, "delete": delete, "reindex": reindex, "changeover": changeover,
          "model": model}
ABOUT = """Figures are medians, with the least and the greatest of the repetitions in brackets, and as thin bars in the
pictures. Columns that begin with a colon are ratios; ~ means that the ranges overlap, and – that there is no such figure,
or only one measurement of a time. Each scene has its conditions. WAL is the difference of `wal_bytes` of `pg_stat_wal`,
of the whole server: the records with their full-page images, without alignment and page headers.""".replace("\n", " ")


def anchor(heading):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


NO_MATPLOTLIB = "matplotlib is missing (Debian: python3-matplotlib)"


def write_report(run, out):
    body, headings = [], ["Keys"]
    for scene, write in SCENES.items():
        if not (run.touches if scene == "heat" else run.scene_has(scene) or scene == "model"):
            continue
        about = " ".join(write.__doc__.split())
        heading, picture, tables = write(run)
        if not tables:
            continue
        headings.append(heading)
        body += [f"## {heading}", about]
        if picture and not pictures.matplotlib:
            body.append(f"No picture: {NO_MATPLOTLIB}.")
        elif picture and (svg := picture[0](picture[1], about, run.colours, *picture[2:])):
            with open(os.path.join(out, scene + ".svg"), "w", encoding="utf-8") as file:
                file.write(svg)
            body.append(f"![{picture[1]}]({scene}.svg)")
        body += conditions(run, "steady" if scene == "heat" else scene) + tables
    if len(run.keys) < len(run.all_keys):
        run.keys = run.all_keys
        if rest := summary(run, "###"):
            headings.append("All keys")
            body += ["## All keys", "The scenes of one row a transaction (steady) and many rows within one minute (bulk).", *rest]
    keys = ["## Keys", table(["key", "type", "expression"],
                             [[code(key), run.types.get(key, ""), code(run.labels.get(key, key))] for key in run.keys])]
    blocks = ["# What a primary key costs", ABOUT, "\n".join(f"- [{heading}](#{anchor(heading)})" for heading in headings), *keys, *body]
    with open(os.path.join(out, "report.md"), "w", encoding="utf-8") as file:
        file.write("\n\n".join(blocks) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", metavar="FOLDER", nargs="+", help="a folder of run.sh or long.sh, or one of such folders")
    parser.add_argument("--out", metavar="FOLDER", help="write the report to this folder (default: the first)")
    parser.add_argument("--keys", metavar="A,B,...", help="the keys of the report, or all "
                        "(default: those that the run named, or the main keys and the user's)")
    parser.add_argument("--store", metavar="FILE", help="only write what the report needs of a run to this file, as docs/report/runs has it")
    parser.add_argument("--summary", action="store_true", help="only print the tables of steady and bulk, of all keys")
    arguments = parser.parse_args()

    run = Run(arguments.folders)
    if arguments.store and run.keys:
        run.store(arguments.store)
        return 0
    if not run.keys:
        warn(f"nothing was measured in {', '.join(arguments.folders)}")
        return 1
    if arguments.summary:
        sys.stdout.reconfigure(encoding="utf-8")
        print("\n\n".join(summary(run, "##")))
        return 0
    out = arguments.out or arguments.folders[0]
    os.makedirs(out, exist_ok=True)
    run.show(arguments.keys)
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
