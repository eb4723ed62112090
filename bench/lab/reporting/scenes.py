"""The sections of the report: a function for each scene."""

import statistics
from collections import namedtuple

from .claims import claims, compared, differ, ratio_text, sentence
from .measurements import (BASES, LOOKS, MAIN_KEYS, MASKED, WAL_KINDS, code, duration, figure, listed, metric_title, short, stat_of,
                           times, with_spread)
from .pages import Heading, Table
from .pictures import Line, bars, heat_strips, lines, pages, period_lines, period_parts, stacked_wal

# A section: what the figures say (sentences), its pictures (None where there is
# too little data), how it was measured, and its tables.
Section = namedtuple("Section", "scene heading says pictures about tables")

COST = ["rows_per_s", "wal_bytes_per_row", "fpi_per_row"]
INDEX = ["index_bytes", "leaf_density", "leaf_fragmentation", "leaf_pages", "touched_leaf_pages",
         "hit_ratio", "reads_per_row", "cached_bytes"]
RATIOS = COST[:2] + ["us_per_row"]      # the metrics with columns of ratios

# The pairs of keys that sentences compare.
AGAINST_RANDOM = ("random", "short_comb")
AGAINST_V7 = ("short_comb", "uuid_v7")

# --- parts of sections --------------------------------------------------------


def compare(run, scene, metric, *pairs, series="", x=None):
    """Clauses that compare pairs of keys at a point of a scene."""
    return claims(run.stats(scene, metric, series, x), metric, *pairs)


def ends(run, scene, metric="wal_bytes_per_row"):
    """The first and the last x."""
    xs = run.xs(scene, metric)
    return (xs[0], xs[-1]) if xs else (None, None)


def rows_of(run, scene, series=""):
    """{key: function of a metric that returns its Stat}, for columns_table."""
    return {key: lambda metric, key=key: run.stat(scene, key, metric, series) for key in run.keys}


def columns_table(rows, metrics):
    """[a table] with a row for each key, and a column for each metric and ratio."""
    metrics = [metric for metric in metrics if any(row(metric) for row in rows.values())]
    rows = {key: row for key, row in rows.items() if any(row(metric) for metric in metrics)}
    head, cells = ["key"], [[code(key)] for key in rows]
    for metric in metrics:
        stats = {key: row(metric) for key, row in rows.items()}
        bases = [base for base in rows if base.split()[0] in BASES and metric in RATIOS]
        head += [metric_title(metric)] + [":\u00a0" + base for base in bases]
        for line, stat in zip(cells, stats.values()):
            line += [with_spread(stat, metric)] + [ratio_text(metric, stat, stats[base]) for base in bases]
    return [Table(head, cells)] if cells else []


def wide_tables(run, scene):
    """The tables of the scenes in which a key has one point."""
    return [table for metrics in (COST, INDEX, [kind[0] for kind in WAL_KINDS]) for table in columns_table(rows_of(run, scene), metrics)]


def series_tables(run, scene, metrics):
    """A table for each series; metrics = {series: [metric, ...]}."""
    return [block for series, shown in metrics.items() if (table := columns_table(rows_of(run, scene, series), shown))
            for block in (Heading(3, series.capitalize()), *table)]


def key_lines(run, scene):
    return [Line(key, run.looks[key], lambda metric, key=key: run.curve(scene, key, metric)) for key in run.keys]


def some(items, most=7):
    """At most that many items, evenly spaced, with the first and the last."""
    if len(items) <= most:
        return items
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]


def sweep_tables(drawn, metrics, xname, xtext=short):
    """A table for each metric: a row for each line, a column for each x."""
    blocks = []
    for metric in metrics:
        curves = {line.name: dict(curve) for line in drawn if (curve := line.curve(metric))}
        xs = some(sorted({x for curve in curves.values() for x in curve}))
        if xs:
            blocks += [Heading(3, metric_title(metric)),
                       Table([xname] + [xtext(x) for x in xs],
                             [[code(name)] + [with_spread(curve.get(x), metric) for x in xs] for name, curve in curves.items()])]
    return blocks


# --- scenes of one point ------------------------------------------------------


def heat_section(run):
    keys = [key for key in run.keys if run.touches.get(key)]
    first = [key for key in keys if key in MAIN_KEYS or key not in LOOKS] or keys
    others = [key for key in keys if key not in first]
    title = "Leaf page of the index to which each new row went, in the order of the inserts"
    touched = {key: run.stat("steady", key, "touched_leaf_pages") or stat_of([float(len(pages(run.touches[key])))]) for key in keys}
    rows = [[code(key), f"{len(run.touches[key]):,}", f"{len(pages(run.touches[key])):,}",
             "–" if (blocks := run.touches[key][-1].blocks) is None else f"{blocks:,.0f}"] for key in keys]
    return Section(
        "heat", "Where new rows go in the index",
        sentence("With one row a transaction", claims(touched, "touched_leaf_pages", AGAINST_RANDOM)),
        [heat_strips(run, "heat", title + ", by key", first, 220, 2000),
         heat_strips(run, "heat-others", title + ": the other keys", others, 130, 800) if others else None],
        "Time runs to the right; the place of the leaf page in the index, in key order, is upwards. Random keys go to all pages. Keys that follow "
        "the time go to few pages, which stay in memory and of which a checkpoint causes few full-page images.",
        [Table(["key", "rows drawn", "different pages among these", "blocks of the index"], rows)])


def steady_section(run):
    against_random = compare(run, "steady", "wal_bytes_per_row", AGAINST_RANDOM)
    against_v7 = [clause for clause in compare(run, "steady", "wal_bytes_per_row", AGAINST_V7) if clause not in against_random]
    heading = "One row a transaction"
    title = heading + ": WAL bytes of an inserted row, by key"
    return Section(
        "steady", heading,
        sentence("With one row a transaction", against_random)
        + sentence("With one row a transaction", against_v7, compare(run, "steady", "index_bytes", AGAINST_V7)),
        [stacked_wal(run, "steady", title, "steady") or bars(run, "steady", title, [("steady", "wal_bytes_per_row", "", metric_title("wal_bytes_per_row"))])],
        "A table with a history of days, a checkpoint, and then one row in each transaction. A full-page image is a copy of a page, written at "
        "its first change after a checkpoint; records describe the changes.",
        wide_tables(run, "steady"))


def bulk_section(run):
    heading = "Many rows within one minute"
    return Section(
        "bulk", heading,
        sentence("In a bulk load within one minute", compare(
            run, "bulk", "wal_bytes_per_row", AGAINST_RANDOM, AGAINST_V7, ("short_comb_run", "uuid_v7"))),
        [bars(run, "bulk", heading + ": WAL bytes of an inserted row, and rows inserted per second, by key",
              [("bulk", metric, "", metric_title(metric)) for metric in ("wal_bytes_per_row", "rows_per_s")])],
        "A table whose rows are all of one minute, a checkpoint, and then many more rows of that minute in one INSERT. "
        "Within its period, a short COMB without runs is random.",
        wide_tables(run, "bulk"))


def read_section(run):
    series = [name for name in ("recent", "random", "range") if name in run.scene_series("read")]
    series += [name for name in run.scene_series("read") if name not in series]
    panels = [("read", "us_per_row", "recent", "newest rows, µs/row"),
              ("read", "reads_per_row", "recent", "newest rows, blocks/row"),
              ("read", "reads_per_row", "random", "any rows, blocks/row")]
    return Section(
        "read", "Reading",
        sentence("To look up the newest rows by their key", compare(run, "read", "us_per_row", AGAINST_RANDOM, AGAINST_V7, series="recent")),
        [bars(run, "read", "Time and index blocks read to look up the newest rows, and index blocks for rows of any age, by key", panels)],
        "The newest rows (recent), rows of any age (random) and the rows of a time range (range), looked up by their key, from empty shared buffers. "
        "Blocks are those of the index that had to be read. Ranges need a key from which the time can be computed.",
        series_tables(run, "read", dict.fromkeys(series, ["us_per_row", "hit_ratio", "reads_per_row"])))


def serializable_section(run):
    kinds = {"read and insert": "Of transactions that read the keys before their own", "insert": "Of transactions that only insert"}
    return Section(
        "serializable", "Serializable transactions",
        [text for series, where in kinds.items() for text in sentence(where, compare(
            run, "serializable", "failure_share", ("bigint", "random"), ("bigint", "short_comb"), series=series))],
        [bars(run, "serializable", "Share of serializable transactions that fail with 40001, by key",
              [("serializable", "failure_share", series, f"{series}, % failed") for series in kinds])],
        "Transactions of several sessions with the isolation level SERIALIZABLE insert one row each. In the first kind, each also reads the ten keys "
        "before its own. The share is that of the transactions that fail with a serialization failure (40001) and must be repeated.",
        series_tables(run, "serializable", dict.fromkeys(kinds, ["failure_share", "rows_per_s", "us_per_row"])))


def masked_section(run):
    says = lambda metric, other, series="insert": compare(run, "masked", metric, (MASKED, other), series=series)
    return Section(
        "masked", "Ordered inside, masked outside",
        sentence("", says("index_bytes", "short_comb"), says("wal_bytes_per_row", "short_comb"))
        + sentence("For an insert", says("us_per_row", "uuid_v7")) + sentence("For a lookup", says("us_per_row", "uuid_v7", "lookup")),
        [bars(run, "masked", "Index size, WAL, and time to insert and to look up a row, with masked keys and with others",
              [("masked", metric, "insert", metric_title(metric)) for metric in ("index_bytes", "wal_bytes_per_row")]
              + [("masked", "us_per_row", series, f"{series}, µs/row") for series in ("insert", "lookup")])],
        "The table of `masked` stores `uuid_v7()`, and clients see `mask_uuid_v7(id)`: the time of an insert includes the mask, "
        "that of a lookup its inverse.",
        series_tables(run, "masked", {"insert": COST + ["us_per_row"] + INDEX[:2], "lookup": ["us_per_row", "reads_per_row", "hit_ratio"]}))


# --- scenes of lines ----------------------------------------------------------


def sweep_section(run, scene, heading, says, title, about, drawn, others, xname, xlabel, xtext=short, **options):
    """A section of lines over x: a panel for each metric drawn, a table for each."""
    curves = key_lines(run, scene)
    return Section(scene, heading, says, [lines(scene, title, curves, drawn, xlabel, xtext=xtext, **options)], about,
                   sweep_tables(curves, drawn + others, xname, xtext))


def outgrow_section(run):
    last = ends(run, "outgrow")[1]
    return sweep_section(
        run, "outgrow", "The index outgrows shared_buffers",
        sentence(f"With an index of {times(last)} shared_buffers", *(
            compare(run, "outgrow", metric, AGAINST_RANDOM, x=last) for metric in ("rows_per_s", "wal_bytes_per_row"))) if last else [],
        "Rows inserted per second and WAL bytes of a row as the index outgrows shared_buffers, by key",
        f"The same inserts into an index of a fraction to a multiple of shared_buffers ({run.settings.get('outgrow.shared_buffers') or 'see settings'} in this scene). "
        "A page that is not in memory must be read before a row can be inserted into it; the operating system may have it in memory.",
        ["rows_per_s", "wal_bytes_per_row"], ["reads_per_row", "hit_ratio"],
        "index : shared_buffers", "size of the index, divided by shared_buffers", times, xlog=2)


def memory_section(run):
    first, last = ends(run, "memory", "rows_per_s")
    said = []
    for key in ("random", "short_comb", "uuid_v7"):
        stats = [run.stat("memory", key, "rows_per_s", "", x) for x in (first, last)]
        if all(stats):
            change = stats[1].median / stats[0].median
            said.append(f"the throughput of {code(key)} " + ("does not change measurably" if not differ("rows_per_s", *stats)
                                                            else f"{'falls' if change < 1 else 'rises'} to {change * 100:.0f} %")
                        + f" ({figure(stats[0].median)} and {figure(stats[1].median)} rows/s)")
    return sweep_section(
        run, "memory", "The index outgrows all memory",
        sentence(f"While the index grows from {times(first)} to {times(last)} shared_buffers, and nothing else has it in memory", said) if said else [],
        "Rows inserted per second as the index outgrows the memory, without a cache of the operating system, by key",
        "As before, with direct I/O (`debug_io_direct`): a page that is not in shared_buffers "
        f"({run.settings.get('memory.shared_buffers') or 'see settings'} in this scene) must be read from the device.",
        ["rows_per_s"], ["reads_per_row", "wal_bytes_per_row"],
        "index : shared_buffers", "size of the index, divided by shared_buffers", times, xlog=2, height=240)


def checkpoint_section(run):
    return sweep_section(
        run, "checkpoint", "Rows between checkpoints",
        [text for x in dict.fromkeys(ends(run, "checkpoint")) if x
         for text in sentence(f"With {short(x)} rows between two checkpoints", compare(
             run, "checkpoint", "wal_bytes_per_row", AGAINST_RANDOM, x=x))],
        "WAL bytes of an inserted row by the number of rows between two checkpoints, by key",
        "The first change of a page after a checkpoint writes the whole page to the WAL. "
        "The more rows are inserted between two checkpoints, the more rows share this cost.",
        ["wal_bytes_per_row"], ["fpi_per_row", "rows_per_s"], "rows between checkpoints", "rows between two checkpoints", xlog=10, height=330)


def period_section(run):
    key = run.scene_keys("period")[0]
    metrics = ["wal_bytes_per_row", "leaf_density", "index_bytes_per_row"]
    order = sorted(run.scene_series("period"), key=lambda text: [part or 0 for part in reversed(period_parts(text))] + [text])
    says, tables = [], []
    for metric in metrics:
        xs = run.xs("period", metric)
        rows = {series: {x: stat for x in xs if (stat := run.stat("period", key, metric, series, x))} for series in order}
        if xs:
            tables += [Heading(3, metric_title(metric)),
                       Table(["period"] + [duration(x) for x in xs],
                             [[series or "–"] + [with_spread(row.get(x), metric) for x in xs] for series, row in rows.items() if row])]
        # the periods of one rate and run length: without runs, at the highest rate
        for series in [series for series in order if period_parts(series)[0] in (1, None) and len(rows[series]) > 1][-1:]:
            least, *more = sorted(rows[series], key=lambda x: rows[series][x].median)
            # the greatest that differs, if any does
            most = next((x for x in reversed(more) if differ(metric, rows[series][x], rows[series][least])), more[-1])
            rate = period_parts(series)[1]
            says += sentence(f"At {short(rate)} rows/s" if rate else "Without runs", [compared(
                metric, f"a period of {duration(most)}", rows[series][most], f"one of {duration(least)}", rows[series][least])])
    return Section(
        "period", "Period and run length of a short COMB", says,
        [period_lines(run, "period", "WAL of an inserted row, leaf density and index size by the period of a short COMB, "
                                     "for each run length and insert rate", metrics)],
        f"{code(key)} with several periods. The rows of a period are in random order, and so are runs: "
        "the WAL, and how full the leaf pages become, depend on how many pages the rows of a period fill.", tables)


def clients_section(run):
    last = ends(run, "clients")[1]
    return sweep_section(
        run, "clients", "Many sessions",
        sentence(f"With {short(last)} sessions", *(
            compare(run, "clients", metric, AGAINST_RANDOM, x=last) for metric in ("wal_bytes_per_row", "rows_per_s"))) if last else [],
        "WAL bytes of an inserted row by the number of sessions, by key",
        "One row a transaction from several sessions at once.",
        ["wal_bytes_per_row"], ["rows_per_s"], "sessions", "sessions", xlog=2, height=240)


ORDERED = ("bigint", "uuid_v7")     # all their rows go to the right edge of the index


def contention_section(run):
    first, last = ends(run, "contention", "page_wait_share")
    waits = {(x, key): stat for key in ORDERED for x, stat in run.curve("contention", key, "page_wait_share")}
    says = []
    if waits:
        says = [f"With up to {short(last)} sessions, at most {figure(max(stat.high for stat in waits.values()))} % of those that insert "
                f"{' or '.join(code(key) for key in dict.fromkeys(key for _, key in waits))} keys wait for a page"]
        many = min((x for (x, _), stat in waits.items() if stat.low > 50), default=None)
        if all(stat.count > 1 for stat in waits.values()):
            says[0] += (f", and more than half from {short(many)} sessions on: the right edge of the index is the bottleneck" if many
                        else ": the right edge of the index is not the bottleneck of this machine")
        says[0] += "."
        says += sentence(f"With {short(last)} sessions", compare(
            run, "contention", "rows_per_s", ("random", "bigint"), AGAINST_V7, x=last))
    section = sweep_section(
        run, "contention", "Waiting for the same page", says,
        "Rows inserted per second, and the share of sessions that wait for a page, by the number of sessions and by key",
        "One row a transaction from up to 64 sessions. The waits of the sessions are sampled from `pg_stat_activity`. Ordered keys go to the last "
        "leaf page of the index, which one session at a time can change.",
        ["rows_per_s", "page_wait_share"], ["wal_wait_share"], "sessions", "sessions", xlog=2)
    events = [name for name in run.scene_series("contention") if name]
    waits = {key: {name: run.stat("contention", key, "wait_share", name, last) for name in events} for key in run.scene_keys("contention")}
    events = [name for name in events if any(row[name] and row[name].median > 1 for row in waits.values())]
    if events:
        section.tables.extend([
            Heading(3, f"Waits with {short(last)} sessions, % of the sessions"),
            Table(["key"] + events, [[code(key)] + [with_spread(row[name], "wait_share") for name in events] for key, row in waits.items()])])
    return section


def wrap_section(run):
    cycles = sorted(run.scene_series("wrap"))
    metrics = ["wal_bytes_per_row", "index_bytes", "leaf_density"]

    def pooled(key, series):
        """WAL of a cycle: its slices are its repetitions."""
        values = [stat.median for _, stat in run.curve("wrap", key, metrics[0], series)]
        return stat_of(values) if values else None

    def cycle_curve(key):
        """The cycles of the prefix one after the other: x is in cycles."""
        def curve(metric):
            points = {}
            for cycle, series in enumerate(cycles):
                for x, stat in run.curve("wrap", key, metric, series):
                    points.setdefault(cycle + x, stat)
            return sorted(points.items())
        return curve

    keys = run.scene_keys("wrap", metrics[0])
    wal = {key: [pooled(key, series) for series in cycles] for key in keys}
    says = []
    if len(cycles) > 1:
        says = sentence("In a second cycle of the prefix", claims({key: stats[1] for key, stats in wal.items() if stats[1]}, metrics[0], AGAINST_RANDOM))
        says += sentence("", [compared(metrics[0], f"the second cycle of {code(key)}", wal[key][1], "the first", wal[key][0])
                                                                for key in AGAINST_RANDOM if key in wal and all(wal[key][:2])])
    rows = []
    for key in keys:
        for series, stat in zip(cycles, wal[key]):
            last = [curve[-1][1] if (curve := run.curve("wrap", key, metric, series)) else None for metric in metrics[1:]]
            rows.append([f"{code(key)}, {series}"] + [with_spread(part, metric) for part, metric in zip([stat] + last, metrics)])
    return Section(
        "wrap", "The second cycle of the prefix", says,
        [lines("wrap", "WAL bytes of a row, index size and leaf density over two cycles of the short COMB's prefix, by key",
               [Line(key, run.looks[key], cycle_curve(key)) for key in keys], metrics,
               "cycles of the prefix", xticks=[cycle / 2 for cycle in range(2 * len(cycles) + 1)], rules=range(1, len(cycles)))],
        "The prefix of a short COMB starts again after its last value. In the second cycle, its rows go between those of the first. "
        "The other keys have no cycles, and get as many rows. The repetitions of a cycle are its parts.",
        [Table(["cycle", metric_title(metrics[0])] + [f"{metric_title(metric)}, last value" for metric in metrics[1:]], rows)])


def delete_section(run):
    last = ends(run, "delete", "index_bytes")[1]
    size = {key: stat_of([stat.median for x, stat in curve if x > last - 1]) for key in run.keys
            if (curve := run.curve("delete", key, "index_bytes")) and curve[-1][0] == last}
    return sweep_section(
        run, "delete", "Deleting old rows",
        sentence("After old rows were deleted and new ones inserted", claims(size, "index_bytes", ("short_comb", "random"), AGAINST_V7)),
        "Index size and leaf density while old rows are deleted and new ones inserted, by key",
        "A table of constant size: the oldest rows are deleted, as many new ones are inserted, and VACUUM follows. "
        "At turnover 1, as many rows were deleted as the table holds. The sentence compares the sizes in the last turnover.",
        ["index_bytes", "leaf_density"], ["heap_bytes"], "turnover", "deleted rows, divided by the rows of the table")


def changeover_section(run):
    names = {"changed": "", "unchanged": " unchanged", "from the start": " from the start"}
    metrics = ["wal_bytes_per_row", "growth_bytes_per_row", "leaf_density"]
    drawn = [Line(key + names.get(series, f" {series}"), run.looks[key]._replace(**({"dash": "(1,5)"} if series == "from the start" else {})),
                  lambda metric, key=key, series=series: run.curve("changeover", key, metric, series))
             for key in run.keys for series in run.scene_series("changeover") if run.xs("changeover", metrics[0], series)
             and run.curve("changeover", key, metrics[0], series)]
    last = ends(run, "changeover")[1]
    rows = {line.name: lambda metric, line=line: dict(line.curve(metric)).get(last) for line in drawn}
    at_end = {metric: {name: stat for name, row in rows.items() if (stat := row(metric))} for metric in metrics}
    stays = "random unchanged"
    return Section(
        "changeover", "Changing the default of a table with random keys",
        sentence("After the change", claims(at_end["wal_bytes_per_row"], "wal_bytes_per_row", (stays, "uuid_v7"), (stays, "short_comb")))
        + sentence("From the change on", claims(at_end["growth_bytes_per_row"], "growth_bytes_per_row", ("uuid_v7", stays),
                                                ("uuid_v7", "uuid_v7 from the start"), ("short_comb", stays))),
        [lines("changeover", "WAL bytes of a row, growth of the index and leaf density after the default of a table with random keys was changed, by key",
               drawn, metrics, "rows since the change")],
        "A table has random version 4 keys, and its default changes to another key. Beside it, one keeps its random keys (unchanged), and "
        "one had version 7 keys from the start. Growth is that of the index since the change, divided by the rows since then.",
        columns_table(rows, COST + ["growth_bytes_per_row", "index_bytes", "leaf_density"]) + advice_table(run))


def advice_table(run):
    """What idgen.index_report() says before and after the change."""
    head = ["key", "series", "moment", "key_kind", "leaf_density", "newest_leaf_share", "advice"]
    rows = [[code(line["key"])] + [line.get(name) or "–" for name in head[1:]] for line in run.advice if line.get("key") in run.keys]
    return [Heading(3, "The advice of idgen.index_report()"), Table([name.replace("_", " ") for name in head], rows, "text")] if rows else []


# --- the model ----------------------------------------------------------------

# How near a prediction must be.
LIMITS = {"wal_bytes_per_row": 0.15, "index_bytes": 0.10, "leaf_density": 0.10}


def model_section(run):
    """How near the predictions of the model are, scene by scene; of all keys."""
    rows, far, parts = [], [], []
    for metric, limit in LIMITS.items():
        points = {}     # {scene: [(ratio, at), ...]}
        for scene, key, series, x, name in run.values:
            if name == "predicted_" + metric and (measured := run.median(scene, key, metric, series, x)):
                expected = run.median(scene, key, name, series, x)
                points.setdefault(scene, []).append(expected / measured)
                if abs(expected / measured - 1) > limit:
                    far.append([scene, code(key), " ".join(filter(None, [series, "" if x is None else short(x)])), metric_title(metric),
                                figure(expected), figure(measured), f"{expected / measured:.2f}"])
        near = {scene: sum(abs(part - 1) <= limit for part in ratios) for scene, ratios in points.items()}
        rows += [[scene, metric_title(metric), f"{min(ratios):.2f}", f"{statistics.median(ratios):.2f}", f"{max(ratios):.2f}",
                  f"{near[scene]} of {len(ratios)} within {limit * 100:.0f} %"] for scene, ratios in points.items()]
        if points:
            quantity = {"wal_bytes_per_row": "the WAL of a row", "index_bytes": "the size of the index", "leaf_density": "the density of its leaf pages"}[metric]
            parts.append(f"{quantity} within {limit * 100:.0f} % for {sum(near.values())} of {sum(map(len, points.values()))} measurements")
    return rows and Section(
        "model", "Model and measurement", [f"`idgen.expected_key_cost()` predicts {listed(parts)}."], [],
        "The figures that `idgen.expected_key_cost()` predicts, divided by the measured ones, of all measured keys; medians of the repetitions.",
        [Table(["scene", "metric", "least", "median", "greatest", "near"], rows, "text")]
        + ([Heading(3, "Further away"), Table(["scene", "key", "point", "metric", "predicted", "measured", "ratio"], far, "text")] if far else []))


SCENES = {      # in the order of the report
    "steady": steady_section, "bulk": bulk_section, "outgrow": outgrow_section, "memory": memory_section, "checkpoint": checkpoint_section,
    "period": period_section, "clients": clients_section, "contention": contention_section, "serializable": serializable_section,
    "read": read_section, "wrap": wrap_section, "delete": delete_section, "changeover": changeover_section, "masked": masked_section,
}
# The report begins with the first three sentences of these, then of the others.
FIRST = ("steady", "memory", "outgrow", "changeover", "bulk")


def sections(run):
    have = [heat_section(run)] if any(key in run.touches for key in run.keys) else []
    have += [write(run) for scene, write in SCENES.items() if run.scene_has(scene)]
    return have + [section for section in [model_section(run)] if section]


def conclusions(have):
    """The first three sentences."""
    order = sorted(have, key=lambda section: FIRST.index(section.scene) if section.scene in FIRST else len(FIRST))
    return [text for section in order for text in section.says][:3]
