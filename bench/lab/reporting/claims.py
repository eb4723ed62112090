"""Which differences between figures the report states, and in which words."""

from collections import namedtuple

from .measurements import METRICS, code, figure, value_text

# With a single repetition, the spread is unknown. Counts differ if one is that many
# times the other; times, which depend on what else the machine does, never do.
SINGLE_RATIO = 2
TIMES = ("rows_per_s", "us_per_row")


def differ(metric, one, other):
    """Whether two figures differ by more than their spread: the ranges of their
    repetitions do not overlap, and the medians are further apart than the wider
    range is wide."""
    apart = abs(one.median - other.median)
    if min(one.count, other.count) == 1:
        least, most = sorted((one.median, other.median))
        return metric not in TIMES and apart > 0 and most >= SINGLE_RATIO * least
    return (one.low > other.high or other.low > one.high) and apart > max(one.high - one.low, other.high - other.low)


def ratio_text(metric, one, other):
    """The ratio of two figures; ~ if they do not differ, – if one is missing."""
    if one is None or other is None:
        return "–"
    if one is other:
        return "1"
    if not differ(metric, one, other):
        return "~"
    return figure(one.median / other.median) if other.median else "–"


# The words of a metric: claim has places for the first key, for "N times" and
# as_much, or "N %" and more or less, and for the second key.
Words = namedtuple("Words", "claim as_much more less quantity")
WORDS = {
    "wal_bytes_per_row": Words("{} writes {} {}", "as much WAL as", "more WAL than", "less WAL than", "WAL"),
    "rows_per_s": Words("{} inserts {} {}", "as many rows a second as", "more rows a second than", "fewer rows a second than", "rows a second"),
    "us_per_row": Words("{} takes {} {}", "as long as", "longer than", "less time than", "time"),
    "index_bytes": Words("the index of {} is {} {}", "as large as that of", "larger than that of", "smaller than that of", "the size of the index"),
    "leaf_density": Words("the leaf pages of {} are {} {}", "as full as those of", "fuller than those of", "less full than those of", "leaf density"),
    "index_bytes_per_row": Words("with {}, the index is {} {}", "as large as with", "larger than with", "smaller than with", "the size of the index"),
    "growth_bytes_per_row": Words("the index of {} grows {} {}", "as much as that of", "more than that of", "less than that of", "the growth of the index"),
    "failure_share": Words("{} fails {} {}", "as often as", "more often than", "less often than", "failures"),
    "touched_leaf_pages": Words("the new rows of {} go to {} {}", "as many leaf pages as those of", "more leaf pages than those of",
                                "fewer leaf pages than those of", "leaf pages"),
}


def compared(metric, name, one, other_name, other):
    """A clause that compares two figures, without more than they show."""
    words = WORDS[metric]
    figures = f"({value_text(one.median, metric)} and {value_text(other.median, metric)} {METRICS[metric].unit})"
    if not differ(metric, one, other):
        return f"{name} and {other_name} have no measurable difference in {words.quantity} {figures}"
    if not other.median:
        how = words.more
    elif one.median >= 1.995 * other.median:
        how = f"{figure(one.median / other.median)} times {words.as_much}"
    else:
        change = one.median / other.median - 1
        how = f"{abs(change) * 100:.2g} % {words.more if change > 0 else words.less}"
    return f"{words.claim.format(name, how, other_name)} {figures}"


def claims(stats, metric, *pairs):
    """Clauses that compare the pairs of keys in {key: Stat}; where none of these
    was measured, the greatest figure with the least."""
    pairs = [pair for pair in pairs if set(pair) <= set(stats)]
    if not pairs and len(stats) > 1:
        order = sorted(stats, key=lambda key: stats[key].median)
        pairs = [(order[-1], order[0])]
    return [compared(metric, code(one), stats[one], code(other), stats[other]) for one, other in pairs]


def sentence(where, *clauses):
    """[one sentence of the clauses], which may begin with a place; an empty list
    without clauses."""
    parts = [clause for group in clauses for clause in group]
    if not parts:
        return []
    text = ", ".join(filter(None, [where, *parts[:-1]])) + (", and " if parts[1:] else ", " if where else "") + parts[-1]
    return [text[0].upper() + text[1:] + "."]
