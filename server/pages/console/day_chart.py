"""The chart that shows the number of submissions per day."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from server.organize.services.live import DayCount
from server.pages.formatting.chart_axes import round_step
from server.pages.formatting.truth_charts import GAP, MOST_TICKS, WIDTH, Bar, bar, y_of

# Only every fifth day has a label on the x axis, so that labels do not overlap.
LABELLED = 5


@dataclass(frozen=True, slots=True)
class DayChart:
    """A bar chart of the number of submissions per day.

    `y_ticks` are pairs (y in pixels, text), and `x_ticks` are pairs (x as a percentage of the width, text).
    """

    bars: list[Bar]
    y_ticks: list[tuple[float, str]]
    x_ticks: list[tuple[float, str]]
    rows: list[DayCount]


def day_chart(days: Sequence[DayCount]) -> DayChart:
    """Return the bar chart of submissions per day. `days` must be in chronological order.

    The `rows` of the result are for a table next to the chart. They contain only days with submissions, latest first.
    """
    top = max((one.received for one in days), default=0) or 1
    step = max(1, round(round_step(top / MOST_TICKS)))
    last = step * ceil(top / step)
    width = WIDTH / max(1, len(days))
    bars = [
        bar(
            x=width * (index + GAP / 2),
            width=width * (1 - GAP),
            share=one.received / last,
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
