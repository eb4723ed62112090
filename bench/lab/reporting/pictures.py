"""The pictures, as SVG, by matplotlib. Text is drawn as paths, so that no font is
needed; the ground is transparent, and the colours read on white and on black."""

import html
import io
import re

from .measurements import METRICS, figure, metric_title, short

try:
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
except ImportError:
    matplotlib = None

INK, WIDTH = "#767676", 8.4         # of text and axes; inches
LINES = ("#2f7fc1", "#eb9a1e", "#00796b", "#9a5bb8", "#d1460f", "#7f7f7f", "#6b8e23")     # of lines that are not of a key
LOG_RATIO = 10                      # of the largest value to the smallest, for a logarithmic scale
LOOK = {"svg.fonttype": "path", "svg.hashsalt": "idgen", "font.family": "DejaVu Sans", "font.size": 9.5, "text.color": INK,
        "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK, "axes.spines.top": False,
        "axes.spines.right": False, "axes.titlesize": 9.5, "axes.titlelocation": "left", "grid.color": INK, "grid.alpha": 0.25,
        "legend.frameon": False}


def brief(value):
    """100,000 as 100k, for the ticks of an axis."""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"


def drawn(rows, columns, height, title, about, draw, **options):
    """Return the SVG of a figure with that many axes, on which draw() draws."""
    with matplotlib.rc_context(LOOK):
        picture = Figure((WIDTH, height), layout="constrained")
        draw(picture.subplots(rows, columns, squeeze=False, **options))
        file = io.StringIO()
        picture.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    # a line for each picture, without the prologue, and three decimals are enough
    svg = re.sub(r"(\.\d{3})\d+", r"\1", re.sub(r"\s+", " ", re.sub(r"^.*?(?=<svg)|<metadata>.*?</metadata>", "", file.getvalue(), flags=re.S)))
    return svg.replace(">", f' role="img"><title>{html.escape(title)}</title><desc>{html.escape(about)}</desc>', 1) + "\n"


def lines(title, about, colours, panels, xlabel, xlog=False, sharey=False, height=2.4):
    """Panels one above the other: panels = [(heading or None, metric, {name: curve})], in which a curve is
    [(x, Stat), ...], and the name mostly that of a key. The legend has the medians of the last points."""
    panels = [panel for panel in panels if any(stat.high for curve in panel[2].values() for _, stat in curve)]
    xs = sorted({x for _, _, curves in panels for curve in curves.values() for x, _ in curve if x > 0 or not xlog})
    if len(xs) < 2:
        return None
    colours = {**dict(zip(dict.fromkeys(name for panel in panels for name in panel[2]), LINES)), **colours}

    def draw(axes):
        for row, (heading, metric, curves) in zip(axes[:, 0], panels):
            for name, curve in sorted(curves.items(), key=lambda item: -item[1][-1][1].median):
                points = [(x, stat) for x, stat in curve if x in xs]
                row.errorbar([x for x, _ in points], [stat.median for _, stat in points],
                             [[stat.median - stat.low for _, stat in points], [stat.high - stat.median for _, stat in points]],
                             color=colours[name], marker="o", markersize=3, label=f"{name} {figure(points[-1][1].median)}" if points else name)
            values = [value for panel in panels if sharey or panel[2] is curves
                      for curve in panel[2].values() for _, stat in curve for value in (stat.low, stat.high)]
            log = METRICS[metric].unit not in ("MiB", "%", "blocks/row") and min(values) > 0 and max(values) / min(values) > LOG_RATIO
            row.set_title(f"{heading}: {metric_title(metric, log)}" if heading else metric_title(metric, log))
            if log:
                row.set_yscale("log")
                row.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
                row.yaxis.set_minor_locator(NullLocator())
            else:
                row.set_ylim(bottom=0)
            if xlog:
                row.set_xscale("log")
            row.set_xticks(xs, [brief(x) for x in xs])
            row.xaxis.set_minor_locator(NullLocator())
            row.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
            row.grid()
            row.legend(loc="center left", bbox_to_anchor=(1, 0.5), title=f"median at {brief(xs[-1])}", title_fontsize=9.5)
        row.set_xlabel(xlabel)

    return drawn(len(panels), 1, height * len(panels), title, about, draw, sharex=True, sharey=sharey)


def bars(title, about, colours, panels):
    """Panels of bars side by side: panels = [(heading, {key: Stat})]. The label of a
    bar is its median, and a thin line its spread."""
    panels = [(heading, stats) for heading, stats in panels if any(stat.high for stat in stats.values())]
    keys = list(dict.fromkeys(key for _, stats in panels for key in stats))
    if not keys:
        return None

    def draw(axes):
        for panel, (heading, stats) in zip(axes[0], panels):
            shown = [key for key in keys if key in stats]
            found = [stats[key] for key in shown]
            bar = panel.barh(shown, [stat.median for stat in found], color=[colours[key] for key in shown], xerr=[
                [stat.median - stat.low for stat in found], [stat.high - stat.median for stat in found]], ecolor=INK)
            panel.bar_label(bar, [figure(stat.median) for stat in found], padding=4)
            panel.set_title(heading)
            panel.margins(x=0.3)
            panel.locator_params(axis="x", nbins=3)
            panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: brief(value)))
        panel.invert_yaxis()

    return drawn(1, len(panels), 0.8 + 0.28 * len(keys), title, about, draw, sharey=True)


def heat(title, about, colours, panels):
    """Where in the index the rows went: panels = {key: (touches, pages)}, in which
    pages is a text."""
    def draw(axes):
        for panel, (key, (touches, pages)) in zip(axes[0], panels.items()):
            panel.plot([touch.row for touch in touches[::2]], [touch.position for touch in touches[::2]], ".", markersize=2.5, color=colours[key])
            panel.set_title(f"{key}\n{pages}")
            panel.set_xticks([])
            panel.set_xlabel("order of inserts →")
            panel.set_yticks([0, 1], ["first page", "last page"])

    return drawn(1, len(panels), 2.8, title, about, draw, sharey=True)
