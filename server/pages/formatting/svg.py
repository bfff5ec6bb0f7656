"""Computes coordinates for small SVG drawings of confidence intervals."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from evaluator.digits import Interval
from server.leaderboards.differences import quantile

# As in box plots, values more than 1.5 interquartile ranges beyond the quartiles are outliers.
FENCE = 1.5
# With fewer than four intervals, and thus fewer than eight endpoints, no endpoint counts as an outlier.
FEWEST_ENDS = 8


@dataclass(frozen=True, slots=True)
class IntervalBar:
    """The drawing of a confidence interval: a bar for the interval and a dot for the score.

    Coordinates are percentages of the axis, from 0 to 100. The bar is clipped at the ends of the axis. `below` and
    `above` are true if the interval extends beyond the low or the high end. A score beyond the axis has no dot.
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
    """Return a common axis for the intervals in several rows as (low, high), or None if there are no intervals.

    Outliers do not extend the axis, because they would compress the other intervals. An endpoint of an interval is an
    outlier if it is more than 1.5 interquartile ranges beyond the quartiles of all endpoints. With fewer than four
    intervals, no endpoint is an outlier.

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
    """Return whether a confidence interval extends beyond the ends of an axis."""
    return interval is not None and axis is not None and (interval[0] < axis[0] or interval[1] > axis[1])


def interval_bar(score: float, interval: Interval, axis: Interval) -> IntervalBar:
    """Return the bar and the dot that represent a score and its confidence interval on an axis.

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
