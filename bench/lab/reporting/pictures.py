"""The pictures: SVGs that gnuplot draws."""

import html
import math
import os
import re
import subprocess
from collections import namedtuple

from .measurements import METRICS, Look, SOLID, Stat, WAL_KINDS, duration, figure, metric_title, number, short

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


LOG_BASE = 10
LOG_RATIO = 10      # of the largest value to the smallest


def needs_log(metric, values):
    """Whether the largest values would flatten the others on a linear scale. Sizes
    and shares, which are parts of a whole, always have a linear one."""
    return METRICS[metric].unit not in ("MB", "%") and min(values) > 0 and max(values) / min(values) > LOG_RATIO


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
    height, top = len(keys) * room, 44
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


# A line of a picture, or a row of a table: curve(metric) is [(x, Stat), ...].
Line = namedtuple("Line", "name look curve")


def lines(name, title, drawn, metrics, xlabel, xlog=0, xtext=short, xticks=None, rules=(), height=190):
    """Panels one above the other, one for each metric, with the lines."""
    metrics = [metric for metric in metrics if any(line.curve(metric) for line in drawn)]
    if not metrics:
        return None
    xs = {x for line in drawn for metric in metrics for x, _ in line.curve(metric)}
    xscale = Scale(xs, xlog, ticks=xticks or sorted(xs), tick_text=xtext, zero=False, pad=0.02)
    left, right = 74, WIDTH - 196
    picture = Picture(name, len(metrics) * (height + 50) + 40, title)
    top = 38
    for metric in metrics:
        curves = [(line, curve) for line in drawn if (curve := line.curve(metric))]
        values = [value for _, curve in curves for _, stat in curve for value in stat[:3]]
        log = LOG_BASE if needs_log(metric, values) else 0
        yscale = Scale(values, log)
        last = metric == metrics[-1]
        plots, ends = [], []
        for line, curve in curves:
            plots += picture.expectation(line.curve("predicted_" + metric), line.look, line.name)
            plots += picture.line(curve, line.look, line.name)
            end = curve[-1][1].median
            ends.append((top + height * (1 - yscale.at(end)), f"{shortened(line.name)} {figure(end)}", line.look.colour))
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


def period_lines(run, name, title, metrics):
    """A row of panels for each metric: a panel for each insert rate, and in it a
    line for each run length."""
    key = next(iter(run.scene_keys("period")), None)
    curves = {}         # (metric, rate, run length): [(x, Stat), ...]
    for metric in metrics:
        for series in run.scene_series("period"):
            if curve := run.curve("period", key, metric, series):
                length, rate = period_parts(series)
                curves[metric, rate, length] = (curve, run.curve("period", key, "predicted_" + metric, series))
    if not curves:
        return None
    metrics = [metric for metric in metrics if any(at[0] == metric for at in curves)]
    rates, lengths = (sorted({at[i] for at in curves}, key=lambda part: part or 0) for i in (1, 2))
    looks = {length: RUN_LOOKS[i % len(RUN_LOOKS)] for i, length in enumerate(lengths)}
    names = {length: "–" if length is None else short(length) for length in lengths}
    xs = sorted({x for curve, _ in curves.values() for x, _ in curve})
    xscale = Scale(xs, 10, ticks=xs, tick_text=duration, pad=0.04)
    left, height, top = 66, 170, 84
    slot = min(580, (WIDTH - left) / len(rates))
    picture = Picture(name, top + len(metrics) * (height + 78) - 18, title)

    # the legend
    at, unit, middle = left, Scale([0, 1], ticks=[]), Stat(.5, .5, .5, 1)
    picture.text(at, 14, "run length:", SOFT)
    at += 84
    for length in lengths:
        picture.text(at + 50, 14, names[length], darker(looks[length].colour))
        picture.panel((at, 8, at + 38, 20), unit, unit, picture.line([(0.0, middle), (1.0, middle)], looks[length], names[length]),
                      grid="", xticks=False, yticks=False)
        at += 74 + 8 * len(names[length])

    for metric in metrics:
        values = [value for at, (curve, _) in curves.items() if at[0] == metric for _, stat in curve for value in stat[:3]]
        log = LOG_BASE if needs_log(metric, values) else 0
        yscale = Scale(values, log)
        last = metric == metrics[-1]
        picture.text(left, top - 2 * LINE, metric_title(metric, log))
        for i, rate in enumerate(rates):
            box = (left + i * slot, top, left + (i + 1) * slot - 56, top + height)
            plots, ends = [], []
            for length in lengths:
                if (metric, rate, length) in curves:
                    curve, expected = curves[metric, rate, length]
                    text = f"run length {names[length]}"
                    plots += picture.expectation(expected, looks[length], text) + picture.line(curve, looks[length], text)
                    ends.append((top + height * (1 - yscale.at(curve[-1][1].median)), names[length], looks[length].colour))
            picture.end_labels(box[2], top, top + height + 8, ends, size=FONT - 1)
            picture.panel(box, xscale, yscale, plots, title=f"{short(rate)} rows/s" if rate else "", xlabel="period" if last else "", yticks=i == 0)
        top += height + 78
    return picture
