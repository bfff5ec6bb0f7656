"""Geometry of the small drawings: numbers that become SVG attributes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluator.digits import Interval


@dataclass(frozen=True, slots=True)
class Band:
    """An interval and its score on a track from 0 to 100."""

    left: float
    width: float
    dot: float


def range_of(intervals: Iterable[Interval | None]) -> Interval | None:
    """Return the smallest range that holds all intervals; None where there are none.

    >>> range_of([(0.2, 0.4), None, (0.3, 0.7)])
    (0.2, 0.7)
    """
    known = [ends for ends in intervals if ends is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def band(score: float, interval: Interval, within: Interval) -> Band | None:
    """Place an interval on a track over a range, cut at the track's ends; None where all of it lies outside.

    >>> band(0.5, (0.4, 0.6), (0.0, 1.0))
    Band(left=40.0, width=20.0, dot=50.0)
    >>> band(0.1, (0.0, 0.2), (0.3, 1.0)) is None
    True
    """
    if interval[1] < within[0] or interval[0] > within[1]:
        return None

    def place(value: float) -> float:
        share = (value - within[0]) / (within[1] - within[0]) if within[1] > within[0] else 0.5
        return round(100 * min(1.0, max(0.0, share)), 2)

    left = place(interval[0])
    return Band(left, round(place(interval[1]) - left, 2), place(score))


@dataclass(frozen=True, slots=True)
class History:
    """Scores in order of time and the best so far: x from 0 to 100, y from 0 (best) to `HEIGHT`."""

    dots: list[tuple[float, float, bool]]
    steps: list[tuple[float, float, float, float]]
    low: float
    high: float

    @property
    def description(self) -> str:
        """The drawing in words."""
        return f"Public scores over time: {len(self.dots)} between {self.low:.5f} and {self.high:.5f}"


HEIGHT = 72.0
EDGE = 1.0


def history(scores: Sequence[float]) -> History | None:
    """Draw at least two scores, oldest first; the dots that raised the best are marked.

    >>> history([0.2, 0.6, 0.4]).steps
    [(1.0, 72.0, 50.0, 72.0), (50.0, 72.0, 50.0, 0.0), (50.0, 0.0, 99.0, 0.0)]
    """
    if len(scores) < 2:
        return None
    low, high = min(scores), max(scores)
    across = (100 - 2 * EDGE) / (len(scores) - 1)

    def height(score: float) -> float:
        return round(HEIGHT * (high - score) / (high - low), 1) if high > low else HEIGHT / 2

    dots = [(EDGE, height(scores[0]), True)]
    steps: list[tuple[float, float, float, float]] = []
    best = scores[0]
    for place, score in enumerate(scores[1:], start=1):
        x, before = round(EDGE + place * across, 2), dots[-1][0]
        steps.append((before, height(best), x, height(best)))
        if score > best:
            steps.append((x, height(best), x, height(score)))
        dots.append((x, height(score), score > best))
        best = max(best, score)
    return History(dots, steps, low, high)
