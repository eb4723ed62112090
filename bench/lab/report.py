#!/usr/bin/env python3
"""report.py: the pages and pictures of one run of the benchmark.

    bench/lab/report.py FOLDER [--out FOLDER]

Reads what run.sh has left in the folder (measurements.csv, keys.csv,
settings.csv, touches.csv) and writes report.html, report.md and the pictures,
*.svg, there or into --out. Prints the table of the scenes steady and bulk.

It takes what there is: an interrupted run has fewer scenes, keys and metrics,
and its report fewer pictures. Every number and every conclusion on the pages
is computed from the files. The same files give the same bytes.

The pictures are drawn by gnuplot; without it the report has only the tables.
"""

import argparse
import csv
import html
import io
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections import namedtuple

# --- what is known of keys, metrics and scenes ------------------------------

# A key looks the same in every picture: its colour, its dashes, its point (as
# gnuplot numbers the shapes). The two that the others are compared with are
# black and grey. Dashes and points tell them apart where there is no colour.
Look = namedtuple("Look", "colour dash point")

SOLID = "solid"
LOOKS = {
    "bigint":           Look("#1a1a1a", SOLID, 7),
    "gen_random_uuid":  Look("#8a8a8a", SOLID, 5),
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
}
# for the keys that the user names, in their order
FREE_LOOKS = [
    Look("#c2185b", "(6,3)", 11), Look("#00796b", "(10,3,3,3)", 15),
    Look("#7b1fa2", "(4,3)", 12), Look("#5d4037", "(12,4)", 10),
    Look("#0277bd", "(2,2)", 4),  Look("#9e9d24", "(8,4,2,4)", 14),
]

BASES = ("bigint", "gen_random_uuid")
SHORT_NAMES = {"gen_random_uuid": "random"}     # in narrow columns

Metric = namedtuple("Metric", "title unit")     # a unit of MB is shown of bytes

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
    "heap_bytes":            Metric("Table", "MB"),
    "cached_bytes":          Metric("Index in shared buffers", "MB"),
    "leaf_pages":            Metric("Leaf pages before", "pages"),
    "touched_leaf_pages":    Metric("Pages touched", "pages"),
    "leaf_density":          Metric("Leaf density", "%"),
    "leaf_fragmentation":    Metric("Leaf fragmentation", "%"),
    "index_rows":            Metric("Rows before", "rows"),
    "inserted_rows":         Metric("Rows inserted", "rows"),
}
SCALES = {"hit_ratio": 100, "index_bytes": 1 / 1048576,
          "heap_bytes": 1 / 1048576, "cached_bytes": 1 / 1048576}

# What WAL consists of, from left to right, with gnuplot's fill.
WAL_KINDS = [
    ("fpi_bytes_per_row", "full-page images", "solid 1.0", "#444444"),
    ("wal_btree_bytes_per_row", "index records", "pattern 5", "#444444"),
    ("wal_heap_bytes_per_row", "table records", "solid 1.0", "#b8b8b8"),
    ("wal_other_bytes_per_row", "other records", "solid 1.0", "#ffffff"),
]

# --- the run ----------------------------------------------------------------

Stat = namedtuple("Stat", "median low high count")
Touch = namedtuple("Touch", "row block blocks position")


def warn(message):
    print(f"report.py: {message}", file=sys.stderr)


def number(text):
    """The number that a text is, or None."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def read_csv(path):
    """The lines of a CSV file as dicts; none where there is no such file. A
    last line without its end was cut off with the run, and is left out."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            text = file.read()
    except FileNotFoundError:
        return []
    if text and not text.endswith("\n"):
        warn(f"{os.path.basename(path)}: the last line is cut off, left out")
        text = text[:text.rfind("\n") + 1]
    return list(csv.DictReader(io.StringIO(text, newline="")))


class Run:
    """What was measured in a folder."""

    def __init__(self, folder):
        self.values = {}        # (scene, key, series, x, metric): [value, ...]
        self.touches = {}       # key: [Touch, ...] in the order of the inserts
        self.labels = {}
        self.types = {}
        self.settings = []
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
            self.values.setdefault(at, []).append(value * SCALES.get(at[4], 1))
        for line in read_csv(os.path.join(folder, "touches.csv")):
            touch = Touch(*(number(line.get(field)) for field in Touch._fields))
            if line.get("key") and touch.row is not None and touch.position is not None:
                names[line["key"]] = None
                self.touches.setdefault(line["key"], []).append(touch)
        for line in read_csv(os.path.join(folder, "settings.csv")):
            if line.get("name"):
                self.settings.append((line["name"], line.get("value") or ""))

        measured = {key for _, key, _, _, _ in self.values} | set(self.touches)
        self.keys = [name for name in names if name in measured]
        # a key keeps its look in a run in which others are missing
        free = [name for name in names if name not in LOOKS]
        self.looks = dict(LOOKS)
        self.looks.update({name: FREE_LOOKS[i % len(FREE_LOOKS)] for i, name in enumerate(free)})
        for key in self.touches:
            self.touches[key].sort(key=lambda touch: touch.row)

    def empty(self):
        return not self.keys

    def label(self, key):
        return self.labels.get(key, key)

    def setting(self, name):
        return dict(self.settings).get(name, "")

    def stat(self, scene, key, metric, series="", x=None):
        values = self.values.get((scene, key, series, x, metric))
        if not values:
            return None
        return Stat(statistics.median(values), min(values), max(values), len(values))

    def median(self, *at, **more):
        stat = self.stat(*at, **more)
        return stat.median if stat else None

    def scene_has(self, scene, metric=None):
        return any(at[0] == scene and metric in (None, at[4]) for at in self.values)

    def scene_keys(self, scene, metric=None):
        have = {at[1] for at in self.values if at[0] == scene and metric in (None, at[4])}
        return [key for key in self.keys if key in have]

    def scene_metrics(self, scene):
        have = {at[4] for at in self.values if at[0] == scene}
        return [metric for metric in METRICS if metric in have]

    def scene_series(self, scene):
        """The series of a scene, as they came."""
        return list(dict.fromkeys(at[2] for at in self.values if at[0] == scene))

    def xs(self, scene, metric, series=None):
        return sorted({at[3] for at in self.values
                       if at[0] == scene and at[4] == metric and at[3] is not None
                       and series in (None, at[2])})

    def curve(self, scene, key, metric, series=""):
        """[(x, Stat), ...] by x."""
        points = [(x, self.stat(scene, key, metric, series, x))
                  for x in self.xs(scene, metric, series)]
        return [(x, stat) for x, stat in points if stat]


# --- numbers as text --------------------------------------------------------

def figure(value):
    """Three digits, or all of a whole number's."""
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 100 - 0.05:
        return f"{value:,.0f}"
    if size >= 10 - 0.005:
        return f"{value:.1f}"
    if size >= 1 - 0.0005:
        return f"{value:.2f}"
    return f"{value:.3f}" if size >= 0.0005 else f"{value:.1g}"


def short(value):
    """The number at an axis."""
    return f"{value:,.0f}" if value == round(value) else f"{value:g}"


def with_spread(stat, metric):
    """The median and the spread; what is counted has no digits behind the point."""
    if stat is None:
        return "–"
    form = "{:,.0f}".format if METRICS[metric].unit in ("pages", "rows") else figure
    low, middle, high = form(stat.low), form(stat.median), form(stat.high)
    return middle if low == high == middle else f"{middle} ({low}–{high})"


def ratio(value, base):
    return None if value is None or not base else value / base


def ratio_text(value):
    return "–" if value is None else figure(value)


def listed(parts):
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def code(key):
    return f"`{key}`"


def duration(seconds):
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit and seconds % unit == 0:
            return f"{short(seconds / unit)} {name}"
    return f"{short(seconds)} s"


# --- drawing ----------------------------------------------------------------

WIDTH = 800
FONT = 14
LINE = 18               # between two lines of text
INK, SOFT, FAINT = "#222222", "#666666", "#dddddd"


class Scale:
    """From values to 0..1 along an axis. Linear scales of quantities begin at
    zero; log says by what base a scale is logarithmic (0: it is not)."""

    def __init__(self, values, log=0, ticks=None, tick_text=short, zero=True, pad=0.0):
        if log:     # which has no place for others
            values = [value for value in values if value > 0]
            ticks = ticks and [tick for tick in ticks if tick > 0]
        reached = [*values, *(ticks or ())] or [1.0]
        low, high = min(reached), max(reached)
        self.log = log
        self.tick_text = tick_text
        if log:
            if ticks is None:
                ticks = self.log_ticks(low, high)
                low, high = min(low, ticks[0]), max(high, ticks[-1])
            if low == high:
                low, high = low / 2, high * 2
            reach = (high / low) ** pad
            self.low, self.high = low / reach, high * reach
        else:
            if zero:
                low = min(low, 0.0)
            if low == high:
                high = low + 1.0
            if ticks is None:
                step = self.step(high - low)
                ticks = [i * step for i in range(math.ceil(low / step - 1e-9),
                                                 math.floor(high / step + 1e-9) + 1)]
            self.low, self.high = low - pad * (high - low), high + pad * (high - low)
        self.ticks = ticks

    @staticmethod
    def step(span):
        power = 10 ** math.floor(math.log10(span / 4))
        return next(nice * power for nice in (1, 2, 2.5, 5, 10) if nice * power >= span / 4 * 0.999)

    @staticmethod
    def log_ticks(low, high):
        """Powers of ten; over a short span also 2 and 5 times these."""
        first = math.floor(math.log10(low) + 1e-9)
        last = math.ceil(math.log10(high) - 1e-9)
        if last - first > 2:
            return [10.0 ** i for i in range(first, last + 1)]
        ticks = [nice * 10.0 ** i for i in range(first, last + 1) for nice in (1, 2, 5)]
        below = [tick for tick in ticks if tick <= low * 1.001]
        above = [tick for tick in ticks if tick >= high * 0.999]
        return [tick for tick in ticks if below[-1] <= tick <= above[0]]

    def at(self, value):
        if self.log:
            value = max(value, self.low)
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def needs_log(metric, values, times=50):
    """Whether the small ones would not be seen beside the great ones, and are
    worth it: of some figures, a small one is as good as none."""
    return (metric in ("wal_bytes_per_row", "us_per_row", "rows_per_s")
            and bool(values) and min(values) > 0 and max(values) / min(values) > times)


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def shortened(text, most=24):
    return text if len(text) <= most else text[:most - 9] + "…" + text[-8:]


def apart(wanted, least, low, high):
    """Places as near to the wanted ones as can be, at least so far from each other."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    places = [0.0] * len(wanted)
    floor = low
    for i in order:
        places[i] = max(wanted[i], floor)
        floor = places[i] + least
    ceiling = high
    for i in reversed(order):
        places[i] = min(places[i], ceiling)
        ceiling = places[i] - least
    return places


class Picture:
    """A picture in gnuplot's language. Places of panels and texts are pixels
    from the left and from the top, so that texts can keep off each other."""

    def __init__(self, name, height, title):
        self.name, self.height, self.title = name, height, title
        self.script = []
        self.data = []
        self.panels = 0
        self.labels = []
        self.panel_texts = []

    def block(self, lines):
        self.data.append(f"$d{len(self.data)} << EOD\n" + "\n".join(lines) + "\nEOD")
        return f"$d{len(self.data) - 1}"

    def text(self, x, y, text, colour=INK, align="left", size=FONT):
        """A text whose middle is at that height."""
        self.labels.append(
            f"set label {quoted(text)} at screen {x / WIDTH:.5f}, screen {1 - y / self.height:.5f} "
            f"{align} front font ',{size}' tc rgb '{colour}'")

    def panel(self, box, xscale, yscale, plots, title="", xlabel="", grid="y",
              xticks=True, yticks=True, rules=()):
        """Draw a panel into box = (left, top, right, bottom)."""
        left, top, right, bottom = box
        x_at = lambda value: left + (right - left) * xscale.at(value)
        y_at = lambda value: bottom - (bottom - top) * yscale.at(value)
        if title:
            self.text(left, top - LINE, title)
        if xticks:
            last = None
            for tick in xscale.ticks:
                text = xscale.tick_text(tick)
                width = 7.5 * len(text)
                if last is not None and x_at(tick) - width / 2 < last + 4:
                    continue
                self.text(x_at(tick), bottom + 13, text, SOFT, "center", FONT - 1)
                last = x_at(tick) + width / 2
        if xlabel:
            self.text((left + right) / 2, bottom + 13 + (LINE if xticks else 0), xlabel, SOFT, "center", FONT - 1)
        if yticks:
            for tick in yscale.ticks:
                self.text(left - 7, y_at(tick), yscale.tick_text(tick), SOFT, "right", FONT - 1)
        lines = ["unset label", "unset arrow", "unset logscale"]
        lines += self.labels
        self.labels = []
        for axis, scale in (("x", xscale), ("y", yscale)):
            lines.append(f"set {axis}range [{scale.low!r}:{scale.high!r}] noextend")
            if scale.log:
                lines.append(f"set logscale {axis} {scale.log}")
        for tick in (yscale.ticks if "y" in grid else ()):
            lines.append(f"set arrow from graph 0, first {tick!r} to graph 1, first {tick!r} nohead back lw 1 lc rgb '{FAINT}'")
        for tick in (xscale.ticks if "x" in grid else ()):
            lines.append(f"set arrow from first {tick!r}, graph 0 to first {tick!r}, graph 1 nohead back lw 1 lc rgb '{FAINT}'")
        for tick in rules:
            lines.append(f"set arrow from first {tick!r}, graph 0 to first {tick!r}, graph 1 nohead back lw 1 dt (3,3) lc rgb '{SOFT}'")
        lines += [f"set lmargin at screen {left / WIDTH:.5f}", f"set rmargin at screen {right / WIDTH:.5f}",
                  f"set tmargin at screen {1 - top / self.height:.5f}",
                  f"set bmargin at screen {1 - bottom / self.height:.5f}",
                  "plot " + ", \\\n     ".join(plots or ["NaN notitle"])]
        self.script += lines
        self.panels += 1

    # plots for a panel

    def line(self, points, look, title, width=2):
        """A line through the medians, thin bars for the spread."""
        dash = "" if look.dash == SOLID else f" dt {look.dash}"
        plots = []
        spread = [(x, stat) for x, stat in points if stat.high > stat.low]
        if spread:
            data = self.block([f"{x!r} {stat.low!r}\n{x!r} {stat.high!r}\n" for x, stat in spread])
            plots.append(f"{data} using 1:2 with lines lw 1 lc rgb '{look.colour}' title {quoted(title)}")
        data = self.block([f"{x!r} {stat.median!r}" for x, stat in points])
        plots.append(f"{data} using 1:2 with lines lw {width}{dash} lc rgb '{look.colour}' title {quoted(title)}")
        plots.append(f"{data} using 1:2 with points pt {look.point} ps 0.85 lc rgb '{look.colour}' title {quoted(title)}")
        return plots

    def expectation(self, points, look, title):
        """What the model expects: a pale band behind the line of what was measured."""
        if not points:
            return []
        data = self.block([f"{x!r} {stat.median!r}" for x, stat in points])
        return [f"{data} using 1:2 with lines lw 9 lc rgb '#C8{look.colour[1:]}' title {quoted(title + ', expected')}"]

    def box(self, row, low, high, fill, colour, title, half=0.36, border=False):
        data = self.block([f"{low!r} {row!r} {low!r} {high!r} {row - half!r} {row + half!r}"])
        edge = f"border lc rgb '{INK}'" if border else "noborder"
        return f"{data} using 1:2:3:4:5:6 with boxxyerror fs {fill} {edge} lc rgb '{colour}' title {quoted(title)}"

    def segment(self, row, low, high, colour, title, width=1):
        data = self.block([f"{low!r} {row!r}", f"{high!r} {row!r}"])
        return f"{data} using 1:2 with lines lw {width} lc rgb '{colour}' title {quoted(title)}"

    def svg(self):
        """The picture as gnuplot draws it, as text; it needs no file."""
        script = "\n".join(
            [f"set terminal svg noenhanced size {WIDTH},{self.height} font 'Helvetica,{FONT}' background '#ffffff' name 'g'",
             "set encoding utf8", "unset key", "unset border", "unset tics"]
            + self.data + ["set multiplot"] + self.script + ["unset multiplot"]) + "\n"
        done = subprocess.run(["gnuplot"], input=script.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=dict(os.environ, LC_ALL="C.UTF-8"))
        text = done.stdout.decode()
        if done.returncode or "</svg>" not in text:
            raise RuntimeError(f"gnuplot on {self.name}: {done.stderr.decode().strip()}")
        return self.tidy(text)

    def tidy(self, text):
        """What gnuplot wrote, in less, and fit to stand beside others in a page:
        ids of its own, links as SVG 2 has them, a title, the reader's font."""
        text = text[text.index("<svg"):]
        text = re.sub(r"<title>Gnuplot</title>\s*<desc>.*?</desc>", f"<title>{html.escape(self.title)}</title>", text, flags=re.S)
        text = re.sub(r"<svg\s+(.*?)\s*>", lambda match: "<svg " + " ".join(match.group(1).split()) + ' role="img">', text, count=1, flags=re.S)
        text = text.replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "").replace("xlink:href", "href")
        text = re.sub(r"<filter.*?</filter>\s*", "", text, flags=re.S)
        for empty in (r"<g [^<>]*>\s*</g>\s*",) * 3:
            text = re.sub(empty, "", text)
        text = re.sub(r"rgb\(\s*(\d+),\s*(\d+),\s*(\d+)\)", lambda m: "#%02x%02x%02x" % tuple(map(int, m.groups())), text)
        text = re.sub(r' font-family="[^"]*"', "", text).replace(
            '<svg ', '<svg font-family="Helvetica, Arial, \'Liberation Sans\', \'DejaVu Sans\', sans-serif" ', 1)
        text = re.sub(r"""\b(?:d|points|transform) ?= ?(['"]).*?\1""",
                      lambda match: re.sub(r"(\d\.\d)\d\b", r"\1", match.group()), text, flags=re.S)
        used = set(re.findall(r"href='#(\w+)'", text)) | set(re.findall(r"url\(#(\w+)\)", text))
        for shape in re.findall(r"^\s*<\w+ [^\n]*?\bid='(\w+)'[^\n]*/>\n", text, flags=re.M):
            if shape not in used:
                text = re.sub(r"^\s*<\w+ [^\n]*?\bid='%s'[^\n]*/>\n" % shape, "", text, flags=re.M)
        text = re.sub(r"""\bid=(['"])(\w+)\1""", rf'id="{self.name}-\2"', text)
        text = re.sub(r"href='#(\w+)'", rf'href="#{self.name}-\1"', text)
        text = re.sub(r"url\(#(\w+)\)", rf"url(#{self.name}-\1)", text)
        return re.sub(r"\s*\n\s*", "\n", text).strip() + "\n"

    # whole pictures of a kind

    def end_labels(self, right, top, bottom, ends, size=FONT):
        """Name lines at their right ends: ends = [(y, text, colour), ...]."""
        places = apart([y for y, _, _ in ends], LINE - 1, top, bottom)
        for (y, text, colour), place in zip(ends, places):
            self.labels.append(
                f"set arrow from screen {(right + 3) / WIDTH:.5f}, screen {1 - y / self.height:.5f} "
                f"to screen {(right + 11) / WIDTH:.5f}, screen {1 - place / self.height:.5f} nohead lw 1 lc rgb '{colour}'")
            self.text(right + 14, place, text, darker(colour), size=size)


def darker(colour):
    """The colour for text: legible on white."""
    red, green, blue = (int(colour[i:i + 2], 16) for i in (1, 3, 5))
    light = (0.299 * red + 0.587 * green + 0.114 * blue) / 255
    by = min(1.0, 0.42 / light) if light else 1.0
    return "#%02x%02x%02x" % tuple(round(part * by) for part in (red, green, blue))


def metric_title(metric, log=False):
    title, unit = METRICS[metric]
    return f"{title}, {unit}" + (" (log scale)" if log else "")


def bars(run, name, title, rows_of_panels):
    """Bars of the keys side by side: rows_of_panels = [[(scene, metric, series,
    heading), ...], ...]. Each key has its row, and its figure stands at its bar."""
    rows_of_panels = [[panel for panel in panels if run.scene_keys(panel[0], panel[1])] for panels in rows_of_panels]
    rows_of_panels = [panels for panels in rows_of_panels if panels]
    if not rows_of_panels:
        return None
    keys = [key for key in run.keys
            if any(run.stat(scene, key, metric, series)
                   for panels in rows_of_panels for scene, metric, series, _ in panels)]
    if not keys:
        return None
    names = 14 + 7.6 * max(len(shortened(key)) for key in keys)
    room = 26 if len(keys) <= 12 else 21
    height = len(keys) * room
    picture = Picture(name, sum([height + 76] * len(rows_of_panels)), title)
    top = 42
    for panels in rows_of_panels:
        slot = (WIDTH - names) / len(panels)
        values = {panel: {key: stat for key in keys if (stat := run.stat(panel[0], key, panel[1], panel[2]))}
                  for panel in panels}
        # panels of one metric have one scale, so that they can be compared
        scales = {}
        for metric in dict.fromkeys(panel[1] for panel in panels):
            stats = [stat for panel in panels if panel[1] == metric for stat in values[panel].values()]
            log = needs_log(metric, [stat.median for stat in stats], 100)
            low = [min((stat.low for stat in stats if stat.low > 0), default=1) / 2] if log else []
            scales[metric] = Scale([stat.high for stat in stats] + low, 10 if log else 0)
        for column, panel in enumerate(panels):
            scene, metric, series, heading = panel
            scale = scales[metric]
            box = (names + column * slot, top, names + (column + 1) * slot - 62, top + height)
            rows = Scale([0], ticks=[], zero=False)
            rows.low, rows.high = len(keys) - 0.5, -0.5
            plots = []
            for row, key in enumerate(keys):
                y = top + (row + 0.5) * room
                if column == 0:
                    picture.text(names - 10, y, shortened(key), align="right")
                stat = values[panel].get(key)
                if stat is None:
                    picture.text(box[0] + 6, y, "–", SOFT)
                    continue
                colour = run.looks[key].colour
                plots.append(picture.box(row, scale.low if scale.log else 0.0, stat.median, "solid 1.0", colour, key, half=0.33))
                if stat.high > stat.low:
                    # with an edge, to be seen on a dark bar too
                    plots += [picture.segment(row, stat.low, stat.high, "#ffffff", key, 3),
                              picture.segment(row, stat.low, stat.high, INK, key)]
                picture.text(box[0] + (box[2] - box[0]) * scale.at(max(stat.high, scale.low)) + 6, y, figure(stat.median))
            picture.panel(box, scale, rows, plots, title=heading + (" (log scale)" if scale.log else ""), grid="x", yticks=False)
        top += height + 76
    return picture


def stacked_wal(run, name, title, scene):
    """What the WAL of a row consists of."""
    keys = [key for key in run.keys if any(run.stat(scene, key, kind[0]) for kind in WAL_KINDS)]
    kinds = [kind for kind in WAL_KINDS if run.scene_has(scene, kind[0])]
    if len(kinds) < 2:
        return None
    names = 14 + 7.6 * max(len(shortened(key)) for key in keys)
    room = 26 if len(keys) <= 12 else 21
    height, top = len(keys) * room, 64
    picture = Picture(name, top + height + 34, title)
    sums = {key: sum(run.median(scene, key, kind[0]) or 0 for kind in kinds) for key in keys}
    scale = Scale(sums.values())
    box = (names, top, WIDTH - 62, top + height)
    rows = Scale([0], ticks=[], zero=False)
    rows.low, rows.high = len(keys) - 0.5, -0.5
    plots = []
    for row, key in enumerate(keys):
        y, from_ = top + (row + 0.5) * room, 0.0
        picture.text(names - 10, y, shortened(key), align="right")
        for metric, kind, fill, colour in kinds:
            value = run.median(scene, key, metric) or 0
            if value > 0:
                plots.append(picture.box(row, from_, from_ + value, fill, colour, f"{key}: {kind} {figure(value)}", half=0.33, border=True))
            from_ += value
        picture.text(box[0] + (box[2] - box[0]) * scale.at(sums[key]) + 6, y, figure(sums[key]))
    picture.text(14, 14, "WAL, bytes/row:")
    picture.panel(box, scale, rows, plots, grid="x", yticks=False)
    # the kinds, in the order in which they stand
    left = 144
    for metric, kind, fill, colour in kinds:
        unit = Scale([0, 1], ticks=[])
        picture.text(left + 26, 14, kind)
        picture.panel((left, 5, left + 20, 23), unit, unit, [picture.box(0.5, 0.0, 1.0, fill, colour, kind, half=0.33, border=True)], xticks=False, yticks=False)
        left += 42 + 7.2 * len(kind)
    return picture


def lines(run, name, title, curves, metrics, xlabel, xlog=0, xtext=short, ylog=None, xticks=None, rules=(), height=170):
    """Panels one above the other, a line for each key in each:
    curves(key, metric) = [(x, Stat), ...]."""
    metrics = [metric for metric in metrics if any(curves(key, metric) for key in run.keys)]
    if not metrics:
        return None
    xs = {x for key in run.keys for metric in metrics for x, _ in curves(key, metric)}
    xscale = Scale(xs, xlog, ticks=xticks or sorted(xs), tick_text=xtext, zero=False, pad=0.02)
    left, right = 74, WIDTH - 196
    picture = Picture(name, len(metrics) * (height + 50) + 40, title)
    top = 38
    for metric in metrics:
        mine = {key: curve for key in run.keys if (curve := curves(key, metric))}
        values = [value for curve in mine.values() for _, stat in curve for value in stat[:3]]
        log = 10 if ylog or (ylog is None and needs_log(metric, values)) else 0
        if log:     # there is no zero on such a scale
            mine = {key: kept for key, curve in mine.items()
                    if (kept := [(x, stat) for x, stat in curve if stat.low > 0])}
        yscale = Scale(values, log)
        last = metric == metrics[-1]
        plots, ends = [], []
        for key, curve in mine.items():
            look = run.looks[key]
            plots += picture.expectation(curves(key, "predicted_" + metric), look, key)
            plots += picture.line(curve, look, key)
            end = curve[-1][1].median
            ends.append((top + height * (1 - yscale.at(end)), f"{shortened(key, 20)} {figure(end)}", look.colour))
        picture.end_labels(right, top + 4, top + height + (-3 if last else 24), ends)
        picture.panel((left, top, right, top + height), xscale, yscale, plots,
                      title=metric_title(metric, log), xlabel=xlabel if last else "", xticks=last, rules=rules)
        top += height + 50
    return picture


def heat_strips(run, name, title, keys, height, most):
    """For each key, where in the index its rows went while they were inserted;
    of each at most so many dots, as more would not show more."""
    columns = math.ceil(len(keys) / math.ceil(len(keys) / 5))
    left, gap = 78, 16
    width = min(220, (WIDTH - left - 6 - gap * (columns - 1)) / columns)
    picture = Picture(name, math.ceil(len(keys) / columns) * (height + 84), title)
    last_row = max(touch.row for touches in run.touches.values() for touch in touches)
    share = last_row <= 1       # rows are said as a part of all
    xscale = Scale([0, last_row], ticks=[], pad=0.02)
    yscale = Scale([0, 1], ticks=[], pad=0.03)
    for i, key in enumerate(keys):
        x = left + (i % columns) * (width + gap)
        top = 54 + (i // columns) * (height + 84)
        touches = run.touches[key]
        drawn = touches[::math.ceil(len(touches) / most)]
        size = 2.0 if len(drawn) > 800 else 2.6
        half = (xscale.high - xscale.low) / width * size / 2
        dots = "\n\n".join(f"{touch.row - half:.6g} {touch.position:.5g}\n{touch.row + half:.6g} {touch.position:.5g}"
                           for touch in drawn)
        data = picture.block([dots])
        picture.text(x, top - 33, shortened(key, 20), darker(run.looks[key].colour), size=FONT + 1)
        picture.text(x, top - 14, f"{len(pages(touches)):,} pages touched", SOFT, size=FONT - 1)
        if i % columns == 0:
            picture.text(left - 9, top + 9, "last page", SOFT, "right", FONT - 1)
            picture.text(left - 9, top + height / 2 - 9, "place in", SOFT, "right", FONT - 1)
            picture.text(left - 9, top + height / 2 + 9, "the index", SOFT, "right", FONT - 1)
            picture.text(left - 9, top + height - 9, "first page", SOFT, "right", FONT - 1)
        for y in (0, 1):
            picture.labels.append(f"set arrow from graph 0, graph {y} to graph 1, graph {y} nohead back lw 1 lc rgb '#c4c4c4'")
            picture.labels.append(f"set arrow from graph {y}, graph 0 to graph {y}, graph 1 nohead back lw 1 lc rgb '#c4c4c4'")
        picture.text(x, top + height + 13, "first" if share else "0", SOFT, "left", FONT - 1)
        picture.text(x + width / 2, top + height + 13, "rows", SOFT, "center", FONT - 1)
        picture.text(x + width, top + height + 13, "last" if share else f"{last_row:,.0f}", SOFT, "right", FONT - 1)
        picture.panel((x, top, x + width, top + height), xscale, yscale,
                      [f"{data} using 1:2 with lines lw {size} lc rgb '{run.looks[key].colour}' title {quoted(key)}"],
                      xticks=False, yticks=False)
    return picture


def pages(touches):
    """The different pages of the touches."""
    return {touch.position if touch.block is None else touch.block for touch in touches}


# The run lengths of the scene period are not keys: shades of one colour.
RUN_LOOKS = [Look("#5e1f07", SOLID, 7), Look("#d1460f", "(8,4)", 13), Look("#e89a3c", "(3,3)", 6),
             Look("#a88f6a", "(8,3,2,3)", 8), Look("#c9b79c", "(2,4)", 4)]


def period_parts(series):
    """run_length=R rate=N as numbers, as far as they are said."""
    parts = dict(part.split("=", 1) for part in series.split() if "=" in part)
    return number(parts.get("run_length")), number(parts.get("rate"))


def period_lines(run, name, title, metric="wal_bytes_per_row"):
    """A panel for each insert rate, a line for each run length."""
    key = next(iter(run.scene_keys("period", metric)), None)
    if key is None:
        return None
    curves = {}
    for series in run.scene_series("period"):
        curve = run.curve("period", key, metric, series)
        if curve:
            curves.setdefault(period_parts(series)[1], {})[period_parts(series)[0]] = curve
    rates = sorted(curves, key=lambda rate: rate or 0)
    lengths = sorted({length for rate in rates for length in curves[rate]}, key=lambda length: length or 0)
    looks = {length: RUN_LOOKS[i % len(RUN_LOOKS)] for i, length in enumerate(lengths)}
    stats = [stat for rate in rates for curve in curves[rate].values() for _, stat in curve]
    log = 10 if needs_log(metric, [value for stat in stats for value in stat[:3]], 20) else 0
    yscale = Scale([value for stat in stats for value in stat[:3]], log)
    xs = sorted({x for rate in rates for curve in curves[rate].values() for x, _ in curve})
    xscale = Scale(xs, 10, ticks=xs, tick_text=duration, pad=0.04)
    left, height, top = 66, 250, 76
    slot = min(580, (WIDTH - left) / len(rates))
    picture = Picture(name, top + height + 56, title)
    picture.text(left, 14, metric_title(metric, log))
    at = left
    picture.text(at, 36, "run length:", SOFT)
    at += 84
    unit = Scale([0, 1], ticks=[])
    for length in lengths:
        text = "–" if length is None else short(length)
        picture.text(at + 50, 36, text, darker(looks[length].colour))
        picture.panel((at, 30, at + 38, 42), unit, unit, picture.line([(0.0, Stat(.5, .5, .5, 1)), (1.0, Stat(.5, .5, .5, 1))], looks[length], text),
                      grid="", xticks=False, yticks=False)
        at += 74 + 8 * len(text)
    for i, rate in enumerate(rates):
        box = (left + i * slot, top, left + (i + 1) * slot - 56, top + height)
        plots, ends = [], []
        for length in lengths:
            if length in curves[rate]:
                curve = curves[rate][length]
                text = "–" if length is None else short(length)
                plots += picture.line(curve, looks[length], f"run length {text}")
                ends.append((top + height * (1 - yscale.at(curve[-1][1].median)), text, looks[length].colour))
        picture.end_labels(box[2], top, top + height + 8, ends, size=FONT - 1)
        picture.text(box[0], top - 14, f"{short(rate)} rows/s" if rate else "")
        picture.panel(box, xscale, yscale, plots, xlabel="period", yticks=i == 0)
    return picture


# --- the pages --------------------------------------------------------------

Heading = namedtuple("Heading", "level text")
Paragraph = namedtuple("Paragraph", "text")
Bullets = namedtuple("Bullets", "texts")
Table = namedtuple("Table", "head rows note", defaults=("",))


def code_to_html(text):
    return "".join(f"<code>{html.escape(part)}</code>" if i % 2 else html.escape(part)
                   for i, part in enumerate(text.split("`")))


def html_cell(tag, text, first, looks):
    """A cell; the spread of a figure is smaller, a key has its colour beside it."""
    body = code_to_html(text)
    if not first:
        body = re.sub(r"^([\d.,e-]+) (\([\d.,e–-]+\))$", r"\1 <small>\2</small>", body)
    if first and tag == "td":
        key = text.strip("`")
        if text.startswith("`") and key in looks:
            body = f'<i style="background:{looks[key].colour}"></i>{body}'
        return f'<th scope="row">{body}</th>'
    return f"<{tag}>{body}</{tag}>"


STYLE = """
:root { color-scheme: light; }
body { margin: 0 auto; padding: 1rem; max-width: 54rem; background: #fff; color: #222;
       font: 16px/1.5 Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .4rem; padding-top: .6rem; border-top: 1px solid #ccc; }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
p, ul { max-width: 44rem; margin: .5rem 0; }
ul { padding-left: 1.2rem; }
code { font: .92em/1.4 'DejaVu Sans Mono', Menlo, Consolas, monospace; overflow-wrap: anywhere; }
figure, .wide { margin: 1rem 0; overflow-x: auto; }
svg { display: block; width: 100%; min-width: 600px; height: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem .2rem 0; text-align: right; vertical-align: baseline; white-space: nowrap; font-weight: normal; }
thead th { border-bottom: 1px solid #888; color: #555; white-space: normal; vertical-align: bottom; }
th:first-child, .text th, .text td { text-align: left; }
.text td { white-space: normal; overflow-wrap: anywhere; }
tbody tr:nth-child(5n) > * { border-bottom: 1px solid #e4e4e4; }
small { color: #777; }
i { display: inline-block; width: .65em; height: .65em; margin-right: .45em; }
@media print { body { max-width: none; padding: 0; font-size: 10pt; }
  figure, .wide { overflow: visible; break-inside: avoid; } svg { min-width: 0; } h2, h3 { break-after: avoid; }
  tr { break-inside: avoid; } table { font-size: 7.5pt; } th, td { padding-right: .45rem; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""


def render_html(title, blocks, looks):
    parts = ['<!DOCTYPE html>', '<html lang="en">', '<head>', '<meta charset="utf-8">',
             '<meta name="viewport" content="width=device-width, initial-scale=1">',
             f"<title>{html.escape(title)}</title>", f"<style>{STYLE}</style>", "</head>", "<body>"]
    for block in blocks:
        if isinstance(block, Heading):
            parts.append(f"<h{block.level}>{code_to_html(block.text)}</h{block.level}>")
        elif isinstance(block, Paragraph):
            parts.append(f"<p>{code_to_html(block.text)}</p>")
        elif isinstance(block, Bullets):
            parts.append("<ul>" + "".join(f"\n<li>{code_to_html(text)}</li>" for text in block.texts) + "\n</ul>")
        elif isinstance(block, Table):
            kind = "wide text" if block.note == "text" else "wide"
            parts.append(f'<div class="{kind}"><table>\n<thead><tr>'
                         + "".join(html_cell("th", text, i == 0, looks) for i, text in enumerate(block.head))
                         + "</tr></thead>\n<tbody>")
            parts += ["<tr>" + "".join(html_cell("td", text, i == 0, looks) for i, text in enumerate(row)) + "</tr>"
                      for row in block.rows]
            parts.append("</tbody></table></div>")
        else:
            parts.append(f"<figure>\n{block[1]}</figure>")
    return "\n".join(parts + ["</body>", "</html>"]) + "\n"


def render_markdown(blocks):
    parts = []
    for block in blocks:
        if isinstance(block, Heading):
            parts.append("#" * block.level + " " + block.text)
        elif isinstance(block, Paragraph):
            parts.append(block.text)
        elif isinstance(block, Bullets):
            parts.append("\n".join(f"- {text}" for text in block.texts))
        elif isinstance(block, Table):
            parts.append(markdown_table(block))
        else:
            picture = block[0]
            parts.append(f"![{picture.title}]({picture.name}.svg)")
    return "\n\n".join(parts) + "\n"


def markdown_table(table):
    row = lambda cells: "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    rest = "---|" if table.note == "text" else "--:|"
    return "\n".join([row(table.head), "|---|" + rest * (len(table.head) - 1)] + [row(cells) for cells in table.rows])


# --- what the figures say ---------------------------------------------------

def notable(run, keys):
    """The keys that sentences name: those of the sweeps, and the user's."""
    return [key for key in keys
            if key in ("gen_random_uuid", "uuid_v7", "short_comb", "short_comb_run") or key not in LOOKS]


def say_ratios(run, scene, metric, start, series=""):
    """[sentence] of how the keys compare with bigint; none where that is missing."""
    base = run.median(scene, "bigint", metric, series)
    parts = [f"{code(key)} {figure(part)}" for key in notable(run, run.scene_keys(scene, metric))
             if (part := ratio(run.median(scene, key, metric, series), base)) is not None]
    return [f"{start}: {listed(parts)}."] if parts else []


def say_ends(run, scene, metric, start, end, what):
    """[sentence] of how much a figure changes from the first x to the last."""
    parts, ends = [], set()
    for key in [key for key in run.scene_keys(scene, metric) if key == "bigint"] + notable(run, run.scene_keys(scene, metric)):
        curve = run.curve(scene, key, metric)
        if len(curve) > 1 and curve[0][1].median:
            parts.append(f"{code(key)} {figure(curve[-1][1].median / curve[0][1].median)}")
            ends.add((curve[0][0], curve[-1][0]))
    if not parts or len(ends) != 1:
        return []
    first, last = ends.pop()
    return [f"From {start(first)} to {end(last)}, {what}: {listed(parts)}."]


def say_touches(run):
    parts = [f"{code(key)} {len(run.touches[key]):,} on {len(pages(run.touches[key])):,}"
             for key in run.keys if key in run.touches and (key == "bigint" or key in notable(run, run.keys))]
    return [f"Rows, and on how many different leaf pages they fell: {listed(parts)}."] if parts else []


def say_checkpoint(run):
    says = []
    xs = run.xs("checkpoint", "wal_bytes_per_row")
    for x in (xs[0], xs[-1]) if len(xs) > 1 else xs:
        base = run.median("checkpoint", "bigint", "wal_bytes_per_row", "", x)
        parts = [f"{code(key)} {figure(part)}" for key in notable(run, run.scene_keys("checkpoint"))
                 if (part := ratio(run.median("checkpoint", key, "wal_bytes_per_row", "", x), base)) is not None]
        if parts:
            says.append(f"With {short(x)} rows from checkpoint to checkpoint, times the WAL of `bigint`: {listed(parts)}.")
    return says


def say_period(run):
    found = [(stat.median, series, x) for (scene, key, series, x, metric) in run.values
             if scene == "period" and metric == "wal_bytes_per_row" and x is not None
             and (stat := run.stat(scene, key, metric, series, x))]
    if len(found) < 2:
        return []
    def at(item):
        length, rate = period_parts(item[1])
        parts = [f"a period of {duration(item[2])}"]
        parts += [f"runs of {short(length)}"] if length else []
        parts += [f"{short(rate)} rows/s"] if rate else []
        return f"{figure(item[0])} bytes/row with {listed(parts)}"
    return [f"Least WAL: {at(min(found))}. Most: {at(max(found))}."]


def lap_curve(run):
    """The laps one after the other: x is in laps."""
    def curve(key, metric):
        points = {}
        for i, series in enumerate(sorted(run.scene_series("wrap"))):
            number_of = re.search(r"\d+", series)
            lap = int(number_of.group()) - 1 if number_of else i
            for x, stat in run.curve("wrap", key, metric, series):
                points.setdefault(lap + x, stat)
        return sorted(points.items())
    return curve


def lap_figures(run, key):
    """{series: (mean WAL, last index size, last leaf density)} of a key."""
    figures = {}
    for series in sorted(run.scene_series("wrap")):
        wal = [stat.median for _, stat in run.curve("wrap", key, "wal_bytes_per_row", series)]
        size = run.curve("wrap", key, "index_bytes", series)
        density = run.curve("wrap", key, "leaf_density", series)
        figures[series] = (statistics.mean(wal) if wal else None,
                           size[-1][1].median if size else None,
                           density[-1][1].median if density else None)
    return figures


def say_wrap(run):
    says = []
    for key in run.scene_keys("wrap"):
        laps = list(lap_figures(run, key).items())
        if len(laps) < 2:
            continue
        (one, first), (two, second) = laps[0], laps[1]
        parts = []
        if (part := ratio(second[0], first[0])) is not None:
            parts.append(f"{two} writes {figure(part)} times the WAL of {one}")
        if first[1] is not None and second[1] is not None:
            parts.append(f"the index has {figure(second[1])} MB when it is measured last, and {figure(first[1])} MB in {one}")
        if parts:
            says.append(f"{code(key)}: {listed(parts)}.")
    return says


# --- tables -----------------------------------------------------------------

def columns_table(run, scene, metrics, ratios=(), series=""):
    """A row for each key, a column for each metric and its ratios."""
    metrics = [metric for metric in metrics if any(run.stat(scene, key, metric, series) for key in run.keys)]
    keys = [key for key in run.keys if any(run.stat(scene, key, metric, series) for metric in metrics)]
    bases = [base for base in BASES if base in keys]
    if not keys:
        return []
    head, columns = ["key"], []
    for metric in metrics:
        head.append(metric_title(metric))
        columns.append(lambda key, metric=metric: with_spread(run.stat(scene, key, metric, series), metric))
        for base in bases if metric in ratios else ():
            head.append(":\u00a0" + SHORT_NAMES.get(base, base))
            columns.append(lambda key, metric=metric, base=base: ratio_text(
                ratio(run.median(scene, key, metric, series), run.median(scene, base, metric, series))))
    return [Table(head, [[code(key)] + [column(key) for column in columns] for key in keys])]


def some(items, most=8):
    """At most so many of them, evenly, with the first and the last."""
    if len(items) <= most:
        return items
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]


def sweep_tables(run, scene, metrics, xname, xtext=short, ratios=True, series=""):
    """A table for each metric: keys down, x across, and below the ratios."""
    blocks = []
    for metric in metrics:
        xs = some(run.xs(scene, metric, series))
        keys = [key for key in run.scene_keys(scene, metric) if any(run.stat(scene, key, metric, series, x) for x in xs)]
        if not xs or not keys:
            continue
        rows = [[code(key)] + [with_spread(run.stat(scene, key, metric, series, x), metric) for x in xs] for key in keys]
        for base in BASES if ratios and metric not in ("hit_ratio", "leaf_density", "leaf_fragmentation") else ():
            rows += [[f"{code(key)} : {code(base)}"]
                     + [ratio_text(ratio(run.median(scene, key, metric, series, x),
                                         run.median(scene, base, metric, series, x))) for x in xs]
                     for key in keys if base in keys and key != base and key not in BASES[:BASES.index(base)]]
        blocks += [Heading(3, metric_title(metric)), Table([xname] + [xtext(x) for x in xs], rows)]
    return blocks


SUMMARY = [     # heading, metric, how it is written
    ("rows/s", "rows_per_s", "{:.0f}"), ("µs/row", "us_per_row", "{:.1f}"),
    ("WAL bytes/row", "wal_bytes_per_row", "{:.0f}"), ("full-page images/row", "fpi_per_row", "{:.3f}"),
    ("index MB", "index_bytes", "{:.1f}"), ("leaf density %", "leaf_density", "{:.1f}"),
    ("fragmentation %", "leaf_fragmentation", "{:.1f}"), ("hit ratio %", "hit_ratio", "{:.1f}"),
]


def summary(run):
    """The table that run.sh prints: the medians of steady and bulk."""
    blocks = []
    for scene in ("steady", "bulk"):
        keys = run.scene_keys(scene)
        if not keys:
            continue
        shown = [column for column in SUMMARY if run.scene_has(scene, column[1])]
        ratios = [(name, metric, base) for name, metric, base in
                  (("WAL : bigint", "wal_bytes_per_row", "bigint"), ("WAL : random", "wal_bytes_per_row", "gen_random_uuid"),
                   ("time : bigint", "us_per_row", "bigint")) if run.scene_has(scene, metric)]
        rows = []
        for key in keys:
            medians = [(run.median(scene, key, metric), form) for _, metric, form in shown]
            parts = [ratio(run.median(scene, key, metric), run.median(scene, base, metric)) for _, metric, base in ratios]
            rows.append([code(run.label(key))] + ["-" if value is None else form.format(value) for value, form in medians]
                        + ["-" if part is None else f"{part:.3f}" for part in parts])
        blocks += [Heading(2, scene.capitalize()),
                   Table(["key"] + [column[0] for column in shown] + [name for name, _, _ in ratios], rows)]
    return blocks


# --- the report -------------------------------------------------------------

COST = ["rows_per_s", "us_per_row", "wal_bytes_per_row", "fpi_per_row"]
INDEX = ["index_bytes", "leaf_density", "leaf_fragmentation", "leaf_pages", "touched_leaf_pages",
         "hit_ratio", "reads_per_row", "cached_bytes"]


def insert_scene(run, scene, heading, about):
    """The scenes steady and bulk."""
    if not run.scene_has(scene):
        return []
    picture = bars(run, scene, f"{heading}: WAL and time of a row, for each key",
                   [[(scene, "wal_bytes_per_row", "", metric_title("wal_bytes_per_row")),
                     (scene, "us_per_row", "", metric_title("us_per_row"))]])
    says = (say_ratios(run, scene, "wal_bytes_per_row", "WAL, times that of `bigint`")
            + say_ratios(run, scene, "us_per_row", "Time, times that of `bigint`"))
    kinds = stacked_wal(run, f"{scene}-wal", f"{heading}: what the WAL of a row consists of, for each key", scene)
    return ([Heading(2, heading), Paragraph(about)] + ([Bullets(says)] if says else [])
            + ([picture] if picture else [])
            + columns_table(run, scene, COST, ("us_per_row", "wal_bytes_per_row"))
            + columns_table(run, scene, INDEX)
            + ([Heading(3, "What the WAL consists of"),
                Paragraph("A full-page image is a copy of a whole page, written at its first change after a checkpoint. "
                          "Records are the changes themselves."),
                kinds] + columns_table(run, scene, [kind[0] for kind in WAL_KINDS]) if kinds else []))


def heat_section(run):
    keys = [key for key in run.keys if run.touches.get(key)]
    if not keys:
        return []
    title = "Where in the index each key's rows went, in the order of the inserts"
    first = [key for key in keys if key == "bigint" or key in notable(run, keys)] or keys
    others = [key for key in keys if key not in first]
    picture = heat_strips(run, "heat", title, first, 240, 2000)
    others = [heat_strips(run, "heat-others", title + ": the other keys", others, 130, 800)] if others else []
    rows = []
    for key in run.keys:
        touches = run.touches.get(key)
        if touches:
            of = touches[-1].blocks
            rows.append([code(key), f"{len(touches):,}", f"{len(pages(touches)):,}",
                         figure(len(touches) / len(pages(touches))), "–" if of is None else f"{of:,.0f}"])
    return [Heading(2, "Where new rows go in the index"),
            Paragraph("Each dot is one inserted row. To the right is time; upwards is the place of its leaf page in the index, "
                      "in the order of the keys. A key that falls anywhere snows over the whole index. "
                      "One that follows the time draws a thin line: these few pages stay in memory, and a checkpoint makes no more "
                      "than these be written whole again."),
            *([Bullets(says)] if (says := say_touches(run)) else []), picture, *others,
            Table(["key", "rows", "different pages", "rows on a page", "blocks of the index"], rows)]


def sweep_section(run, scene, heading, about, says, metrics, xname, xlabel, more=(), curves=None, xtext=short, ratios=True, **options):
    if not run.scene_has(scene):
        return []
    curves = curves or (lambda key, metric: run.curve(scene, key, metric))
    picture = lines(run, scene, f"{heading}", curves, metrics, xlabel, xtext=xtext, **options)
    return ([Heading(2, heading), Paragraph(about)] + ([Bullets(says)] if says else []) + ([picture] if picture else [])
            + sweep_tables(run, scene, list(metrics) + list(more), xname, xtext, ratios))


MODEL_SCENES = ("steady", "bulk", "outgrow", "checkpoint", "period", "wrap")
MODEL_LIMIT = 0.15


def model_section(run):
    """How near the model comes, scene by scene."""
    rows, worst = [], []
    for scene in MODEL_SCENES:
        ratios = []
        for at in run.values:
            if at[0] != scene or at[4] != "wal_bytes_per_row":
                continue
            expected = run.stat(scene, at[1], "predicted_wal_bytes_per_row", at[2], at[3])
            measured = run.stat(scene, at[1], "wal_bytes_per_row", at[2], at[3])
            if expected and measured.median > 0:
                ratio = expected.median / measured.median
                ratios.append(ratio)
                if abs(ratio - 1) > MODEL_LIMIT:
                    worst.append([scene, code(at[1]), " ".join(filter(None, [at[2], "" if at[3] is None else short(at[3])])),
                                  figure(expected.median), figure(measured.median), f"{ratio:.2f}"])
        if ratios:
            near = sum(abs(ratio - 1) <= MODEL_LIMIT for ratio in ratios)
            rows.append([scene, str(len(ratios)), f"{min(ratios):.2f}", f"{statistics.median(ratios):.2f}", f"{max(ratios):.2f}",
                         f"{near} of {len(ratios)}"])
    if not rows:
        return []
    blocks = [Heading(2, "Model and measurement"),
              Paragraph("What `idgen.expected_key_cost()` expects an inserted row to write to the WAL, divided by what it wrote; medians of the repetitions. "
                        "In the pictures, the pale bands are what it expects."),
              Table(["scene", "points", "least", "median", "greatest", f"within {MODEL_LIMIT * 100:.0f} %"], rows)]
    if worst:
        blocks += [Heading(3, f"Further away than {MODEL_LIMIT * 100:.0f} %"),
                   Table(["scene", "key", "point", "expected", "measured", "ratio"], worst, "text")]
    return blocks


def in_gigabytes(text):
    """Of a size in kB, as the system says it; other text as it is."""
    size = re.fullmatch(r"(\d+) kB", text)
    return f"{figure(int(size.group(1)) / 1048576)} GB" if size else text


def times(value):
    return f"{short(value)}×"


def report_blocks(run):
    """The report, as headings, texts, tables and pictures."""
    blocks = [Heading(1, "What a primary key costs")]
    named = [("server_version", "PostgreSQL {}"), ("date", "{}"), ("cores", "{} cores"),
             ("memory", "{} of memory"), ("shared_buffers", "shared_buffers {}")]
    facts = [form.format(in_gigabytes(run.setting(name))) for name, form in named if run.setting(name)]
    if facts:
        blocks.append(Paragraph(", ".join(facts) + "."))
    blocks.append(Paragraph("Figures are medians, with the least and the greatest of the repetitions in brackets, and as thin bars in the pictures. "
                            "Columns that begin with a colon are ratios to `bigint`, and to `gen_random_uuid()`, random for short. "
                            "WAL and pages hardly change from run to run; times do."))

    blocks += [Heading(2, "The keys"),
               Table(["key", "type", "expression"],
                     [[code(key), run.types.get(key, ""), code(run.label(key))] for key in run.keys], "text")]
    blocks += heat_section(run)
    blocks += insert_scene(run, "steady", "One row a transaction",
                           "A table with a history, a checkpoint, and then one row after the other.")
    blocks += insert_scene(run, "bulk", "Many rows within one minute",
                           "A table whose rows are all of one minute, a checkpoint, and then many more rows of that minute in one INSERT.")
    blocks += sweep_section(
        run, "outgrow", "The index outgrows the memory",
        "The same inserts into an index that is a part, and then a multiple, of shared_buffers. "
        "What does not fit must be read back before a row can go in.",
        say_ends(run, "outgrow", "rows_per_s", lambda x: f"{times(x)} shared_buffers", times, "rows per second are multiplied by"),
        ["rows_per_s", "wal_bytes_per_row", "reads_per_row"], "index : shared_buffers", "size of the index : shared_buffers",
        more=["us_per_row", "hit_ratio"], xtext=times, xlog=2)
    blocks += sweep_section(
        run, "checkpoint", "Rows from checkpoint to checkpoint",
        "The first change of a page after a checkpoint writes the whole page to the WAL. "
        "The more rows fall between two checkpoints, the more of them share this price. Both scales are logarithmic.",
        say_checkpoint(run), ["wal_bytes_per_row"], "rows per checkpoint", "rows from one checkpoint to the next",
        more=["fpi_per_row", "us_per_row"], xlog=10, ylog=True, height=330)

    if run.scene_has("period"):
        key = run.scene_keys("period")[0]
        picture = period_lines(run, "period", "WAL of a row by period, run length and insert rate")
        says = say_period(run)
        blocks += [Heading(2, "Period and run length of a short COMB"),
                   Paragraph(f"{code(key)} with other periods. All rows of a period are random among themselves, and so are runs: "
                             "what counts is how many pages the rows of a period fill."),
                   *([Bullets(says)] if says else []), *([picture] if picture else [])]
        xs = run.xs("period", "wal_bytes_per_row")
        rows = []
        for series in sorted(run.scene_series("period"), key=lambda text: [part or 0 for part in reversed(period_parts(text))] + [text]):
            stats = [run.stat("period", key, "wal_bytes_per_row", series, x) for x in xs]
            if any(stats):
                rows.append([series or "–"] + [with_spread(stat, "wal_bytes_per_row") for stat in stats])
        if rows:
            blocks += [Heading(3, metric_title("wal_bytes_per_row")), Table(["period"] + [duration(x) for x in xs], rows)]

    blocks += sweep_section(
        run, "clients", "Many sessions",
        "One row a transaction from several sessions at once.",
        say_ends(run, "clients", "rows_per_s", lambda x: f"{short(x)} session" + ("s" if x != 1 else ""), lambda x: f"{short(x)}", "rows per second are multiplied by"),
        ["rows_per_s", "wal_bytes_per_row"], "sessions", "sessions", more=["us_per_row"], xlog=2)

    if run.scene_has("read"):
        series = [name for name in ("recent", "random", "range") if name in run.scene_series("read")]
        series += [name for name in run.scene_series("read") if name not in series]
        picture = bars(run, "read", "Reading recent rows, random rows and time ranges, for each key",
                       [[("read", metric, name, f"{name}, {METRICS[metric].unit}") for name in series]
                        for metric in ("us_per_row", "reads_per_row")])
        says = [say for name in series
                for say in say_ratios(run, "read", "us_per_row", f"Time of {name} rows, times that of `bigint`", name)]
        blocks += [Heading(2, "Reading"),
                   Paragraph("The newest rows, rows of any age, and the rows of a time range, looked up by their key. "
                             "The upper row of the picture is time, the lower one the blocks of the index that were not in shared buffers. "
                             "A range needs a key that can say it: the others have none."),
                   *([Bullets(says)] if says else []), *([picture] if picture else [])]
        for name in series:
            blocks += [Heading(3, name.capitalize()),
                       *columns_table(run, "read", ["us_per_row", "hit_ratio", "reads_per_row"], ("us_per_row",), name)]

    if run.scene_has("wrap"):
        curves, laps = lap_curve(run), len(run.scene_series("wrap"))
        metrics = ["wal_bytes_per_row", "index_bytes", "leaf_density"]
        picture = lines(run, "wrap", "WAL and index over two laps of the prefix", curves, metrics, "laps of the prefix",
                        xticks=[lap / 2 for lap in range(2 * laps + 1)], rules=range(1, laps))
        says = say_wrap(run)
        rows = [[f"{code(key)}, {series}"] + ["–" if value is None else figure(value) for value in values]
                for key in run.scene_keys("wrap") for series, values in lap_figures(run, key).items()]
        blocks += [Heading(2, "The second lap of the prefix"),
                   Paragraph("The prefix of a short COMB begins again when all its values were used. "
                             "In the second lap, its rows go between those of the first. The other keys have no laps, and get as many rows."),
                   *([Bullets(says)] if says else []), *([picture] if picture else []),
                   Table(["lap", "mean " + metric_title("wal_bytes_per_row"), metric_title("index_bytes") + ", measured last",
                          metric_title("leaf_density") + ", measured last"], rows)]

    blocks += sweep_section(
        run, "delete", "Old rows go while new ones come",
        "A window of rows: the oldest are deleted, as many new ones come, and VACUUM runs between. "
        "Turnover 1 is when as many rows were deleted as the window holds.",
        say_ends(run, "delete", "index_bytes", lambda x: f"a turnover of {short(x)}", short, "the size of the index is multiplied by"),
        ["index_bytes", "leaf_density", "heap_bytes"], "turnover", "rows deleted : rows held")

    blocks += model_section(run)

    if run.settings:
        blocks += [Heading(2, "Settings"),
                   Table(["setting", "value"], [[code(name), value] for name, value in run.settings], "text")]
    return blocks


def draw(blocks, out):
    """Replace the pictures by (picture, their SVG), and write these."""
    pictures = [block for block in blocks if isinstance(block, Picture)]
    drawn = {}
    if not shutil.which("gnuplot"):
        if pictures:
            warn("gnuplot is not there: the report has no pictures")
    else:
        for picture in pictures:
            drawn[picture.name] = picture.svg()
            with open(os.path.join(out, picture.name + ".svg"), "w", encoding="utf-8") as file:
                file.write(drawn[picture.name])
    return [(block, drawn[block.name]) if isinstance(block, Picture) else block
            for block in blocks if not isinstance(block, Picture) or block.name in drawn]


def main():
    parser = argparse.ArgumentParser(description="Write the report of a run of the benchmark.")
    parser.add_argument("folder", metavar="FOLDER", help="where run.sh has left its files")
    parser.add_argument("--out", metavar="FOLDER", help="where the report goes (default: there)")
    arguments = parser.parse_args()
    out = arguments.out or arguments.folder

    run = Run(arguments.folder)
    if run.empty():
        warn(f"nothing was measured in {arguments.folder}")
        return 1
    os.makedirs(out, exist_ok=True)
    blocks = draw(report_blocks(run), out)
    with open(os.path.join(out, "report.html"), "w", encoding="utf-8") as file:
        file.write(render_html(blocks[0].text, blocks, run.looks))
    with open(os.path.join(out, "report.md"), "w", encoding="utf-8") as file:
        file.write(render_markdown(blocks))
    sys.stdout.reconfigure(encoding="utf-8")
    print(render_markdown(summary(run)), end="")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, RuntimeError) as error:
        warn(error)
        sys.exit(1)
