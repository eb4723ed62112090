"""The measurements of one or several runs, and how numbers are written."""

import csv
import math
import os
import re
import statistics
import sys
from collections import namedtuple

# The keys of a report, unless it is given others: these and those of the user. Each
# has one colour in all pictures.
COLOURS = {"bigint": "#9a7b00", "random": "#7f7f7f", "uuid_v7": "#2f7fc1", "snowflake": "#6b8e23", "short_comb": "#d1460f",
           "short_comb_run": "#eb9a1e", "keyed_comb": "#9a5bb8", "bigint_and_uuid": "#b5577a"}
FREE_COLOURS = ["#00796b", "#c2185b", "#5d4037", "#0277bd", "#9e9d24", "#2f9fb5", "#a05195"]
BASES = ("bigint", "random")        # the tables compare the others with these

Metric = namedtuple("Metric", "title unit")     # MiB: the measurements are in bytes

METRICS = {
    "rows_per_s":            Metric("Throughput", "rows/s"),
    "wal_bytes_per_row":     Metric("WAL", "bytes/row"),
    "fpi_per_row":           Metric("Full-page images", "images/row"),
    "reads_per_row":         Metric("Index blocks read", "blocks/row"),
    "heap_reads_per_row":    Metric("Table blocks read", "blocks/row"),
    "index_bytes":           Metric("Index", "MiB"),
    "index_bytes_per_row":   Metric("Index", "bytes/row"),
    "heap_bytes":            Metric("Table", "MiB"),
    "leaf_pages":            Metric("Leaf pages before", "pages"),
    "touched_leaf_pages":    Metric("Leaf pages touched", "pages"),
    "leaf_density":          Metric("Leaf density", "%"),
    "growth_bytes_per_row":  Metric("Growth of the index", "bytes/row"),
    "latency_p50_ms":        Metric("Latency, p50", "ms"),
    "latency_p99_ms":        Metric("p99", "ms"),
    "latency_p999_ms":       Metric("p99.9", "ms"),
    "checkpoint_bytes":      Metric("Written by checkpoints", "MiB"),
    "backend_bytes":         Metric("Written by backends", "MiB"),
    "rows_per_checkpoint":   Metric("Rows between checkpoints", "rows"),
    "changed_pages_per_row": Metric("Pages changed", "pages/row"),
    "disk_bytes_per_row":   Metric("WAL and changed pages", "bytes/row"),
    "incremental_bytes":    Metric("Incremental backup of the index", "MiB"),
    "wal_bytes_per_order":  Metric("WAL of an order", "bytes"),
    "wal_bytes_per_payment": Metric("WAL of a payment", "bytes"),
    "blocks_newest":        Metric("Read for the newest 100 orders", "blocks"),
    "blocks_older":         Metric("for 100 older ones, with payments", "blocks"),
    "blocks_by_key":        Metric("for 1,000 orders by key", "blocks"),
    "correlation":          Metric("Correlation of the key", ""),
    "replica_lag_ms":        Metric("Lag of the replica", "ms"),
    "replica_lag_slope":     Metric("Growth of the lag", "ms/s"),
}
SCALES = dict.fromkeys(("index_bytes", "heap_bytes", "checkpoint_bytes", "backend_bytes", "incremental_bytes"), 1 / 1048576)

# How near a prediction must be.
LIMITS = {"wal_bytes_per_row": 0.15, "index_bytes": 0.10, "leaf_density": 0.10}

MEASURED = {"measurements.csv", "keys.csv", "settings.csv", "touches.csv"}      # the files of a run that was not stored
STATED = {"command", "date", "cores", "memory", "server_version", "shared_buffers", "synchronous_commit", "full_page_writes",
          "wal_compression", "autovacuum", "checkpoint_timeout"}

Stat = namedtuple("Stat", "median low high count")
Touch = namedtuple("Touch", "row block blocks position")


def stat_of(values):
    return values if isinstance(values, Stat) else Stat(statistics.median(values), min(values), max(values), len(values))


def warn(message):
    print(f"report.py: {message}", file=sys.stderr)


def read_csv(path):
    """Return the lines of a CSV file as dicts; an empty list if there is no such
    file. An incomplete last line, of an interrupted run, is left out."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            lines = file.readlines()
    except FileNotFoundError:
        return []
    if lines and not lines[-1].endswith("\n"):
        warn(f"{os.path.basename(path)}: the last line is incomplete and was left out")
        lines.pop()
    return list(csv.DictReader(lines))


class Run:
    """The measurements of all runs in the folders and the folders in them, also of
    those that store() wrote to a file, and the keys that a report shows."""

    def __init__(self, folders):
        self.values = {}        # (scene, key, series, x, metric): [value, ...], or a Stat
        self.touches = {}       # key: [Touch, ...] in the order of the inserts
        self.labels, self.types = {}, {}
        self.settings = {}      # scene: [the settings of a run in which it was measured, ...]
        names = {}              # in order

        for folder, _, files in sorted(found for given in folders for found in os.walk(given)):
            self._read_measured(folder, names)
            for name in sorted({name for name in files if name.endswith(".csv")} - MEASURED):
                self._read_stored(os.path.join(folder, name), names)

        # the size of the index, also where points have different numbers of rows
        for (*at, metric), sizes in list(self.values.items()):
            rows = [self.values.get((*at, part), []) for part in ("index_rows", "inserted_rows")]
            per_row = [size / SCALES["index_bytes"] / (before + inserted) for size, before, inserted in zip(sizes, *rows)]
            if metric == "index_bytes" and per_row:
                self.values[(*at, "index_bytes_per_row")] = per_row

        measured = {at[1] for at in self.values} | set(self.touches)
        self.all_keys = [name for name in (*COLOURS, *(name for name in names if name not in COLOURS)) if name in measured]
        self.keys = self.all_keys
        # the colour of a key does not depend on which other keys were measured
        free = [name for name in names if name not in COLOURS]
        self.colours = {**COLOURS, **{name: FREE_COLOURS[i % len(FREE_COLOURS)] for i, name in enumerate(free)}}

    def _read_measured(self, folder, names):
        """Read the files that run.sh or long.sh wrote."""
        settings = {line["name"]: line["value"] for line in read_csv(os.path.join(folder, "settings.csv"))}
        # without the options that change no figure
        settings["command"] = re.sub(r" --(out[ =]\S+|no-report|quiet)", "", settings.get("command", ""))
        for line in read_csv(os.path.join(folder, "keys.csv")):
            names[line["key"]] = None
            self.labels[line["key"]] = " ".join(line["label"].split())
            self.types[line["key"]] = line["type"]
        for line in read_csv(os.path.join(folder, "measurements.csv")):
            names[line["key"]] = None
            value = float(line["value"])
            if not math.isfinite(value):    # such as the density of an empty index
                continue
            at = (line["scene"], line["key"], line["series"], float(line["x"]) if line["x"] else None, line["metric"])
            self.values.setdefault(at, []).append(value * SCALES.get(at[4].removeprefix("predicted_"), 1))
            if settings not in self.settings.setdefault(at[0], []):
                self.settings[at[0]].append(settings)
        touched = {}
        for line in read_csv(os.path.join(folder, "touches.csv")):
            names[line["key"]] = None
            touched.setdefault(line["key"], []).append(Touch(*(float(line[field]) for field in Touch._fields)))
        self.touches.update({key: sorted(touches, key=lambda touch: touch.row) for key, touches in touched.items()})

    def store(self, path):
        """Write what the report needs of a run to one file."""
        rows = [["setting", name, value] for name, value in self._settings_of_all()]
        rows += [["key", key, self.types[key], self.labels[key]] for key in self.all_keys if key in self.types]
        rows += [["touches", key, " ".join(f"{touch.position:.4g}" for touch in touches)] for key, touches in self.touches.items()]
        points = {}
        for (*at, metric), values in self.values.items():
            is_shown = metric in METRICS if metric != "rows_per_s" else at[0] == "long"
            if (is_shown or metric.removeprefix("predicted_") in LIMITS) and (at[0] != "long" or at[3] is None):
                stat = stat_of(values)
                points.setdefault((*at, stat.count), []).append(f"{metric}={stat.median:.9g}" + (
                    f" {stat.low:.9g} {stat.high:.9g}" if stat.low < stat.high else ""))
        rows += [["point", *("" if part is None else f"{part:g}" if isinstance(part, (int, float)) else part for part in at), *metrics]
                 for at, metrics in points.items()]
        with open(path, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)

    def _settings_of_all(self):
        """The names and values of the settings of all runs that the report states."""
        found = {}
        for settings in (settings for runs in self.settings.values() for settings in runs):
            for name, value in settings.items():
                if "." in name and not name.startswith("idgen.") or name in STATED:
                    found.setdefault(name, {})[value] = None
        return [(name, "; ".join(values)) for name, values in found.items()]

    def _read_stored(self, path, names):
        """Read a file of store()."""
        settings = {"run": os.path.basename(path)}
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        for kind, key, *rest in rows:
            if kind == "setting":
                settings[key] = rest[0]
            elif kind == "key":
                names[key] = None
                self.types[key], self.labels[key] = rest
            elif kind == "touches":
                places = rest[0].split()
                self.touches[key] = [Touch(row / max(len(places) - 1, 1), 0, 0, float(place)) for row, place in enumerate(places)]
            elif kind == "point":
                scene, (key, series, x, count, *metrics) = key, rest
                names[key] = None
                if settings not in self.settings.setdefault(scene, []):
                    self.settings[scene].append(settings)
                for metric, stat in (metric.split("=") for metric in metrics):
                    median, low, high = [float(part) for part in (stat.split() * 3)[:3]]
                    self.values[(scene, key, series, float(x) if x else None, metric)] = Stat(median, low, high, int(count))

    def show(self, wanted):
        """Choose the keys of the report: a list, "all", or None for those that the
        run named, else for the main keys and those of the user."""
        commands = " ".join(settings.get("command", "") for runs in self.settings.values() for settings in runs)
        if wanted and wanted != "all":
            unknown = [key for key in wanted.split(",") if key not in self.all_keys]
            if unknown:
                raise RuntimeError(f"key {unknown[0]} was not measured; the keys are: {', '.join(self.all_keys)}")
            self.keys = [key for key in self.all_keys if key in wanted.split(",")]
        elif not wanted and "--keys" not in commands:
            own = re.findall(r"--key ['\"]*(\w+)=", commands)
            self.keys = [key for key in self.all_keys if key in COLOURS or key in own] or self.all_keys

    def stat(self, scene, key, metric, series="", x=None):
        """The figure of a point, over its repetitions; None if it was not measured."""
        values = self.values.get((scene, key, series, x, metric))
        return stat_of(values) if values else None

    def median(self, *at):
        stat = self.stat(*at)
        return stat.median if stat else None

    def scene_has(self, scene, metric=None):
        return any(at[0] == scene and at[1] in self.keys and metric in (None, at[4]) for at in self.values)

    def scene_series(self, scene):
        """The series of a scene, in the order of the file."""
        return list(dict.fromkeys(at[2] for at in self.values if at[0] == scene))

    def curve(self, scene, key, metric, series=""):
        """Return [(x, Stat), ...], sorted by x."""
        return sorted((at[3], stat_of(values)) for at, values in self.values.items()
                      if at[:3] == (scene, key, series) and at[4] == metric and at[3] is not None)


# --- numbers as text --------------------------------------------------------

def figure(value):
    """Format a value with three significant digits, or as a whole number."""
    for least, digits in ((100 - 0.05, 0), (10 - 0.005, 1), (1 - 0.0005, 2), (0.0005, 3)):
        if abs(value) >= least:
            return f"{value:,.{digits}f}"
    return "<0.001" if value else "0"


def short(value):
    """Format a value for an axis."""
    return f"{value:,.0f}" if value == round(value) else f"{value:g}"


def with_spread(stat, metric):
    """Format the median and the spread; counts have no decimals."""
    if stat is None:
        return "–"
    low, middle, high = (short(round(value)) if METRICS[metric].unit in ("pages", "blocks") else figure(value)
                         for value in (stat.low, stat.median, stat.high))
    return middle if low == high == middle else f"{middle} ({low}–{high})"


def ratio(metric, one, other):
    """The ratio of two figures: ~ if the ranges of their repetitions overlap, – if
    one is missing, or a time of a single repetition, whose spread is unknown."""
    if one is None or other is None or not other.median or (metric == "rows_per_s" and min(one.count, other.count) == 1):
        return "–"
    return "~" if one.low <= other.high and other.low <= one.high else figure(one.median / other.median)


def metric_title(metric, log=False):
    title, unit = METRICS[metric]
    return ", ".join(filter(None, (title, unit))) + (" (log scale)" if log else "")
