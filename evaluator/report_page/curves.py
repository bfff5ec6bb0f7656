"""Precision/recall curves as SVG paths, and as a table for people who cannot see the drawing."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from evaluator.catalog import Track
from evaluator.report_page.tables import ReportRow

# Curves are drawn in a plot area with the edges `LEFT`, `RIGHT`, `TOP` and `BOTTOM`, in units of the SVG view box.
LEFT, RIGHT, TOP, BOTTOM = 34.0, 334.0, 8.0, 208.0
TABLE_RECALLS = tuple(tenth / 10 for tenth in range(11))


@dataclass(frozen=True, slots=True)
class Curve:
    """A precision/recall curve as an SVG path.

    `area` is the area under the curve, `style` contains the CSS classes of its line, and `precisions` has one value for
    each of `TABLE_RECALLS`.
    """

    name: str
    id: str
    metric: str
    area: float
    style: str
    path: str
    precisions: list[float]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of the precision/recall curves of one split.

    It contains the curves averaged over all classes and, if a class is selected, the curves of this class. Each tick is
    a triple: its x coordinate on the recall axis, its y coordinate on the precision axis, and its label.
    """

    curves: list[Curve]
    chosen_class: str | None
    ticks: Sequence[tuple[float, float, str]]

    @property
    def description(self) -> str:
        """A description of the chart of precision/recall curves for screen readers."""
        curves = "; ".join(f"{one.metric} of {one.name}, area {one.area:.3f}" for one in self.curves)
        return f"Precision against recall, both from 0 to 1: {curves}. The table below lists the values."

    @property
    def table_rows(self) -> list[tuple[float, list[float]]]:
        """The rows of the table below the chart: a recall value, and the precision of every curve at this recall."""
        return [
            (recall, [curve.precisions[index] for curve in self.curves]) for index, recall in enumerate(TABLE_RECALLS)
        ]


TICKS = tuple(
    (round(LEFT + share * (RIGHT - LEFT), 1), round(BOTTOM - share * (BOTTOM - TOP), 1), f"{share:g}")
    for share in (0.0, 0.25, 0.5, 0.75, 1.0)
)


def curve_chart(rows: Sequence[ReportRow], track: Track, chosen_label: str) -> Chart | None:
    """Return a chart of the mean curves and the curves of the chosen class, or None if there are no curves."""
    titles = {heading.name: heading.title for heading in track.class_columns if heading.name in track.curves}
    defined = [row for row in rows if row["curve"] in titles and row["area"] is not None]
    chosen = [row for row in defined if chosen_label and row["label"] == chosen_label]
    means = [row for row in defined if row["label"] is None]
    style = "quiet" if chosen else "mean"
    curves = [
        *curves_of(chosen, titles, "own", interpolated=track.interpolated),
        *curves_of(means, titles, style, interpolated=track.interpolated),
    ]
    return Chart(curves, str(chosen[0]["name"] or chosen[0]["label"]) if chosen else None, TICKS) if curves else None


def curves_of(
    rows: Sequence[ReportRow], titles: Mapping[str, str], style: str, *, interpolated: bool
) -> Iterator[Curve]:
    """Yield a curve for each row of a report's precision/recall data. The curves of a second metric are dashed."""
    for row in rows:
        is_second = list(titles).index(row["curve"]) > 0
        recalls, heights = row["recall"], envelope(row["precision"]) if interpolated else row["precision"]
        yield Curve(
            name=str(row["name"] or row["label"]),
            id=str(row["label"] or "") if row["name"] else "",
            metric=titles[row["curve"]],
            area=row["area"],
            style=f"{style} dashed" if is_second else style,
            path=step_path(recalls, heights),
            precisions=[precision_at(recall, recalls, heights) for recall in TABLE_RECALLS],
        )


def envelope(precisions: Sequence[float]) -> list[float]:
    """Return the interpolated precisions: for each recall, the highest precision at this or any higher recall.

    >>> envelope([0.5, 1.0, 0.25])
    [1.0, 1.0, 0.25]
    """
    return list(accumulate(reversed(precisions), max))[::-1]


def precision_at(recall: float, recalls: Sequence[float], heights: Sequence[float]) -> float:
    """Return the precision of a curve at a recall; 0 beyond its last recall."""
    index = bisect_left(recalls, recall)
    return heights[index] if index < len(heights) else 0.0


def step_path(recalls: Sequence[float], heights: Sequence[float]) -> str:
    """Return the SVG path of a precision/recall curve, drawn in steps. The area under it is the average precision.

    >>> step_path([0.5, 1.0], [1.0, 0.5])
    'M34 8H184V108H334V208'
    """
    steps = [f"M{LEFT:g} {svg_point(0.0, heights[0] if heights else 0.0)[1]:g}"]
    for recall, below in zip(recalls, [*heights[1:], 0.0], strict=True):
        x, y = svg_point(recall, below)
        steps.append(f"H{x:g}V{y:g}")
    return "".join(steps)


def svg_point(recall: float, precision: float) -> tuple[float, float]:
    """Return the coordinates of a point of a curve in the drawing."""
    return round(LEFT + recall * (RIGHT - LEFT), 1), round(BOTTOM - precision * (BOTTOM - TOP), 1)


def chart_caption(chart: Chart, track: Track) -> str:
    """Return a caption that explains a chart of precision/recall curves."""
    first = f"{'Interpolated precision' if track.interpolated else 'Precision'} (y) against recall (x)."
    if chart.chosen_class:
        return f"{first} The area under a curve is its average precision."
    return (
        f"{first} The area under a curve is its average precision; the area under the mean curve is the mean average "
        "precision."
    )
