"""Chart axes for scores, ranks and times, with ticks at round values."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil, floor, log, log10

from server.clock import midnight
from server.pages.formatting.units import date

# A score axis has at most 7 steps between its ticks. A time axis has at most 5 ticks.
SCORE_TICKS, TIME_TICKS = 7, 5
# A rank axis is logarithmic if there are more than 20 ranks.
LINEAR_RANKS = 20
TIME_STEPS = (
    *(timedelta(minutes=number) for number in (1, 5, 15, 30, 60, 180, 360, 720)),
    *(timedelta(days=number) for number in (1, 2, 3, 5, 7, 10, 14, 21, 28, 56, 112, 224, 448, 896, 1792)),
)


@dataclass(frozen=True, slots=True)
class Tick:
    value: float
    text: str


@dataclass(frozen=True, slots=True)
class ScoreAxis:
    """A chart axis for scores from `low` to `high`. Scores outside this range are drawn at the ends of the axis."""

    low: float
    high: float
    is_logarithmic = False

    def is_beyond(self, score: float) -> bool:
        return not self.low <= score <= self.high

    def share(self, score: float) -> float:
        """Return the position of a score on the axis, from 0 (bottom) to 1 (top)."""
        return min(1.0, max(0.0, (score - self.low) / (self.high - self.low)))

    @property
    def ticks(self) -> list[Tick]:
        """Return the ticks of the score axis at round numbers.

        >>> [tick.text for tick in ScoreAxis(0.38, 0.91).ticks]
        ['0.4', '0.5', '0.6', '0.7', '0.8', '0.9']
        """
        step = round_step((self.high - self.low) / SCORE_TICKS)
        decimals = max(0, -floor(log10(step) + 1e-9))
        numbers = range(ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9) + 1)
        return [Tick(number * step, f"{number * step:.{decimals}f}") for number in numbers]


@dataclass(frozen=True, slots=True)
class RankAxis:
    """A chart axis for ranks, from `last` at the bottom to 1 at the top. It is logarithmic if there are many ranks."""

    last: int

    @property
    def is_logarithmic(self) -> bool:
        return self.last > LINEAR_RANKS

    def is_beyond(self, rank: float) -> bool:
        return rank > self.last

    def share(self, rank: float) -> float:
        """Return the position of a rank on the axis, from 0 (bottom) to 1 (top)."""
        if self.last == 1:
            return 0.5
        if not self.is_logarithmic:
            return (self.last - rank) / (self.last - 1)
        return 1 - log(rank) / log(self.last)

    @property
    def ticks(self) -> list[Tick]:
        """Return the ticks of the rank axis at round numbers.

        >>> [tick.text for tick in RankAxis(3).ticks], [tick.text for tick in RankAxis(250).ticks]
        (['1', '2', '3'], ['1', '2', '5', '10', '20', '50', '100', '200'])
        """
        step = ceil(self.last / 10)
        linear = [1, *range(step, self.last + 1, step)] if step > 1 else range(1, self.last + 1)
        round_ranks = [digit * 10**power for power in range(7) for digit in (1, 2, 5)]
        ranks = [rank for rank in round_ranks if rank <= self.last] if self.is_logarithmic else linear
        return [Tick(rank, str(rank)) for rank in ranks]


def round_step(least: float) -> float:
    """Return the smallest number that is 1, 2 or 5 times a power of ten and not less than the given number.

    >>> round_step(0.03), round_step(0.2), round_step(70)
    (0.05, 0.2, 100.0)
    """
    power = 10.0 ** floor(log10(least))
    return next(digit * power for digit in (1, 2, 5, 10) if digit * power >= least * (1 - 1e-9))


def time_ticks(first: datetime, last: datetime) -> list[tuple[datetime, str]]:
    """Return the ticks of a time axis: up to five round times from `first` to `last`, with their labels.

    If there is no round time in this period, return only the time `first`.

    >>> from datetime import UTC
    >>> time_ticks(datetime(2026, 3, 1, 9, tzinfo=UTC), datetime(2026, 3, 8, tzinfo=UTC))[0][1]
    '3 Mar'
    """
    length = last - first
    step = next((step for step in TIME_STEPS if length / step < TIME_TICKS), TIME_STEPS[-1])
    start = midnight(first)
    found = [start + number * step for number in range(ceil((first - start) / step), floor((last - start) / step) + 1)]
    return [(moment, tick_text(moment, step, length)) for moment in found or [first]]


def tick_text(moment: datetime, step: timedelta, length: timedelta) -> str:
    if step < timedelta(days=1):
        return f"{moment:%H:%M}" if length < timedelta(days=1) else f"{moment.day} {moment:%b %H:%M}"
    return date(moment) if length > timedelta(days=300) else f"{moment.day} {moment:%b}"


def spread(heights: Sequence[float], *, gap: float, low: float, high: float) -> list[float]:
    """Return positions for labels that should be close to the given heights without overlapping.

    The positions are at least `gap` apart if there is enough room between `low` and `high`.

    >>> spread([10.0, 11.0, 50.0], gap=12.0, low=0.0, high=100.0)
    [10.0, 22.0, 50.0]
    >>> spread([99.0, 98.0], gap=12.0, low=0.0, high=100.0)
    [100.0, 88.0]
    """
    gap = min(gap, (high - low) / max(1, len(heights) - 1))
    order = sorted(range(len(heights)), key=lambda index: heights[index])
    placed = [0.0] * len(heights)
    above = low - gap
    for index in order:
        placed[index] = above = max(heights[index], above + gap)
    below = high + gap
    for index in reversed(order):
        placed[index] = below = min(placed[index], below - gap)
    return placed
