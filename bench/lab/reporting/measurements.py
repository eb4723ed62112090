"""Measurements of one or several runs, and the formatting of numbers."""

import csv
import math
import os
import re
import statistics
import sys
from collections import namedtuple

# The keys in the order of the report. Each key has the same color in all pictures.
COLOURS = {"bigint": "#9a7b00", "random": "#7f7f7f", "uuid_v7": "#2f7fc1", "short_comb": "#d1460f",
           "keyed_comb": "#9a5bb8", "hmac_comb": "#00796b"}
FREE_COLOURS = ["#c2185b", "#5d4037", "#0277bd", "#9e9d24"]

METRICS = {
    "rows_per_s": "Throughput, rows/s",
    "wal_bytes_per_row": "WAL, bytes/row",
    "fpi_per_row": "Full-page images per row",
    "written_bytes_per_row": "Written, bytes/row",
    "index_wal_bytes_per_row": "WAL of the index, bytes/row",
    "index_images_per_row": "Full-page images of the index per row",
    "growth_bytes_per_row": "Growth of the index, bytes/new row",
    "index_mb": "Index, MB",
    "replay_s": "Replay, s",
    "cpu_us_per_row": "CPU time in the fastest round, µs/row",
    "reads_per_row": "Index blocks read per row",
    "newest_blocks": "Blocks read for the newest 100 orders",
    "index_bytes_per_row": "Index, bytes/row",
    "table_bytes_per_row": "Table and indexes, bytes/row",
    "leaf_density": "Leaf density, %",
}
MEASURED = {"measurements.csv", "keys.csv", "settings.csv", "touches.csv"}  # the files of a run that was not stored
STATED = {"command", "date", "cores", "memory", "server_version", "shared_buffers", "synchronous_commit",
          "full_page_writes", "wal_compression", "data_checksums"}

Stat = namedtuple("Stat", "mean low high count")
Touch = namedtuple("Touch", "row block blocks position")


def stat_of(values):
    return Stat(statistics.fmean(values), min(values), max(values), len(values))


def warn(message):
    print(f"report.py: {message}", file=sys.stderr)


def read_csv(path):
    """Return the lines of a CSV file as dicts, or an empty list if there is no such file. An incomplete last line of an
    interrupted run is omitted."""
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
    """The measurements of all runs in the folders and in their subfolders, including runs that store() wrote to a
    file."""

    def __init__(self, folders):
        self.values = {}        # (scene, key, series, x, metric): Stat
        self.touches = {}       # key: [Touch, ...] in the order of the inserts
        self.labels, self.types = {}, {}
        self.settings = {}      # scene: [the settings of a run in which it was measured, ...]

        for folder, _, files in sorted(found for given in folders for found in os.walk(given)):
            self._read_measured(folder)
            for name in sorted({name for name in files if name.endswith(".csv")} - MEASURED):
                self._read_stored(os.path.join(folder, name))

        measured = {at[1] for at in self.values} | set(self.touches)
        self.keys = [key for key in COLOURS if key in measured] + sorted(measured - set(COLOURS))
        free = [key for key in self.keys if key not in COLOURS]
        self.colours = {**COLOURS, **{key: FREE_COLOURS[i % len(FREE_COLOURS)] for i, key in enumerate(free)}}

    def _add(self, scene, settings):
        if settings not in self.settings.setdefault(scene, []):
            self.settings[scene].append(settings)

    def _version(self, settings):
        return settings.get("server_version", "").split(".")[0]

    def _read_measured(self, folder):
        """Read the files that run.sh wrote."""
        settings = {line["name"]: line["value"] for line in read_csv(os.path.join(folder, "settings.csv"))}
        # Omit the options that do not affect figures.
        settings["command"] = re.sub(r" --(out[ =]\S+|no-report)", "", settings.get("command", ""))
        for line in read_csv(os.path.join(folder, "keys.csv")):
            self.labels[line["key"]], self.types[line["key"]] = line["label"], line["type"]
        found = {}
        for line in read_csv(os.path.join(folder, "measurements.csv")):
            at = (line["scene"], line["key"], line["series"], float(line["x"]) if line["x"] else None, line["metric"])
            value = float(line["value"])
            if math.isfinite(value):    # the density of an empty index is not a number
                found.setdefault(at, []).append(value)
                self._add(at[0], settings)
        self.values.update({at: stat_of(values) for at, values in found.items()})
        touched = {}
        for line in read_csv(os.path.join(folder, "touches.csv")):
            touch = Touch(*(float(line[field]) for field in Touch._fields))
            touched.setdefault(line["key"], []).append(touch)
            self._add("heat", settings)
        self.touches.update(touched)

    def store(self, path):
        """Write those values of a run that the report needs to one file."""
        found = [(name, value) for runs in self.settings.values() for settings in runs
                 for name, value in settings.items() if "." in name and not name.startswith("idgen.") or name in STATED]
        rows = [["setting", *setting] for setting in dict.fromkeys(found)]
        rows += [["key", key, self.types[key], self.labels[key]] for key in self.keys if key in self.types]
        rows += [["touches", key, f"{touches[0].blocks:g}", " ".join(f"{touch.block:g}" for touch in touches),
                  " ".join(f"{touch.position:.4g}" for touch in touches)] for key, touches in self.touches.items()]
        points = {}
        for (*at, metric), stat in self.values.items():
            if metric in METRICS:
                spread = f" {stat.low:.9g} {stat.high:.9g}" if stat.low < stat.high else ""
                points.setdefault((*at, stat.count), []).append(f"{metric}={stat.mean:.9g}{spread}")
        rows += [["point", scene, key, series, "" if x is None else f"{x:.15g}", count, *metrics]
                 for (scene, key, series, x, count), metrics in points.items()]
        with open(path, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)

    def _read_stored(self, path):
        """Read a file that store() wrote."""
        settings = {"run": os.path.basename(path)}
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        for kind, name, *rest in rows:
            if kind == "setting":
                settings[name] = rest[0]
            elif kind == "key":
                self.types[name], self.labels[name] = rest
            elif kind == "touches":
                blocks, places = rest[1].split(), rest[2].split()
                self.touches[name] = [
                    Touch(row / max(len(places) - 1, 1), float(block), float(rest[0]), float(place))
                    for row, (block, place) in enumerate(zip(blocks, places))]
                self._add("heat", settings)
            elif kind == "point":
                key, series, x, count, *metrics = rest
                self._add(name, settings)
                # Name the version if it differs from that of the scene's first run.
                first, this = (self._version(run) for run in (self.settings[name][0], settings))
                series += f", PostgreSQL {this}" * (this != first)
                for metric, stat in (metric.split("=") for metric in metrics):
                    mean, low, high = [float(part) for part in (stat.split() * 3)[:3]]
                    self.values[name, key, series, float(x) if x else None, metric] = Stat(mean, low, high, int(count))

    def scene_keys(self, scene):
        """Return the keys of a scene, in the order of the report."""
        return [key for key in self.keys if any(at[:2] == (scene, key) for at in self.values)]

    def series(self, scene):
        """Return the series of a scene, in the order of the file."""
        return list(dict.fromkeys(at[2] for at in self.values if at[0] == scene))

    def curves(self, scene, metric, series):
        """Return {key: [(x, Stat), ...]}, sorted by x."""
        curves = {key: sorted((at[3], stat) for at, stat in self.values.items()
                              if at[:3] == (scene, key, series) and at[4] == metric and at[3] is not None)
                  for key in self.scene_keys(scene)}
        return {key: curve for key, curve in curves.items() if curve}


def figure(value):
    """Format a value with three significant digits, or as a whole number."""
    for least, digits in ((100 - 0.05, 0), (10 - 0.005, 1), (1 - 0.0005, 2), (0.0005, 3)):
        if abs(value) >= least:
            return f"{value:,.{digits}f}"
    return "<0.001" if value else "0"


def short(value):
    """Format a value for an axis."""
    return f"{value:,.0f}" if value == round(value) else f"{value:g}"


def with_spread(stat):
    """Format the mean, and the least and the greatest value if they differ."""
    if stat is None:
        return "–"
    low, mean, high = map(figure, (stat.low, stat.mean, stat.high))
    return mean if low == high == mean else f"{mean} ({low}–{high})"


def ratio(one, other, timed=False):
    """Format the ratio of two means: – if one is missing; ~ for times whose ranges overlap."""
    if one is None or other is None or not other.mean:
        return "–"
    return "~" if timed and one.low <= other.high and other.low <= one.high else figure(one.mean / other.mean)
