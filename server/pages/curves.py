"""Precision/recall curves as SVG paths, and as a table for whoever does not see them."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

Row = Mapping[str, Any]

# The square in which curves are drawn, in units of the picture
LEFT, RIGHT, TOP, BOTTOM = 34.0, 334.0, 8.0, 208.0
RECALLS = tuple(tenth / 10 for tenth in range(11))


@dataclass(frozen=True, slots=True)
class Line:
    """One curve: what it is called, its area, how it is drawn, and its precision at `RECALLS`."""

    name: str
    kind: str
    area: float
    style: str
    path: str
    precisions: list[float]


@dataclass(frozen=True, slots=True)
class Chart:
    """The curves of one split: the means, and of the class that was asked for its own."""

    lines: list[Line]
    chosen: str | None
    ticks: Sequence[tuple[float, float, str]]

    @property
    def description(self) -> str:
        """The drawing in words."""
        lines = "; ".join(f"{line.kind} of {line.name}, area {line.area:.3f}" for line in self.lines)
        return f"Precision against recall, both from 0 to 1: {lines}. The table below lists the values."

    @property
    def rows(self) -> list[tuple[float, list[float]]]:
        """Precision of every line, recall by recall."""
        return [(recall, [line.precisions[at] for line in self.lines]) for at, recall in enumerate(RECALLS)]


TICKS = tuple(
    (round(LEFT + share * (RIGHT - LEFT), 1), round(BOTTOM - share * (BOTTOM - TOP), 1), f"{share:g}")
    for share in (0.0, 0.25, 0.5, 0.75, 1.0)
)


def chart(curves: Sequence[Row], titles: Mapping[str, str], chosen: str) -> Chart | None:
    """Draw the mean over classes of each kind in `titles`, and the curves of the class whose label is `chosen`.

    A class without objects has no curve.
    """
    drawn = [row for row in curves if row["curve"] in titles and row["area"] is not None]
    own = [row for row in drawn if chosen and row["label"] == chosen]
    means = [row for row in drawn if row["label"] is None]
    lines = [*lines_of(own, titles, "own"), *lines_of(means, titles, "quiet" if own else "mean")]
    return Chart(lines, str(own[0]["name"]) if own else None, TICKS) if lines else None


def lines_of(rows: Sequence[Row], titles: Mapping[str, str], style: str) -> Iterator[Line]:
    """Give each row its line; a second kind is dashed."""
    for row in rows:
        second = list(titles).index(row["curve"]) > 0
        recalls, heights = row["recall"], envelope(row["precision"])
        yield Line(
            name=str(row["name"]),
            kind=titles[row["curve"]],
            area=row["area"],
            style=f"{style} dashed" if second else style,
            path=path_of(recalls, heights),
            precisions=[at(recall, recalls, heights) for recall in RECALLS],
        )


def envelope(precisions: Sequence[float]) -> list[float]:
    """Return the interpolated precision: the highest that is reached at this recall or a higher one.

    >>> envelope([0.5, 1.0, 0.25])
    [1.0, 1.0, 0.25]
    """
    return list(accumulate(reversed(precisions), max))[::-1]


def at(recall: float, recalls: Sequence[float], heights: Sequence[float]) -> float:
    place = bisect_left(recalls, recall)
    return heights[place] if place < len(heights) else 0.0


def path_of(recalls: Sequence[float], heights: Sequence[float]) -> str:
    """Return the steps under which the area is the average precision; nothing at all lies on the axis.

    >>> path_of([0.5, 1.0], [1.0, 0.5])
    'M34 8H184V108H334V208'
    """
    steps = [f"M{LEFT:g} {across_and_up(0.0, heights[0] if heights else 0.0)[1]:g}"]
    for recall, below in zip(recalls, [*heights[1:], 0.0], strict=True):
        x, y = across_and_up(recall, below)
        steps.append(f"H{x:g}V{y:g}")
    return "".join(steps)


def across_and_up(recall: float, precision: float) -> tuple[float, float]:
    return round(LEFT + recall * (RIGHT - LEFT), 1), round(BOTTOM - precision * (BOTTOM - TOP), 1)
