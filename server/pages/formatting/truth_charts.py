"""Charts of ground truth statistics: histograms for public and private images, and the number of objects per class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log10
from typing import Any

# x coordinates range from 0 to 1000, because drawings are scaled to the width of the page. y coordinates are in pixels.
WIDTH, HEIGHT, MARGIN = 1000.0, 180.0, 8.0
# In a histogram, 20% of each bin's width stays empty, so that the bins are visually separated.
GAP = 0.2
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25)
MOST_TICKS = 5
HALVES = ("public", "private")


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar in a chart, with its position and size in SVG units.

    `split` is the CSS class of the bar, and `title` is shown on hover.
    """

    x: float
    y: float
    width: float
    height: float
    split: str
    title: str


@dataclass(frozen=True, slots=True)
class Bars:
    """A histogram, drawn as a bar chart.

    `y_ticks` are pairs (y in pixels, text), and `x_ticks` are pairs (x as a percentage of the width, text). `rows`
    contains the same data for a table: the name of each bin, and its count in each split.
    """

    title: str
    items: str
    splits: list[str]
    bars: list[Bar]
    y_ticks: list[tuple[float, str]]
    x_ticks: list[tuple[float, str]]
    rows: list[tuple[str, list[int]]]


@dataclass(frozen=True, slots=True)
class RankLine:
    """The line of one split in a chart of objects per class.

    It contains the SVG path, the number of classes, and the number of objects of the most frequent class.
    """

    split: str
    path: str
    classes: int
    largest: int


@dataclass(frozen=True, slots=True)
class RankChart:
    """A chart of the number of objects per class, most frequent class first, on a logarithmic axis."""

    lines: list[RankLine]
    y_ticks: list[tuple[float, str]]
    x_ticks: list[tuple[float, str]]


def shown_splits(values: Mapping[str, Any]) -> list[str]:
    """Return the splits that a chart shows: public and private, or only "all" if no image is private."""
    return list(HALVES) if "private" in values else ["all"]


def bars(histogram: Mapping[str, Any]) -> Bars:
    """Return a histogram as a bar chart. Bars show fractions of a split, not counts, because splits differ in size."""
    splits, names = shown_splits(histogram["values"]), histogram["bins"]
    shares = {split: as_shares(histogram["values"][split]) for split in splits}
    top = max(share for one in shares.values() for share in one) or 1.0
    step = next((one for one in STEPS if top / one <= MOST_TICKS), STEPS[-1])
    ticks = [step * index for index in range(ceil(top / step) + 1)]
    bin_width = WIDTH / len(names)
    width = round(bin_width * (1 - GAP) / len(splits), 1)
    drawn = []
    for index, name in enumerate(names):
        for number, split in enumerate(splits):
            share, count = shares[split][index], histogram["values"][split][index]
            x = index * bin_width + bin_width * GAP / 2 + number * width
            title = f"{name}: {count:,} {histogram['items']}, {share:.1%} of {split}"
            drawn.append(bar(x, width, share / ticks[-1], split=split, title=title))
    centers = [(round(100 * (index + 0.5) / len(names), 2), name) for index, name in enumerate(names)]
    rows = [(name, [histogram["values"][split][index] for split in splits]) for index, name in enumerate(names)]
    y_ticks = [(y_of(tick / ticks[-1]), f"{tick:.0%}") for tick in ticks]
    return Bars(histogram["title"], histogram["items"], splits, drawn, y_ticks, centers, rows)


def bar(x: float, width: float, share: float, *, split: str = "", title: str) -> Bar:
    """Return a bar that starts at the bottom of the chart. `share` is its height as a fraction of the axis."""
    y = y_of(share)
    return Bar(round(x, 1), y, round(width, 1), round(y_of(0) - y, 1), split, title)


def as_shares(counts: Sequence[int]) -> list[float]:
    total = sum(counts) or 1
    return [count / total for count in counts]


def rank_chart(curves: Mapping[str, Sequence[Sequence[int]]]) -> RankChart | None:
    """Return a chart of the number of objects per class, with the most frequent classes first.

    Return None if no class has objects.

    >>> rank_chart({"all": [(1, 100), (2, 1)]}).lines[0].path
    'M0 8L1000 172'
    """
    drawn = {split: curves[split] for split in shown_splits(curves) if curves.get(split)}
    if not drawn:
        return None
    last = max(curve[-1][0] for curve in drawn.values())
    decades = max(1, ceil(log10(max(curve[0][1] for curve in drawn.values()))))

    def path(curve: Sequence[Sequence[int]]) -> str:
        points = (f"{x_of(rank, last):g} {y_of(log10(count) / decades):g}" for rank, count in curve)
        return f"M{'L'.join(points)}"

    ranks = dict.fromkeys((1, (1 + last) // 2, last))
    return RankChart(
        [RankLine(split, path(curve), curve[-1][0], curve[0][1]) for split, curve in drawn.items()],
        [(y_of(power / decades), f"{10**power:,}") for power in range(decades + 1)],
        [(round(x_of(rank, last) / 10, 1), f"{rank:,}") for rank in ranks],
    )


def x_of(rank: int, last: int) -> float:
    return round(WIDTH * (rank - 1) / max(last - 1, 1), 1)


def y_of(share: float) -> float:
    """Return the y coordinate of a position on the axis, given as a fraction from 0 (bottom) to 1 (top)."""
    return round(HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN), 1)
