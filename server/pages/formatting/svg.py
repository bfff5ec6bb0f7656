"""Coordinates of small SVG drawings: confidence intervals, and the history of a team's scores."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

from evaluator.digits import Interval
from server.leaderboards.ties import quantile

FENCE = 1.5  # distance of the fences from the quartiles, in interquartile ranges, as in a box plot
FEWEST_ENDS = 8  # the ends of four intervals; those of three are always within the fences


@dataclass(frozen=True, slots=True)
class IntervalBar:
    """A bar for an interval and a dot for its score, from 0 to 100.

    The bar is cut at the ends of its axis; `below` and `above` are whether it continues there. A score beyond the axis
    has no dot.
    """

    left: float
    width: float
    dot: float | None
    below: bool = False
    above: bool = False

    @property
    def is_cut(self) -> bool:
        return self.below or self.above


def field_range(intervals: Iterable[Interval | None]) -> Interval | None:
    """Return the axis for the intervals of several rows, as (low, high); None if there are no intervals.

    It spans the ends of intervals that lie within the inner fences, which are 1.5 interquartile ranges beyond the
    quartiles of all ends. So an outlier does not compress the other intervals. With fewer than four rows, no row is
    an outlier.

    >>> field_range([(0.2, 0.4), None, (0.3, 0.7)])
    (0.2, 0.7)
    >>> field_range([(0.0, 0.0), (0.5, 0.75), (0.5, 0.75), (0.5, 0.75), (0.5, 0.75)])
    (0.5, 0.75)
    """
    ends = sorted(end for interval in intervals if interval is not None for end in interval)
    if not ends:
        return None
    low, high = quantile(ends, 0.25), quantile(ends, 0.75)
    reach = FENCE * (high - low) if len(ends) >= FEWEST_ENDS else inf
    inner = [end for end in ends if low - reach <= end <= high + reach]
    return inner[0], inner[-1]


def is_beyond(interval: Interval | None, axis: Interval | None) -> bool:
    """Return whether an interval continues beyond the axis."""
    return interval is not None and axis is not None and (interval[0] < axis[0] or interval[1] > axis[1])


def interval_bar(score: float, interval: Interval, axis: Interval) -> IntervalBar:
    """Return the bar of an interval on an axis.

    >>> interval_bar(0.5, (0.4, 0.6), (0.0, 1.0))
    IntervalBar(left=40.0, width=20.0, dot=50.0, below=False, above=False)
    >>> interval_bar(0.1, (0.0, 0.5), (0.25, 1.25))
    IntervalBar(left=0.0, width=25.0, dot=None, below=True, above=False)
    """

    def percent(value: float) -> float:
        share = (value - axis[0]) / (axis[1] - axis[0]) if axis[1] > axis[0] else 0.5
        return round(100 * min(1.0, max(0.0, share)), 2)

    left = percent(interval[0])
    dot = percent(score) if axis[0] <= score <= axis[1] else None
    width = round(percent(interval[1]) - left, 2)
    return IntervalBar(left, width, dot, interval[0] < axis[0], interval[1] > axis[1])


@dataclass(frozen=True, slots=True)
class ScoreHistory:
    """The drawing of scores over time and the best score so far: x from 0 to 100, y from 0 (best) to `HEIGHT`.

    `dots` are (x, y, whether the score was a new best); `lines` are (x1, y1, x2, y2).
    """

    dots: list[tuple[float, float, bool]]
    lines: list[tuple[float, float, float, float]]
    low: float
    high: float

    @property
    def description(self) -> str:
        """The drawing in words, for screen readers."""
        return f"Public scores over time: {len(self.dots)} between {self.low:.5f} and {self.high:.5f}"


HEIGHT = 72.0
MARGIN = 1.0


def score_history(scores: Sequence[float]) -> ScoreHistory | None:
    """Return the drawing of scores in chronological order, or None for fewer than two.

    >>> score_history([0.2, 0.6, 0.4]).lines
    [(1.0, 72.0, 50.0, 72.0), (50.0, 72.0, 50.0, 0.0), (50.0, 0.0, 99.0, 0.0)]
    """
    if len(scores) < 2:
        return None
    low, high = min(scores), max(scores)
    step = (100 - 2 * MARGIN) / (len(scores) - 1)

    def y_of(score: float) -> float:
        return round(HEIGHT * (high - score) / (high - low), 1) if high > low else HEIGHT / 2

    dots = [(MARGIN, y_of(scores[0]), True)]
    lines: list[tuple[float, float, float, float]] = []
    best = scores[0]
    for index, score in enumerate(scores[1:], start=1):
        x, before = round(MARGIN + index * step, 2), dots[-1][0]
        lines.append((before, y_of(best), x, y_of(best)))
        if score > best:
            lines.append((x, y_of(best), x, y_of(score)))
        dots.append((x, y_of(score), score > best))
        best = max(best, score)
    return ScoreHistory(dots, lines, low, high)
