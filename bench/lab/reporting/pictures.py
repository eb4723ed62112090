"""The pictures as SVG, drawn with matplotlib. Text is drawn as paths, so that no font is needed. The background is
transparent, and the colors are legible on white and on black."""

import html
import io
import re

from .measurements import figure, short

try:
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
except ImportError:
    matplotlib = None

INK, WIDTH = "#767676", 8.4         # the color of text and axes, and the width in inches
LOG_RATIO = 10                      # above this ratio of the greatest to the smallest value, use a log scale
LOOK = {"svg.fonttype": "path", "svg.hashsalt": "idgen", "font.family": "DejaVu Sans", "font.size": 9.5,
        "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
        "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 9.5, "axes.titlelocation": "left",
        "grid.color": INK, "grid.alpha": 0.25, "legend.frameon": False, "path.simplify": False}


def brief(value):
    """Format 100,000 as 100k, for the ticks of an axis."""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"


def drawn(rows, columns, height, title, about, draw, **options):
    """Return the SVG of a figure with the given number of axes, on which draw() draws."""
    with matplotlib.rc_context(LOOK):
        picture = Figure((WIDTH, height), layout="constrained")
        draw(picture.subplots(rows, columns, squeeze=False, **options))
        file = io.StringIO()
        picture.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    # Write one line per picture, without the prologue, and with two decimals.
    svg = re.sub(r"^.*?(?=<svg)|<metadata>.*?</metadata>", "", file.getvalue(), flags=re.S)
    svg = re.sub(r"(\.\d{2})\d+", r"\1", re.sub(r"\s+", " ", svg))
    # Write lines of length zero, which are dots, in a shorter form.
    svg = re.sub(r"M (\S+ \S+) L \1 ", r"M\1h0", svg)
    about = f' role="img"><title>{html.escape(title)}</title><desc>{html.escape(about)}</desc>'
    return svg.replace(">", about, 1) + "\n"


def lines(title, about, colours, panels, xlabel, xlog):
    """Draw panels one above the other: panels = [(heading, {key: curve})], in which a curve is [(x, Stat), ...]. The
    legend contains the means of the last points."""
    xs = sorted({x for _, curves in panels for curve in curves.values() for x, _ in curve if x > 0 or not xlog})
    values = [value for _, curves in panels for curve in curves.values() for _, stat in curve for value in stat[:3]]
    if not panels or not max(values):
        return None
    log = min(values) > 0 and max(values) / min(values) > LOG_RATIO

    def draw_panel(row, heading, curves):
        for key, curve in sorted(curves.items(), key=lambda item: -item[1][-1][1].mean):
            points = [(x, stat) for x, stat in curve if x in xs]
            spread = [[stat.mean - stat.low for _, stat in points], [stat.high - stat.mean for _, stat in points]]
            row.errorbar([x for x, _ in points], [stat.mean for _, stat in points], spread, color=colours[key],
                         marker="o", markersize=3, elinewidth=0.8, label=f"{key} {figure(points[-1][1].mean)}")
        row.set_title(heading + " (log scale)" * log)
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
        row.legend(loc="center left", bbox_to_anchor=(1, 0.5), title=f"mean at {brief(xs[-1])}", title_fontsize=9.5)

    def draw(axes):
        for row, (heading, curves) in zip(axes[:, 0], panels):
            draw_panel(row, heading, curves)
        axes[-1, 0].set_xlabel(xlabel + " (log scale)" * xlog)

    return drawn(len(panels), 1, 2.4 * len(panels), title, about, draw, sharex=True, sharey=True)


def heat(title, about, colours, panels):
    """Draw where in the index rows were inserted: panels = {key: (touches, pages)}, in which pages is a string."""
    def draw(axes):
        for panel, (key, (touches, pages)) in zip(axes[0], panels.items()):
            # A line of length zero needs fewer bytes than a marker.
            xs = [x for touch in touches for x in (touch.row, touch.row, None)]
            ys = [y for touch in touches for y in (touch.position, touch.position, None)]
            panel.plot(xs, ys, linewidth=1.5, solid_capstyle="round", color=colours[key])
            panel.set_title(f"{key}\n{pages}")
            panel.set_xticks([])
            panel.set_xlabel("order of inserts →")
            panel.set_yticks([0, 1], ["first page", "last page"])

    return drawn(1, len(panels), 2.8, title, about, draw, sharey=True)
