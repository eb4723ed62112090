"""The pictures, as SVG. No text may depend on the width of a font: each has room for
the widest one that a browser may take (DejaVu Sans), which t/tools/011_browser.pl
checks."""

import html
import math

from .measurements import METRICS, figure, metric_title, short

WIDTH, FONT, LINE = 800, 14, 18
WIDEST = 0.66           # of a character, in units of the size of the font
INK, SOFT, FAINT = "#222222", "#666666", "#dddddd"
LOG_RATIO = 10          # of the largest value to the smallest, for a logarithmic scale


def room(text, size=FONT):
    return len(text) * size * WIDEST


def darker(colour):
    """The colour, darkened until text is legible on white."""
    parts = [int(colour[i:i + 2], 16) for i in (1, 3, 5)]
    light = (0.299 * parts[0] + 0.587 * parts[1] + 0.114 * parts[2]) / 255
    by = min(1.0, 0.42 / light) if light else 1.0
    return "#%02x%02x%02x" % tuple(round(part * by) for part in parts)


def apart(wanted, least, low, high):
    """Return the places nearest to the wanted ones that are at least that far apart."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    places = [0.0] * len(wanted)
    for i in order:
        places[i] = low = max(wanted[i], low)
        low += least
    for i in reversed(order):
        places[i] = high = min(places[i], high)
        high -= least
    return places


class Scale:
    """Map values to 0..1 along an axis. A linear scale begins at zero; both end at a
    tick. Ticks may be given, such as the measured points of a horizontal axis."""

    def __init__(self, values, log=False, ticks=None):
        values = [value for value in values if value > 0 or not log]
        low, high = (min(values), max(values)) if values else (1, 1)
        self.log = log
        if ticks:
            low, high = (low, high) if low < high else (low / 2, high * 2 or 1)
        elif log:
            first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
            steps = [nice * 10.0 ** i for i in range(first, last + 1) for nice in ((1,) if last - first > 2 else (1, 2, 5))]
            low = max(tick for tick in steps if tick <= low * 1.001)
            high = min((tick for tick in steps if tick >= max(high, low * 1.5) * 0.999), default=high * 2)
            ticks = [tick for tick in steps if low <= tick <= high]
        else:
            low, high = min(low, 0.0), max(high, 0.0) or 1.0
            power = 10 ** math.floor(math.log10((high - low) / 4))
            step = next(nice * power for nice in (1, 2, 2.5, 5, 10) if nice * power >= (high - low) / 4 * 0.999)
            ticks = [i * step for i in range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)]
            low, high = ticks[0], ticks[-1]
        self.low, self.high, self.ticks = low, high, ticks

    def at(self, value):
        if self.log:
            return math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


class Picture:
    def __init__(self, name, title, about):
        self.name, self.title, self.about = name, title, about
        self.parts, self.height = [], 0

    def text(self, x, y, text, colour=INK, anchor="start", size=FONT):
        """Place text, vertically centred on y."""
        self.parts.append(f'<text x="{x:.1f}" y="{y + size * 0.35:.1f}" fill="{colour}" text-anchor="{anchor}" font-size="{size}">'
                          f"{html.escape(text)}</text>")

    def line(self, points, colour=FAINT, width=1.0, dash=""):
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{at}" fill="none" stroke="{colour}" stroke-width="{width}"'
                          + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")

    def rect(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>')

    def dot(self, x, y, colour, radius=3.0):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"/>')

    def x_ticks(self, scale, left, right, y):
        """The numbers of a horizontal axis, without those that would touch another."""
        end = -math.inf
        for tick in scale.ticks:
            x, text = left + (right - left) * scale.at(tick), short(tick)
            if x - room(text, FONT - 1) / 2 > end + 6:
                self.text(x, y, text, SOFT, "middle", FONT - 1)
                end = x + room(text, FONT - 1) / 2

    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height:.0f}" role="img" '
                "font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\">\n"
                f"<title>{html.escape(self.title)}</title>\n<desc>{html.escape(self.about)}</desc>\n"
                f'<rect width="{WIDTH}" height="{self.height:.0f}" fill="#ffffff"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


def lines(name, title, about, colours, panels, xlabel, xlog=False, height=180):
    """Panels one above the other: panels = [(heading or None, metric, {key: curve})],
    in which a curve is [(x, Stat), ...]. A label at its right end names each line.
    Lines are some pixels beside each other, so that no spread hides another."""
    panels = [panel for panel in panels if any(stat.high for curve in panel[2].values() for _, stat in curve)]
    xs = sorted({x for _, _, curves in panels for curve in curves.values() for x, _ in curve if x > 0 or not xlog})
    if len(xs) < 2:
        return None
    picture = Picture(name, title, about)
    xscale = Scale(xs, xlog, ticks=xs)
    left, right, top = 90, WIDTH - 230, 40
    for heading, metric, curves in panels:
        values = [value for curve in curves.values() for _, stat in curve for value in (stat.low, stat.high)]
        log = METRICS[metric].unit not in ("MB", "%", "blocks/row") and min(values) > 0 and max(values) / min(values) > LOG_RATIO
        yscale = Scale(values, log)
        y_at = lambda value: top + height * (1 - yscale.at(value))
        picture.text(left, top - LINE - 2, f"{heading}: {metric_title(metric, log)}" if heading else metric_title(metric, log))
        for tick in yscale.ticks:
            picture.line([(left, y_at(tick)), (right, y_at(tick))])
            picture.text(left - 8, y_at(tick), short(tick), SOFT, "end", FONT - 1)
        ends = [y_at(curve[-1][1].median) for curve in curves.values()]
        places = apart(ends, LINE, top, top + height - 6)
        for i, (key, curve) in enumerate(curves.items()):
            colour, beside = colours[key], (i - (len(curves) - 1) / 2) * 4
            points = [(left + 14 + (right - left - 28) * xscale.at(x) + beside, stat) for x, stat in curve if x >= xscale.low]
            for x, stat in points:
                picture.line([(x, y_at(stat.low)), (x, y_at(stat.high))], colour)
                picture.dot(x, y_at(stat.median), colour)
            picture.line([(x, y_at(stat.median)) for x, stat in points], colour, 2, ("", "8 4", "3 3", "10 3 3 3")[i % 4])
            picture.line([(right + 2, ends[i]), (right + 12, places[i])], colour)
            picture.text(right + 15, places[i], f"{key[:16]} {figure(curve[-1][1].median)}", darker(colour))
        picture.x_ticks(xscale, left + 14, right - 14, top + height + 14)
        top += height + 74
    picture.text((left + right) / 2, top - 74 + 34, xlabel, SOFT, "middle", FONT - 1)
    picture.height = top - 30
    return picture


def bars(name, title, about, colours, panels):
    """Panels of bars side by side: panels = [(heading, {key: Stat})]. Each key has a
    row; its figure is beside its bar, and a thin bar is its spread."""
    panels = [(heading, stats) for heading, stats in panels if any(stat.high for stat in stats.values())]
    keys = list(dict.fromkeys(key for _, stats in panels for key in stats))
    if not keys:
        return None
    picture = Picture(name, title, about)
    names, top, step = 14 + max(room(key[:20]) for key in keys), 34, 26
    slot = (WIDTH - names - 10) / len(panels)
    for row, key in enumerate(keys):
        picture.text(names - 8, top + (row + 0.5) * step, key[:20], anchor="end")
    for column, (heading, stats) in enumerate(panels):
        left, right = names + column * slot, names + (column + 1) * slot - 85
        scale = Scale([stat.high for stat in stats.values()])
        x_at = lambda value: left + (right - left) * scale.at(value)
        picture.text(left, 14, heading)
        for tick in scale.ticks:
            picture.line([(x_at(tick), top), (x_at(tick), top + len(keys) * step)])
        picture.x_ticks(scale, left, right, top + len(keys) * step + 14)
        for row, key in enumerate(keys):
            if stat := stats.get(key):
                y = top + (row + 0.5) * step
                picture.rect(left, y - 8, x_at(stat.median) - left, 16, colours[key])
                picture.line([(x_at(stat.low), y), (x_at(stat.high), y)], "#ffffff", 3)
                picture.line([(x_at(stat.low), y), (x_at(stat.high), y)], INK)
                picture.text(x_at(stat.high) + 6, y, figure(stat.median))
    picture.height = top + len(keys) * step + 28
    return picture


# Why the rows of a key lie where they lie, in lines of a width that fits.
PLACES = {"random": ["any page"], "uuid_v7": ["the right edge: the newest", "key is the greatest"],
          "short_comb": ["the pages of the minute: its", "place in the cycle of its", "prefix, which is 45.5 days"]}


def heat(name, title, about, colours, panels):
    """Where in the index the rows went: panels = {key: (touches, pages)}, in which
    pages is a text."""
    picture = Picture(name, title, about)
    left, gap, top, height = 96, 14, 50, 230
    width = (WIDTH - left - 8 - gap * (len(panels) - 1)) / len(panels)
    for i, (key, (touches, pages)) in enumerate(panels.items()):
        x = left + i * (width + gap)
        last = touches[-1].row or 1
        picture.text(x, top - 32, key[:20], darker(colours[key]))
        picture.text(x, top - 13, pages, SOFT, size=FONT - 2)
        picture.line([(x, top), (x + width, top), (x + width, top + height), (x, top + height), (x, top)], "#c4c4c4")
        for touch in touches:
            picture.dot(x + 4 + (width - 8) * touch.row / last, top + 4 + (height - 8) * (1 - touch.position), colours[key], 1.4)
        picture.text(x + width / 2, top + height + 14, "order of inserts →", SOFT, "middle", FONT - 1)
        for j, text in enumerate(PLACES.get(key, [])):
            picture.text(x, top + height + 38 + j * 16, text, SOFT, size=FONT - 2)
    for y, text in ((8, "last page"), (height / 2 - 9, "place in"), (height / 2 + 9, "the index"), (height - 8, "first page")):
        picture.text(left - 8, top + y, text, SOFT, "end", FONT - 1)
    picture.height = top + height + 38 + 16 * 3
    return picture
