#!/usr/bin/env python3
"""report.py: write the report and the pictures of one run of the laboratory.

    bench/lab/report.py FOLDER [--out FOLDER | --summary]

Reads the files that run.sh wrote to the folder (measurements.csv, keys.csv,
settings.csv, touches.csv) and writes report.html, report.md and the pictures,
*.svg, to the same folder or to --out. Prints a table of the scenes steady and
bulk. With --summary it only prints the table.

Missing files, scenes, keys and metrics are left out, so that an interrupted run
has a report too. All numbers and conclusions are computed from the files. The
same input gives the same output, byte for byte.

gnuplot draws the pictures; without it the report has only tables.
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
}
# for keys given with --key, in the order of their definition
FREE_LOOKS = [
    Look("#c2185b", "(6,3)", 11), Look("#00796b", "(10,3,3,3)", 15),
    Look("#7b1fa2", "(4,3)", 12), Look("#5d4037", "(12,4)", 10),
    Look("#0277bd", "(2,2)", 4),  Look("#9e9d24", "(8,4,2,4)", 14),
]

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
    """The measurements in a folder."""

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
        # the look of a key does not depend on which other keys were measured
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

    def median(self, *at):
        stat = self.stat(*at)
        return stat.median if stat else None

    def scene_has(self, scene, metric=None):
        return any(at[0] == scene and metric in (None, at[4]) for at in self.values)

    def scene_keys(self, scene, metric=None):
        have = {at[1] for at in self.values if at[0] == scene and metric in (None, at[4])}
        return [key for key in self.keys if key in have]

    def scene_series(self, scene):
        """The series of a scene, in the order of the file."""
        return list(dict.fromkeys(at[2] for at in self.values if at[0] == scene))

    def xs(self, scene, metric, series=None):
        return sorted({at[3] for at in self.values
                       if at[0] == scene and at[4] == metric and at[3] is not None
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
    return f"{value:.3f}" if size >= 0.0005 else f"{value:.1g}"


def short(value):
    """Format a value for an axis."""
    return f"{value:,.0f}" if value == round(value) else f"{value:g}"


def with_spread(stat, metric):
    """Format the median and the spread; counts have no decimals."""
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
    """Map values to 0..1 along an axis. Linear scales of quantities begin at
    zero; log is the base of a logarithmic scale, 0 for a linear one."""

    def __init__(self, values, log=0, ticks=None, tick_text=short, zero=True, pad=0.0):
        if log:     # other values cannot be drawn
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
        """Powers of ten; for a short span also 2 and 5 times these."""
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


def needs_log(metric, values, times=10):
    """Whether the largest values would flatten the others on a linear scale."""
    return (metric in ("wal_bytes_per_row", "us_per_row")
            and bool(values) and min(values) > 0 and max(values) / min(values) > times)


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def shortened(text, most=24):
    return text if len(text) <= most else text[:most - 9] + "…" + text[-8:]


def apart(wanted, least, low, high):
    """Return the places nearest to the wanted ones that are at least that far apart."""
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
    """A picture as a gnuplot script. Panels and texts are placed in pixels from
    the left and from the top, so that texts do not overlap."""

    def __init__(self, name, height, title):
        self.name, self.height, self.title = name, height, title
        self.about = ""         # a description, for readers who cannot see it
        self.script = []
        self.data = []
        self.labels = []

    def block(self, lines):
        self.data.append(f"$d{len(self.data)} << EOD\n" + "\n".join(lines) + "\nEOD")
        return f"$d{len(self.data) - 1}"

    def text(self, x, y, text, colour=INK, align="left", size=FONT):
        """Place text, vertically centred on y."""
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

    # plots for a panel

    def line(self, points, look, title, width=2):
        """A line through the medians, and thin bars for the spread."""
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
        """The model's prediction: a pale band behind the measured line."""
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
        """Run gnuplot and return the SVG."""
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
        """Shorten gnuplot's SVG and prepare it for a page with other pictures: give
        it a title, a description, unique ids, links as in SVG 2 and a common font."""
        about = f"<desc>{html.escape(self.about)}</desc>" if self.about else ""
        text = text[text.index("<svg"):]
        text = re.sub(r"<title>g_plot_\w+</title>", "", text)
        text = re.sub(r"<title>.*?</title>\s*<desc>.*?</desc>",
                      lambda match: f"<title>{html.escape(self.title)}</title>\n{about}", text, count=1, flags=re.S)
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
        """Label lines at their right ends: ends = [(y, text, colour), ...]."""
        places = apart([y for y, _, _ in ends], LINE - 1, top, bottom)
        for (y, text, colour), place in zip(ends, places):
            self.labels.append(
                f"set arrow from screen {(right + 3) / WIDTH:.5f}, screen {1 - y / self.height:.5f} "
                f"to screen {(right + 11) / WIDTH:.5f}, screen {1 - place / self.height:.5f} nohead lw 1 lc rgb '{colour}'")
            self.text(right + 14, place, text, darker(colour), size=size)


def darker(colour):
    """The colour, darkened until text is legible on white."""
    red, green, blue = (int(colour[i:i + 2], 16) for i in (1, 3, 5))
    light = (0.299 * red + 0.587 * green + 0.114 * blue) / 255
    by = min(1.0, 0.42 / light) if light else 1.0
    return "#%02x%02x%02x" % tuple(round(part * by) for part in (red, green, blue))


def metric_title(metric, log=False):
    title, unit = METRICS[metric]
    return f"{title}, {unit}" + (" (log scale)" if log else "")


def bars(run, name, title, panels):
    """Panels of bars side by side: panels = [(scene, metric, series, heading),
    ...]. Each key has a row, and its figure is written beside its bar."""
    panels = [panel for panel in panels if any(run.stat(panel[0], key, panel[1], panel[2]) for key in run.keys)]
    keys = [key for key in run.keys if any(run.stat(scene, key, metric, series) for scene, metric, series, _ in panels)]
    if not keys:
        return None
    names = 14 + 7.6 * max(len(shortened(key)) for key in keys)
    room = 26 if len(keys) <= 12 else 21
    top, height = 42, len(keys) * room
    picture = Picture(name, top + height + 34, title)
    slot = (WIDTH - names) / len(panels)
    for column, (scene, metric, series, heading) in enumerate(panels):
        stats = {key: stat for key in keys if (stat := run.stat(scene, key, metric, series))}
        # panels of one metric have one scale, so that they can be compared
        scale = Scale([stat.high for panel in panels if panel[1] == metric for key in keys
                       if (stat := run.stat(panel[0], key, metric, panel[2]))])
        box = (names + column * slot, top, names + (column + 1) * slot - 62, top + height)
        rows = Scale([0], ticks=[], zero=False)
        rows.low, rows.high = len(keys) - 0.5, -0.5
        plots = []
        for row, key in enumerate(keys):
            y = top + (row + 0.5) * room
            if column == 0:
                picture.text(names - 10, y, shortened(key), align="right")
            stat = stats.get(key)
            if stat is None:
                picture.text(box[0] + 6, y, "–", SOFT)
                continue
            plots.append(picture.box(row, 0.0, stat.median, "solid 1.0", run.looks[key].colour, key, half=0.33))
            if stat.high > stat.low:
                # a white edge, to be visible on a dark bar
                plots += [picture.segment(row, stat.low, stat.high, "#ffffff", key, 3),
                          picture.segment(row, stat.low, stat.high, INK, key)]
            picture.text(box[0] + (box[2] - box[0]) * scale.at(stat.high) + 6, y, figure(stat.median))
        picture.panel(box, scale, rows, plots, title=heading, grid="x", yticks=False)
    return picture


def stacked_wal(run, name, title, scene):
    """The parts of the WAL of a row, as one bar for each key."""
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
        picture.text(box[0] + (box[2] - box[0]) * scale.at(sums[key]) + 6, y, figure(run.median(scene, key, "wal_bytes_per_row") or sums[key]))
    picture.text(14, 14, "WAL, bytes/row:")
    picture.panel(box, scale, rows, plots, grid="x", yticks=False)
    # the legend
    left = 144
    for metric, kind, fill, colour in kinds:
        unit = Scale([0, 1], ticks=[])
        picture.text(left + 26, 14, kind)
        picture.panel((left, 5, left + 20, 23), unit, unit, [picture.box(0.5, 0.0, 1.0, fill, colour, kind, half=0.33, border=True)], xticks=False, yticks=False)
        left += 42 + 7.2 * len(kind)
    return picture


def lines(run, name, title, curves, metrics, xlabel, xlog=0, xtext=short, xticks=None, rules=(), height=170):
    """Panels one above the other, each with a line for each key:
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
        log = 10 if needs_log(metric, values) else 0
        if log:     # a logarithmic scale has no zero
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
    """For each key, the places in the index to which its rows went; at most that
    many dots a key, because more would not show more."""
    columns = math.ceil(len(keys) / math.ceil(len(keys) / 6))
    left, gap, head = 78, 16, 82
    width = min(220, (WIDTH - left - 6 - gap * (columns - 1)) / columns)
    picture = Picture(name, math.ceil(len(keys) / columns) * (height + head) + 22, title)
    last_row = max(touch.row for touches in run.touches.values() for touch in touches)
    xscale = Scale([0, last_row], ticks=[], pad=0.02)
    yscale = Scale([0, 1], ticks=[], pad=0.03)
    drawn = {key: run.touches[key][::math.ceil(len(run.touches[key]) / most)] for key in keys}
    picture.text(left, 12, heat_caption(run, [len(drawn[key]) for key in keys]), SOFT, size=FONT - 1)
    for i, key in enumerate(keys):
        x = left + (i % columns) * (width + gap)
        top = head - 4 + (i // columns) * (height + head)
        size = 2.0 if len(drawn[key]) > 800 else 2.6
        half = (xscale.high - xscale.low) / width * size / 2
        dots = "\n\n".join(f"{touch.row - half:.6g} {touch.position:.5g}\n{touch.row + half:.6g} {touch.position:.5g}"
                           for touch in drawn[key])
        data = picture.block([dots])
        picture.text(x, top - 33, shortened(key, 20), darker(run.looks[key].colour), size=FONT + 1)
        picture.text(x, top - 14, heat_pages(run, key), SOFT, size=FONT - 2)
        if i % columns == 0:
            for y, text in ((9, "last page"), (height / 2 - 9, "place in"), (height / 2 + 9, "the index"), (height - 9, "first page")):
                picture.text(left - 9, top + y, text, SOFT, "right", FONT - 1)
        for y in (0, 1):
            picture.labels.append(f"set arrow from graph 0, graph {y} to graph 1, graph {y} nohead back lw 1 lc rgb '#c4c4c4'")
            picture.labels.append(f"set arrow from graph {y}, graph 0 to graph {y}, graph 1 nohead back lw 1 lc rgb '#c4c4c4'")
        picture.text(x, top + height + 13, "first", SOFT, "left", FONT - 1)
        picture.text(x + width / 2, top + height + 13, "rows", SOFT, "center", FONT - 1)
        picture.text(x + width, top + height + 13, "last", SOFT, "right", FONT - 1)
        picture.panel((x, top, x + width, top + height), xscale, yscale,
                      [f"{data} using 1:2 with lines lw {size} lc rgb '{run.looks[key].colour}' title {quoted(key)}"],
                      xticks=False, yticks=False)
    return picture


def heat_caption(run, counts):
    """How many rows are drawn, and of how many."""
    inserted = [value for key in run.touches if (value := run.median("steady", key, "inserted_rows"))]
    of = f" of {inserted[0]:,.0f}" if inserted and min(inserted) == max(inserted) > max(counts) else ""
    drawn = f"{min(counts):,}" if min(counts) == max(counts) else f"{min(counts):,} to {max(counts):,}"
    return f"Each dot is an inserted row: {drawn}{of} rows are drawn for each key. Below its name: the leaf pages that the rows touched."


def heat_pages(run, key):
    """The number of pages that all rows touched, or those that are drawn."""
    touched, pages_before = (run.median("steady", key, metric) for metric in ("touched_leaf_pages", "leaf_pages"))
    return (f"{touched:,.0f} of {pages_before:,.0f} pages" if touched and pages_before
            else f"{len(pages(run.touches[key])):,} pages touched")


def pages(touches):
    """The distinct pages of the touches."""
    return {touch.position if touch.block is None else touch.block for touch in touches}


# The run lengths of the scene period have shades of one colour.
RUN_LOOKS = [Look("#5e1f07", SOLID, 7), Look("#d1460f", "(8,4)", 13), Look("#e89a3c", "(3,3)", 6),
             Look("#a88f6a", "(8,3,2,3)", 8), Look("#c9b79c", "(2,4)", 4)]


def period_parts(series):
    """Parse run_length=R rate=N; None for a missing number."""
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
    """A table cell; the spread is in small type, and a key has a square of its colour."""
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


# --- conclusions ------------------------------------------------------------

def notable(run, keys):
    """The keys that conclusions name: those of the sweeps, and the user's."""
    return [key for key in keys
            if key in ("bigint", "random", "uuid_v7", "snowflake", "short_comb", "short_comb_run") or key not in LOOKS]


# A row of the table of conclusions; values is {key: number}.
Comparison = namedtuple("Comparison", "title values")


def compare(run, title, value):
    """[Comparison] of the keys for which value(key) is a number."""
    values = {key: number for key in notable(run, run.keys) if (number := value(key)) is not None}
    return [Comparison(title, values)] if values else []


def compare_at(run, scene, metric, title, series="", x=None):
    return compare(run, title, lambda key: run.median(scene, key, metric, series, x))


def compare_last(run, scene, metric, title, xtext=short):
    """At the last x, whose text is {} in the title."""
    xs = run.xs(scene, metric)
    return compare_at(run, scene, metric, title.format(xtext(xs[-1])), "", xs[-1]) if xs else []


def say(run, scene, metric, text, one, other, x=None):
    """[text], in which {} is the metric of one key, divided by that of the other."""
    part = ratio(run.median(scene, one, metric, "", x), run.median(scene, other, metric, "", x))
    return [] if part is None else [text.format(figure(part), f"`{one}`", f"`{other}`")]


def say_last(run, scene, metric, text, one, other, xtext=short):
    """The same at the last x, whose text is X."""
    xs = run.xs(scene, metric)
    return say(run, scene, metric, text.replace("X", xtext(xs[-1])), one, other, xs[-1]) if xs else []


def compare_touches(run):
    return compare(run, "Leaf pages to which new rows went", lambda key: run.touches.get(key) and (
        run.median("steady", key, "touched_leaf_pages") or float(len(pages(run.touches[key])))))


def compare_checkpoints(run):
    xs = run.xs("checkpoint", "wal_bytes_per_row")
    return [row for x in dict.fromkeys((xs[0], xs[-1]) if xs else ())
            for row in compare_at(run, "checkpoint", "wal_bytes_per_row", f"WAL bytes/row, {short(x)} rows between checkpoints", "", x)]


def say_period(run):
    found = [(stat.median, series, x) for (scene, key, series, x, metric) in run.values
             if scene == "period" and metric == "wal_bytes_per_row" and x is not None
             and (stat := run.stat(scene, key, metric, series, x))]
    if len(found) < 2:
        return []
    def at(item):
        length, rate = period_parts(item[1])
        parts = [f"a period of {duration(item[2])}"]
        parts += [f"a run length of {short(length)}"] if length else []
        parts += [f"{short(rate)} rows/s"] if rate else []
        return f"{figure(item[0])} bytes/row with {listed(parts)}"
    return [f"A short COMB writes the least WAL, {at(min(found))}, and the most, {at(max(found))}."]


def cycle_curve(run):
    """The cycles of the prefix one after the other: x is in cycles."""
    def curve(key, metric):
        points = {}
        for i, series in enumerate(sorted(run.scene_series("wrap"))):
            number_of = re.search(r"\d+", series)
            cycle = int(number_of.group()) - 1 if number_of else i
            for x, stat in run.curve("wrap", key, metric, series):
                points.setdefault(cycle + x, stat)
        return sorted(points.items())
    return curve


def cycle_figures(run, key):
    """{series: (mean WAL, last index size, last leaf density)} of a key."""
    figures = {}
    for series in sorted(run.scene_series("wrap")):
        wal = [stat.median for _, stat in run.curve("wrap", key, "wal_bytes_per_row", series)]
        last = [curve[-1][1].median if (curve := run.curve("wrap", key, metric, series)) else None
                for metric in ("index_bytes", "leaf_density")]
        figures[series] = (statistics.mean(wal) if wal else None, *last)
    return figures


def compare_cycles(run):
    def second(column):
        def value(key):
            cycles = list(cycle_figures(run, key).values())
            return ratio(cycles[1][column], cycles[0][column]) if len(cycles) > 1 and cycles[1][column] else None
        return value
    return compare(run, "WAL of the second cycle of the prefix, times that of the first", second(0))


def conclusions(run, found):
    """The sentences as a list, and the comparisons as one table."""
    texts = [text for text in found if isinstance(text, str)]
    rows = [row for row in found if isinstance(row, Comparison)]
    keys = [key for key in run.keys if any(key in row.values for row in rows)]
    cells = [[row.title] + ["–" if key not in row.values else figure(row.values[key]) if row.values[key] % 1 else f"{row.values[key]:,.0f}"
                            for key in keys] for row in rows]
    return (([Bullets(texts)] if texts else [])
            + ([Table(["median"] + [code(key) for key in keys], cells)] if cells else []))


# --- tables -----------------------------------------------------------------

RATIOS = ("rows_per_s", "us_per_row", "wal_bytes_per_row", "index_bytes")    # the metrics with ratios


def columns_table(run, scene, metrics, ratios=RATIOS[:3], series=""):
    """A row for each key, and a column for each metric and ratio."""
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
            head.append(":\u00a0" + base)
            columns.append(lambda key, metric=metric, base=base: ratio_text(
                ratio(run.median(scene, key, metric, series), run.median(scene, base, metric, series))))
    return [Table(head, [[code(key)] + [column(key) for column in columns] for key in keys])]


def some(items, most=8):
    """At most that many items, evenly spaced, with the first and the last."""
    if len(items) <= most:
        return items
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]


def sweep_tables(run, scene, metrics, xname, xtext=short):
    """A table for each metric: a row for each key and ratio, a column for each x."""
    blocks = []
    for metric in metrics:
        xs = some(run.xs(scene, metric))
        keys = [key for key in run.scene_keys(scene, metric) if any(run.stat(scene, key, metric, "", x) for x in xs)]
        if not xs or not keys:
            continue
        rows = [[code(key)] + [with_spread(run.stat(scene, key, metric, "", x), metric) for x in xs] for key in keys]
        for base in BASES if metric in RATIOS else ():
            rows += [[f"{code(key)} : {code(base)}"]
                     + [ratio_text(ratio(run.median(scene, key, metric, "", x),
                                         run.median(scene, base, metric, "", x))) for x in xs]
                     for key in keys if base in keys and key != base and key not in BASES[:BASES.index(base)]]
        blocks += [Heading(3, metric_title(metric)), Table([xname] + [xtext(x) for x in xs], rows)]
    return blocks


SUMMARY = [     # heading, metric, format
    ("rows/s", "rows_per_s", "{:.0f}"),
    ("WAL bytes/row", "wal_bytes_per_row", "{:.0f}"), ("full-page images/row", "fpi_per_row", "{:.3f}"),
    ("index MB", "index_bytes", "{:.1f}"), ("leaf density %", "leaf_density", "{:.1f}"),
    ("fragmentation %", "leaf_fragmentation", "{:.1f}"), ("hit ratio %", "hit_ratio", "{:.1f}"),
]


def summary(run):
    """The tables that run.sh prints: the medians of steady and bulk."""
    blocks = []
    for scene in ("steady", "bulk"):
        keys = run.scene_keys(scene)
        if not keys:
            continue
        shown = [column for column in SUMMARY if run.scene_has(scene, column[1])]
        ratios = [(name, metric, base) for name, metric, base in
                  (("WAL : bigint", "wal_bytes_per_row", "bigint"), ("WAL : random", "wal_bytes_per_row", "random")) if run.scene_has(scene, metric)]
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

# A section: its heading, its conclusions (sentences and comparisons), its text,
# its pictures (None where there is too little data) and its tables.
Section = namedtuple("Section", "heading found about pictures tables")

COST = ["rows_per_s", "wal_bytes_per_row", "fpi_per_row"]
INDEX = ["index_bytes", "leaf_density", "leaf_fragmentation", "leaf_pages", "touched_leaf_pages",
         "hit_ratio", "reads_per_row", "cached_bytes"]
MODEL_SCENES = ("steady", "bulk", "outgrow", "checkpoint", "period", "wrap")
MODEL_LIMIT = 0.15


def times(value):
    return f"{short(value)}×"


def heat_section(run):
    keys = [key for key in run.keys if run.touches.get(key)]
    first = notable(run, keys) or keys
    others = [key for key in keys if key not in first]
    title = "Leaf page of the index to which each new row went, in the order of the inserts"
    rows = [[code(key), f"{len(run.touches[key]):,}", f"{len(pages(run.touches[key])):,}",
             "–" if (blocks := run.touches[key][-1].blocks) is None else f"{blocks:,.0f}"] for key in keys]
    return Section(
        "Where new rows go in the index", compare_touches(run),
        "Time runs to the right; the place of the leaf page in the index, in key order, is upwards. Random keys go to all pages. Keys that follow "
        "the time go to few pages, which stay in memory and of which a checkpoint causes few full-page images.",
        [heat_strips(run, "heat", title + ", by key", first, 220, 2000),
         heat_strips(run, "heat-others", title + ": the other keys", others, 130, 800) if others else None],
        [Table(["key", "rows drawn", "different pages among these", "blocks of the index"], rows)])


def steady_section(run):
    heading = "One row a transaction"
    title = heading + ": WAL bytes of an inserted row, by key"
    return Section(
        heading,
        say(run, "steady", "wal_bytes_per_row", "With one row a transaction, {1} writes {0} times the WAL of {2}.", "random", "short_comb")
        + say(run, "steady", "index_bytes", "The index of {1} is {0} times as large as that of {2}.", "short_comb", "random")
        + compare_at(run, "steady", "wal_bytes_per_row", "WAL bytes/row, one row a transaction")
        + compare_at(run, "steady", "index_bytes", "Index MB, one row a transaction"),
        "A table with a history of days, a checkpoint, and then one row in each transaction. A full-page image is a copy of a page, written at "
        "its first change after a checkpoint; records describe the changes. Compare throughput, in the table, with its spread.",
        [stacked_wal(run, "steady", title, "steady") or bars(run, "steady", title, [("steady", "wal_bytes_per_row", "", metric_title("wal_bytes_per_row"))])],
        [table for metrics in (COST, INDEX, [kind[0] for kind in WAL_KINDS]) for table in columns_table(run, "steady", metrics)])


def bulk_section(run):
    heading = "Many rows within one minute"
    return Section(
        heading,
        say(run, "bulk", "wal_bytes_per_row", "In a bulk load within one minute, {1} writes {0} times the WAL of {2}.", "short_comb", "random")
        + say(run, "bulk", "wal_bytes_per_row", "In that bulk load, {1} writes {0} times the WAL of {2}.", "short_comb_run", "random")
        + compare_at(run, "bulk", "wal_bytes_per_row", "WAL bytes/row, bulk load within one minute"),
        "A table whose rows are all of one minute, a checkpoint, and then many more rows of that minute in one INSERT. "
        "Within its period, a short COMB without runs is random.",
        [bars(run, "bulk", heading + ": WAL bytes of an inserted row, and rows inserted per second, by key",
              [("bulk", metric, "", metric_title(metric)) for metric in ("wal_bytes_per_row", "rows_per_s")])],
        [table for metrics in (COST, INDEX, [kind[0] for kind in WAL_KINDS]) for table in columns_table(run, "bulk", metrics)])


def sweep_section(run, scene, heading, title, says, about, drawn, others, xname, xlabel, xtext=short, **options):
    """A section of lines over x: a panel for each metric drawn, a table for each."""
    picture = lines(run, scene, title, lambda key, metric: run.curve(scene, key, metric), drawn, xlabel, xtext=xtext, **options)
    return Section(heading, says, about, [picture], sweep_tables(run, scene, drawn + others, xname, xtext))


def period_section(run):
    key = run.scene_keys("period")[0]
    xs = run.xs("period", "wal_bytes_per_row")
    rows = []
    for series in sorted(run.scene_series("period"), key=lambda text: [part or 0 for part in reversed(period_parts(text))] + [text]):
        stats = [run.stat("period", key, "wal_bytes_per_row", series, x) for x in xs]
        if any(stats):
            rows.append([series or "–"] + [with_spread(stat, "wal_bytes_per_row") for stat in stats])
    return Section(
        "Period and run length of a short COMB", say_period(run),
        f"{code(key)} with several periods. The rows of a period are in random order, and so are runs: "
        "the cost depends on how many pages the rows of a period fill.",
        [period_lines(run, "period", "WAL bytes of an inserted row by the period of a short COMB, for each run length and insert rate")],
        [Heading(3, metric_title("wal_bytes_per_row")), Table(["period"] + [duration(x) for x in xs], rows)] if rows else [])


def read_section(run):
    series = [name for name in ("recent", "random", "range") if name in run.scene_series("read")]
    series += [name for name in run.scene_series("read") if name not in series]
    panels = [("read", "us_per_row", "recent", "newest rows, µs/row"),
              ("read", "reads_per_row", "recent", "newest rows, blocks/row"),
              ("read", "reads_per_row", "random", "any rows, blocks/row")]
    return Section(
        "Reading", compare_at(run, "read", "us_per_row", "µs to read one of the newest rows", "recent"),
        "The newest rows (recent), rows of any age (random) and the rows of a time range (range), looked up by their key, from empty shared buffers. "
        "Blocks are those of the index that had to be read. Ranges need a key from which the time can be computed.",
        [bars(run, "read", "Time and index blocks read to look up the newest rows, and index blocks for rows of any age, by key", panels)],
        [block for name in series if (table := columns_table(run, "read", ["us_per_row", "hit_ratio", "reads_per_row"], series=name))
         for block in (Heading(3, name.capitalize()), *table)])


def wrap_section(run):
    cycles = len(run.scene_series("wrap"))
    metrics = ["wal_bytes_per_row", "index_bytes", "leaf_density"]
    rows = [[f"{code(key)}, {series}"] + ["–" if value is None else figure(value) for value in values]
            for key in run.scene_keys("wrap") for series, values in cycle_figures(run, key).items()]
    return Section(
        "The second cycle of the prefix", compare_cycles(run),
        "The prefix of a short COMB starts again after its last value. In the second cycle, its rows go between those of the first. "
        "The other keys have no cycles, and get as many rows.",
        [lines(run, "wrap", "WAL bytes of a row, index size and leaf density over two cycles of the short COMB's prefix, by key", cycle_curve(run), metrics,
               "cycles of the prefix", xticks=[cycle / 2 for cycle in range(2 * cycles + 1)], rules=range(1, cycles))],
        [Table(["cycle", "mean " + metric_title("wal_bytes_per_row")] + [f"{metric_title(metric)}, last value" for metric in metrics[1:]], rows)])


def model_section(run):
    """How near the model's prediction is, scene by scene."""
    rows, worst, points, near = [], [], 0, 0
    for scene in MODEL_SCENES:
        ratios = []
        for at in run.values:
            if at[0] != scene or at[4] != "wal_bytes_per_row":
                continue
            expected = run.stat(scene, at[1], "predicted_wal_bytes_per_row", at[2], at[3])
            measured = run.stat(scene, at[1], "wal_bytes_per_row", at[2], at[3])
            if expected and measured.median > 0:
                ratios.append(expected.median / measured.median)
                if abs(ratios[-1] - 1) > MODEL_LIMIT:
                    worst.append([scene, code(at[1]), " ".join(filter(None, [at[2], "" if at[3] is None else short(at[3])])),
                                  figure(expected.median), figure(measured.median), f"{ratios[-1]:.2f}"])
        if ratios:
            within = sum(abs(part - 1) <= MODEL_LIMIT for part in ratios)
            points, near = points + len(ratios), near + within
            rows.append([scene, str(len(ratios)), f"{min(ratios):.2f}", f"{statistics.median(ratios):.2f}", f"{max(ratios):.2f}",
                         f"{within} of {len(ratios)}"])
    return rows and Section(
        "Model and measurement", [f"`idgen.expected_key_cost()` predicts the WAL of a row within {MODEL_LIMIT * 100:.0f} % for {near} of {points} measurements."],
        "The WAL bytes of a row that `idgen.expected_key_cost()` predicts, divided by the measured ones; medians of the repetitions.", [],
        [Table(["scene", "points", "least", "median", "greatest", f"within {MODEL_LIMIT * 100:.0f} %"], rows)]
        + ([Heading(3, f"Not within {MODEL_LIMIT * 100:.0f} %"), Table(["scene", "key", "point", "predicted", "measured", "ratio"], worst, "text")] if worst else []))


def sections(run):
    yield run.touches and heat_section(run)
    yield run.scene_has("steady") and steady_section(run)
    yield run.scene_has("bulk") and bulk_section(run)
    yield run.scene_has("outgrow") and sweep_section(
        run, "outgrow", "The index outgrows the memory", "Rows inserted per second and WAL bytes of a row as the index outgrows shared_buffers, by key",
        say_last(run, "outgrow", "rows_per_s", "With an index of X shared_buffers, {1} inserts {0} times as many rows a second as {2}.", "random", "short_comb", times)
        + say_last(run, "outgrow", "wal_bytes_per_row", "With an index of X shared_buffers, {1} writes {0} times the WAL of {2}.", "random", "short_comb", times)
        + compare_last(run, "outgrow", "rows_per_s", "Rows/s, index of {} shared_buffers", times)
        + compare_last(run, "outgrow", "wal_bytes_per_row", "WAL bytes/row, index of {} shared_buffers", times),
        f"The same inserts into an index of a fraction to a multiple of shared_buffers ({run.setting('outgrow.shared_buffers') or 'see settings'} in this scene). "
        "A page that is not in memory must be read before a row can be inserted into it.",
        ["rows_per_s", "wal_bytes_per_row"], ["reads_per_row", "hit_ratio"],
        "index : shared_buffers", "size of the index, divided by shared_buffers", times, xlog=2, height=190)
    yield run.scene_has("checkpoint") and sweep_section(
        run, "checkpoint", "Rows between checkpoints", "WAL bytes of an inserted row by the number of rows between two checkpoints, by key", compare_checkpoints(run),
        "The first change of a page after a checkpoint writes the whole page to the WAL. "
        "The more rows are inserted between two checkpoints, the more rows share this cost.",
        ["wal_bytes_per_row"], ["fpi_per_row", "rows_per_s"], "rows between checkpoints", "rows between two checkpoints", xlog=10, height=330)
    yield run.scene_has("period") and period_section(run)
    yield run.scene_has("clients") and sweep_section(
        run, "clients", "Many sessions", "WAL bytes of an inserted row by the number of sessions, by key",
        compare_last(run, "clients", "wal_bytes_per_row", "WAL bytes/row, {} sessions"),
        "One row a transaction from several sessions at once. Compare throughput, in the table, with its spread.",
        ["wal_bytes_per_row"], ["rows_per_s"], "sessions", "sessions", xlog=2, height=240)
    yield run.scene_has("read") and read_section(run)
    yield run.scene_has("wrap") and wrap_section(run)
    yield run.scene_has("delete") and sweep_section(
        run, "delete", "Deleting old rows", "Index size and leaf density while old rows are deleted and new ones inserted, by key",
        say_last(run, "delete", "index_bytes", "Where old rows are deleted, the index of {1} grows to {0} times the size of that of {2}.", "short_comb", "random")
        + compare_last(run, "delete", "index_bytes", "Index MB, old rows deleted"),
        "A table of constant size: the oldest rows are deleted, as many new ones are inserted, and VACUUM follows. "
        "At turnover 1, as many rows were deleted as the table holds.",
        ["index_bytes", "leaf_density"], ["heap_bytes"], "turnover", "deleted rows, divided by the rows of the table")
    yield model_section(run)


def in_gigabytes(text):
    """A size in kB, as the system reports it, in GB; other text unchanged."""
    size = re.fullmatch(r"(\d+) kB", text)
    return f"{figure(int(size.group(1)) / 1048576)} GB" if size else text


def report_blocks(run):
    """The report, as headings, texts, tables and pictures."""
    have = [section for section in sections(run) if section]
    named = [("date", "Measured {}"), ("server_version", "PostgreSQL {}"), ("cores", "{} cores"), ("memory", "{} of memory"),
             ("shared_buffers", "shared_buffers {}"), ("synchronous_commit", "synchronous_commit {}"), ("full_page_writes", "full_page_writes {}")]
    facts = [form.format(in_gigabytes(run.setting(name))) for name, form in named if run.setting(name)]
    found = conclusions(run, [item for section in have for item in section.found])

    blocks = [Heading(1, "What a primary key costs")]
    blocks += [Paragraph(", ".join(facts) + ". All settings are at the end.")] if facts else []
    blocks += [Heading(2, "Conclusions"), *found] if found else []
    blocks += [Heading(2, "The keys"),
               Paragraph("Figures are medians, with the least and the greatest of the repetitions in brackets, and as thin bars in the pictures. "
                         "Columns that begin with a colon are ratios to `bigint`, and to `gen_random_uuid()`, here called `random`. "
                         "In the pictures, pale bands are predictions of `idgen.expected_key_cost()`. WAL and pages hardly change from run to run; times do."),
               Table(["key", "type", "expression"],
                     [[code(key), run.types.get(key, ""), code(run.label(key))] for key in run.keys], "text")]
    for section in have:
        blocks += [Heading(2, section.heading), Paragraph(section.about)]
        for picture in filter(None, section.pictures):
            picture.about = " ".join([section.about, *(text for text in section.found if isinstance(text, str))]).replace("`", "")
            blocks.append(picture)
        blocks += section.tables
    if run.settings:
        blocks += [Heading(2, "Settings"),
                   Table(["setting", "value"], [[code(name), value] for name, value in run.settings], "text")]
    return blocks


def draw(blocks, out):
    """Write the pictures, and replace each by (picture, SVG)."""
    pictures = [block for block in blocks if isinstance(block, Picture)]
    drawn = {}
    if not shutil.which("gnuplot"):
        if pictures:
            warn("gnuplot is not installed: the report has no pictures")
    else:
        for picture in pictures:
            drawn[picture.name] = picture.svg()
            with open(os.path.join(out, picture.name + ".svg"), "w", encoding="utf-8") as file:
                file.write(drawn[picture.name])
    return [(block, drawn[block.name]) if isinstance(block, Picture) else block
            for block in blocks if not isinstance(block, Picture) or block.name in drawn]


def main():
    parser = argparse.ArgumentParser(description="Write the report of a run of the laboratory.")
    parser.add_argument("folder", metavar="FOLDER", help="the output folder of run.sh")
    parser.add_argument("--out", metavar="FOLDER", help="write the report to this folder (default: the same)")
    parser.add_argument("--summary", action="store_true", help="only print the table of steady and bulk")
    arguments = parser.parse_args()
    out = arguments.out or arguments.folder

    run = Run(arguments.folder)
    if run.empty():
        warn(f"nothing was measured in {arguments.folder}")
        return 1
    sys.stdout.reconfigure(encoding="utf-8")
    print(render_markdown(summary(run)), end="")
    if arguments.summary:
        return 0
    os.makedirs(out, exist_ok=True)
    blocks = draw(report_blocks(run), out)
    for name, text in (("report.html", render_html(blocks[0].text, blocks, run.looks)), ("report.md", render_markdown(blocks))):
        with open(os.path.join(out, name), "w", encoding="utf-8") as file:
            file.write(text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, RuntimeError) as error:
        warn(error)
        sys.exit(1)
