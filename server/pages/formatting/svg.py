"""Coordinates of the small drawings: intervals and the history of a team's scores."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluator.digits import Interval


@dataclass(frozen=True, slots=True)
class IntervalBar:
    """A bar for an interval and a dot for its score, from 0 to 100."""

    left: float
    width: float
    dot: float


def common_range(intervals: Iterable[Interval | None]) -> Interval | None:
    """Return the smallest range that contains all intervals, or None if there are none.

    >>> common_range([(0.2, 0.4), None, (0.3, 0.7)])
    (0.2, 0.7)
    """
    known = [ends for ends in intervals if ends is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def interval_bar(score: float, interval: Interval, within: Interval) -> IntervalBar | None:
    """Return the bar of an interval within a range, cut at the ends of the range; None if it lies outside.

    >>> interval_bar(0.5, (0.4, 0.6), (0.0, 1.0))
    IntervalBar(left=40.0, width=20.0, dot=50.0)
    >>> interval_bar(0.1, (0.0, 0.2), (0.3, 1.0)) is None
    True
    """
    if interval[1] < within[0] or interval[0] > within[1]:
        return None

    def percent(value: float) -> float:
        share = (value - within[0]) / (within[1] - within[0]) if within[1] > within[0] else 0.5
        return round(100 * min(1.0, max(0.0, share)), 2)

    left = percent(interval[0])
    return IntervalBar(left, round(percent(interval[1]) - left, 2), percent(score))


@dataclass(frozen=True, slots=True)
class ScoreHistory:
    """Scores over time and the best score so far: x from 0 to 100, y from 0 (best) to `HEIGHT`.

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
    """Return the drawing of scores in the order of time, or None for fewer than two.

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
