"""The measurements of a run, and how numbers are written."""

import csv
import io
import math
import os
import statistics
import sys
from collections import namedtuple

# --- keys and metrics --------------------------------------------------------

# A key has the same colour, dashes and point shape (gnuplot's number) in every
# picture. The two keys that the others are compared with are black and grey.
Look = namedtuple("Look", "colour dash point")

SOLID = "solid"
LOOKS = {
    "bigint":           Look("#1a1a1a", SOLID, 7),
    "random":           Look("#8a8a8a", SOLID, 5),
    "uuid_v4":          Look("#b5b5b5", "(2,3)", 4),
    "uuidv7":           Look("#5aa9e6", "(10,3)", 10),
    "uuid_v7":          Look("#1f6eb5", "(8,4)", 9),
    "uuid_v7_ordered":  Look("#0b3d78", "(8,3,2,3)", 8),
    "comb":             Look("#2f9fb5", "(5,3)", 12),
    "uuid_v6":          Look("#6673c8", "(12,4)", 14),
    "lambert_comb":     Look("#8a7fd0", "(12,3,3,3)", 14),
    "uuid_v1":          Look("#a05195", "(4,6)", 1),
    "short_comb":       Look("#d1460f", SOLID, 13),
    "short_comb_run":   Look("#eb9a1e", "(3,3)", 6),
    "sequence_comb":    Look("#9c5b23", "(9,3)", 15),
    "suffix_comb":      Look("#b39b78", "(2,4)", 2),
    "short_suffix_comb": Look("#8d7a5c", "(4,4)", 3),
    "ulid":             Look("#2a9d8f", "(7,3)", 8),
    "typeid":           Look("#57b894", "(7,3,2,3)", 10),
    "prefixed_id":      Look("#1b7f5c", "(5,5)", 12),
    "snowflake":        Look("#6b8e23", "(10,4)", 11),
    "js_id":            Look("#8fae3c", "(6,2)", 4),
    "trace_id":         Look("#a3b35e", "(3,5)", 6),
    "decimal_id":       Look("#556b2f", "(12,2)", 5),
    "object_id":        Look("#9c5a8c", "(8,2,2,2)", 15),
    "masked":           Look("#7d4fb0", "(4,3)", 14),
}
# for keys given with --key, in the order of their definition
FREE_LOOKS = [
    Look("#c2185b", "(6,3)", 11), Look("#00796b", "(10,3,3,3)", 15),
    Look("#7b1fa2", "(4,3)", 12), Look("#5d4037", "(12,4)", 10),
    Look("#0277bd", "(2,2)", 4),  Look("#9e9d24", "(8,4,2,4)", 14),
]

# The keys of a report, unless it is given others: these and those of the user.
MAIN_KEYS = ("bigint", "random", "uuid_v7", "snowflake", "short_comb", "short_comb_run")
MASKED = "masked"       # of the scene of this name: uuid_v7, of which clients see the mask
# those with which the tables compare the others
BASES = ("bigint", "random")

Metric = namedtuple("Metric", "title unit")     # MB: the measurements are in bytes

METRICS = {
    "rows_per_s":            Metric("Throughput", "rows/s"),
    "us_per_row":            Metric("Time", "µs/row"),
    "wal_bytes_per_row":     Metric("WAL", "bytes/row"),
    "fpi_per_row":           Metric("Full-page images", "images/row"),
    "fpi_bytes_per_row":     Metric("Full-page images", "bytes/row"),
    "wal_heap_bytes_per_row":  Metric("WAL of the table", "bytes/row"),
    "wal_btree_bytes_per_row": Metric("WAL of the index", "bytes/row"),
    "wal_other_bytes_per_row": Metric("Other WAL", "bytes/row"),
    "reads_per_row":         Metric("Index blocks read", "blocks/row"),
    "hit_ratio":             Metric("Found in shared buffers", "%"),
    "index_bytes":           Metric("Index", "MB"),
    "index_bytes_per_row":   Metric("Index", "bytes/row"),
    "heap_bytes":            Metric("Table", "MB"),
    "cached_bytes":          Metric("Index in shared buffers", "MB"),
    "leaf_pages":            Metric("Leaf pages before", "pages"),
    "touched_leaf_pages":    Metric("Pages touched", "pages"),
    "leaf_density":          Metric("Leaf density", "%"),
    "leaf_fragmentation":    Metric("Leaf fragmentation", "%"),
    "growth_bytes_per_row":  Metric("Growth of the index", "bytes/row"),
    "failure_share":         Metric("Failed with 40001", "%"),
    "page_wait_share":       Metric("Sessions that wait for a page", "%"),
    "wal_wait_share":        Metric("Sessions that wait for the WAL", "%"),
    "wait_share":            Metric("Sessions that wait", "%"),
    "index_rows":            Metric("Rows before", "rows"),
    "inserted_rows":         Metric("Rows inserted", "rows"),
}
SCALES = {**dict.fromkeys(("hit_ratio", "failure_share", "page_wait_share", "wal_wait_share", "wait_share"), 100),
          "index_bytes": 1 / 1048576,
          "heap_bytes": 1 / 1048576, "cached_bytes": 1 / 1048576}

# The parts of the WAL, from left to right, with gnuplot's fill.
WAL_KINDS = [
    ("fpi_bytes_per_row", "full-page images", "solid 1.0", "#444444"),
    ("wal_btree_bytes_per_row", "index records", "pattern 5", "#444444"),
    ("wal_heap_bytes_per_row", "table records", "solid 1.0", "#b8b8b8"),
    ("wal_other_bytes_per_row", "other records", "solid 1.0", "#ffffff"),
]

# --- the run ----------------------------------------------------------------

Stat = namedtuple("Stat", "median low high count")
Touch = namedtuple("Touch", "row block blocks position")


def stat_of(values):
    return Stat(statistics.median(values), min(values), max(values), len(values))


def warn(message):
    print(f"report.py: {message}", file=sys.stderr)


def number(text):
    """Convert text to a finite number, or return None."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def read_csv(path):
    """Return the lines of a CSV file as dicts; an empty list if there is no such
    file. An incomplete last line, of an interrupted run, is left out."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            text = file.read()
    except FileNotFoundError:
        return []
    if text and not text.endswith("\n"):
        warn(f"{os.path.basename(path)}: the last line is incomplete and was left out")
        text = text[:text.rfind("\n") + 1]
    return list(csv.DictReader(io.StringIO(text, newline="")))


class Run:
    """The measurements in a folder, and the keys that a report shows."""

    def __init__(self, folder):
        self.values = {}        # (scene, key, series, x, metric): [value, ...]
        self.touches = {}       # key: [Touch, ...] in the order of the inserts
        self.labels = {MASKED: "idgen.uuid_v7(), shown as idgen.mask_uuid_v7(id)"}
        self.types = {MASKED: "uuid"}
        self.settings = {}
        names = {}              # in order

        for line in read_csv(os.path.join(folder, "keys.csv")):
            if line.get("key"):
                names[line["key"]] = None
                self.labels[line["key"]] = " ".join((line.get("label") or line["key"]).split())
                self.types[line["key"]] = line.get("type") or ""
        for line in read_csv(os.path.join(folder, "measurements.csv")):
            value = number(line.get("value"))
            if value is None or not line.get("scene") or not line.get("key"):
                continue
            names[line["key"]] = None
            at = (line["scene"], line["key"], line.get("series") or "",
                  number(line.get("x")), line.get("metric"))
            self.values.setdefault(at, []).append(value * SCALES.get(at[4].removeprefix("predicted_"), 1))
        for line in read_csv(os.path.join(folder, "touches.csv")):
            touch = Touch(*(number(line.get(field)) for field in Touch._fields))
            if line.get("key") and touch.row is not None and touch.position is not None:
                names[line["key"]] = None
                self.touches.setdefault(line["key"], []).append(touch)
        for line in read_csv(os.path.join(folder, "settings.csv")):
            if line.get("name"):
                self.settings[line["name"]] = line.get("value") or ""

        # the size of the index, also where points have different numbers of rows
        for (*at, metric), sizes in list(self.values.items()):
            if metric in ("index_bytes", "predicted_index_bytes"):
                rows = [self.values.get((*at, part), []) for part in ("index_rows", "inserted_rows")]
                per_row = [size / SCALES["index_bytes"] / (before + inserted) for size, before, inserted in zip(sizes, *rows)]
                if per_row:
                    self.values[(*at, metric + "_per_row")] = per_row

        self.advice = read_csv(os.path.join(folder, "advice.csv"))

        measured = {key for _, key, _, _, _ in self.values} | set(self.touches)
        self.all_keys = [name for name in names if name in measured]
        self.keys = self.all_keys
        # the look of a key does not depend on which other keys were measured
        free = [name for name in names if name not in LOOKS]
        self.looks = {**LOOKS, **{name: FREE_LOOKS[i % len(FREE_LOOKS)] for i, name in enumerate(free)}}
        for touches in self.touches.values():
            touches.sort(key=lambda touch: touch.row)

    def show(self, wanted):
        """Choose the keys of the report: a list, "all", or None for those that the
        run named, else for the main keys and those of the user."""
        if wanted and wanted != "all":
            unknown = [key for key in wanted.split(",") if key not in self.all_keys]
            if unknown:
                raise RuntimeError(f"key {unknown[0]} was not measured; the keys are: {', '.join(self.all_keys)}")
            self.keys = [key for key in self.all_keys if key in wanted.split(",")]
        elif not wanted and "--keys" not in self.settings.get("command", ""):
            self.keys = [key for key in self.all_keys if key in (*MAIN_KEYS, MASKED) or key not in LOOKS] or self.all_keys

    def label(self, key):
        return self.labels.get(key, key)

    def stat(self, scene, key, metric, series="", x=None):
        """The figure of a point, over its repetitions; None if it was not measured."""
        values = self.values.get((scene, key, series, x, metric))
        return stat_of(values) if values else None

    def stats(self, scene, metric, series="", x=None):
        """{key: Stat} of the keys that were measured."""
        return {key: stat for key in self.keys if (stat := self.stat(scene, key, metric, series, x))}

    def median(self, *at):
        stat = self.stat(*at)
        return stat.median if stat else None

    def scene_has(self, scene, metric=None):
        return any(at[0] == scene and at[1] in self.keys and metric in (None, at[4]) for at in self.values)

    def scene_keys(self, scene, metric=None):
        have = {at[1] for at in self.values if at[0] == scene and metric in (None, at[4])}
        return [key for key in self.keys if key in have]

    def scene_series(self, scene):
        """The series of a scene, in the order of the file."""
        return list(dict.fromkeys(at[2] for at in self.values if at[0] == scene))

    def xs(self, scene, metric, series=None):
        return sorted({at[3] for at in self.values
                       if at[0] == scene and at[4] == metric and at[1] in self.keys and at[3] is not None
                       and series in (None, at[2])})

    def curve(self, scene, key, metric, series=""):
        """Return [(x, Stat), ...], sorted by x."""
        points = [(x, self.stat(scene, key, metric, series, x))
                  for x in self.xs(scene, metric, series)]
        return [(x, stat) for x, stat in points if stat]


# --- numbers as text --------------------------------------------------------

def figure(value):
    """Format a value with three significant digits, or as a whole number."""
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 100 - 0.05:
        return f"{value:,.0f}"
    if size >= 10 - 0.005:
        return f"{value:.1f}"
    if size >= 1 - 0.0005:
        return f"{value:.2f}"
    return f"{value:.3f}" if size >= 0.0005 else "<0.001"


def short(value):
    """Format a value for an axis."""
    return f"{value:,.0f}" if value == round(value) else f"{value:g}"


def value_text(value, metric):
    """Format a value of a metric; counts have no decimals."""
    return f"{value:,.0f}" if METRICS[metric].unit in ("pages", "rows") else figure(value)


def with_spread(stat, metric):
    """Format the median and the spread."""
    if stat is None:
        return "–"
    low, middle, high = (value_text(value, metric) for value in (stat.low, stat.median, stat.high))
    return middle if low == high == middle else f"{middle} ({low}–{high})"


def times(value):
    return f"{short(value)}×"


def listed(parts):
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def code(key):
    """The key's name as code; further words are a description."""
    name, *rest = key.split(" ", 1)
    return " ".join([f"`{name}`", *rest])


def duration(seconds):
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit and seconds % unit == 0:
            return f"{short(seconds / unit)} {name}"
    return f"{short(seconds)} s"


def metric_title(metric, log=False):
    title, unit = METRICS[metric]
    return f"{title}, {unit}" + (" (log scale)" if log else "")
