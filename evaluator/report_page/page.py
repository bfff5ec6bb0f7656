"""Makes the report on a score as one HTML file that needs no other file and no network."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluator.catalog import Metric, Track
from evaluator.digits import Interval, published
from evaluator.problems import Notice
from evaluator.report_page.class_cells import ClassCell, ClassColumn, plain_class_table
from evaluator.report_page.confusion_matrix import ConfusionMatrix
from evaluator.report_page.content import (
    CLASSES,
    CURVES,
    METRICS,
    PARTS,
    SPLIT_TITLES,
    SplitDetail,
    part_title,
    shown_splits,
    table_part,
)
from evaluator.report_page.curves import Chart, chart_caption, curve_chart
from evaluator.report_page.rendering import render, styles
from evaluator.report_page.tables import ShownTable


@dataclass(frozen=True, slots=True)
class SplitScores:
    """The scores on a split, and the details that explain them."""

    metrics: Mapping[str, float | None]
    intervals: Mapping[str, Interval]
    detail: SplitDetail


@dataclass(frozen=True, slots=True)
class Score:
    """The value of a metric and its interval, rounded as on the server."""

    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the report on one split: a curve chart, the table of results per class, or other tables."""

    name: str
    title: str
    chart: Chart | None = None
    caption: str = ""
    tables: list[ShownTable] = field(default_factory=list)
    matrix: ConfusionMatrix | None = None
    columns: list[ClassColumn] = field(default_factory=list)
    rows: list[list[ClassCell]] = field(default_factory=list)

    @property
    def has_content(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.chart or self.tables or self.matrix or self.rows)


def report_page(
    track: Track,
    splits: Mapping[str, SplitScores],
    *,
    file_name: str,
    signature: str,
    notices: Sequence[Notice] = (),
) -> str:
    """Return the report as an HTML page.

    For each split, it contains what the server's page of a submission shows to the team. It does not show individual
    images or objects, and confidence intervals are rounded outward.

    Parameters
    ----------
    track : Track
    splits : mapping of str to SplitScores
    file_name : str
        Name of the submission.
    signature : str
    notices : sequence of Notice
        Notices about the submission.
    """
    names = shown_splits({name: split.metrics for name, split in splits.items()})
    headline, deciding = track.metrics[0], "private" if "private" in names else names[0]
    title = f"{headline.title}, {deciding}" if len(names) > 1 else headline.title
    return render(
        "page",
        track=track,
        file_name=file_name,
        signature=signature,
        notices=notices,
        styles=styles(),
        source="The JSON output (--json)",
        headline={"title": title, "score": _score(splits[deciding], headline)},
        metrics={
            "titles": [SPLIT_TITLES[name] for name in names],
            "rows": [(metric, [_score(splits[name], metric) for name in names]) for metric in track.metrics],
        },
        splits=[
            {
                "prefix": f"{name}-",
                "title": SPLIT_TITLES[name].lower(),
                "parts": [part for part in _parts(track, splits[name].detail) if part.has_content],
            }
            for name in names
        ],
    )


def _score(split: SplitScores, metric: Metric) -> Score:
    interval = split.intervals.get(metric.name)
    return Score(split.metrics.get(metric.name), published(interval) if interval else None)


def _parts(track: Track, detail: SplitDetail) -> Iterator[Part]:
    """Yield the parts of the report on a split, in the order of the tabs of the server's page."""
    for name in PARTS:
        content: dict[str, Any] = {}
        if name == CURVES:
            chart = curve_chart(detail.curves, track, "")
            content = {"chart": chart, "caption": chart_caption(chart, track) if chart else ""}
        elif name == CLASSES and track.class_columns:
            columns, rows = plain_class_table(track, detail.classes)
            content = {"columns": columns, "rows": rows}
        elif name not in (METRICS, CLASSES):
            found = table_part(name, track, detail)
            content = {"tables": found.tables, "matrix": found.matrix}
        yield Part(name, part_title(name, track), **content)
