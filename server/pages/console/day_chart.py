"""The chart of the number of submissions a day."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from server.organize.services.live import DayCount
from server.pages.formatting.chart_axes import round_step
from server.pages.formatting.truth_charts import GAP, HEIGHT, MARGIN, MOST_TICKS, WIDTH

LABELLED = 5  # every fifth day has a label


@dataclass(frozen=True, slots=True)
class DayBar:
    """The bar of a day. `title` is shown on hover."""

    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True, slots=True)
class DayChart:
    """Bars of submissions a day. Ticks are (y in pixels, text) and (x in percent, text)."""

    bars: list[DayBar]
    y_ticks: list[tuple[float, str]]
    x_ticks: list[tuple[float, str]]
    rows: list[DayCount]


def day_chart(days: Sequence[DayCount]) -> DayChart:
    """Return the chart of these days, the first one on the left. Rows of its table are the days with submissions."""
    top = max((one.received for one in days), default=0) or 1
    step = max(1, round(round_step(top / MOST_TICKS)))
    last = step * ceil(top / step)
    width = WIDTH / max(1, len(days))
    bars = [
        DayBar(
            x=round(width * (index + GAP / 2), 1),
            y=y_of(one.received / last),
            width=round(width * (1 - GAP), 1),
            height=round(y_of(0) - y_of(one.received / last), 1),
            title=f"{one.day.day} {one.day:%b}: {one.received:,} received, {one.failed:,} failed",
        )
        for index, one in enumerate(days)
    ]
    labelled = list(enumerate(days))[LABELLED - 1 :: LABELLED]
    return DayChart(
        bars,
        [(y_of(tick / last), f"{tick:,}") for tick in range(0, last + 1, step)],
        [(round(100 * (index + 0.5) / len(days), 2), f"{one.day.day} {one.day:%b}") for index, one in labelled],
        [one for one in reversed(days) if one.received],
    )


def y_of(share: float) -> float:
    """Return the y of a share of the axis, from 0 (bottom) to 1 (top)."""
    return round(HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN), 1)
