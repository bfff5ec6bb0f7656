"""The content of a report on one split, and the order in which its parts are shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluator.catalog import Track
from evaluator.report_page.confusion_matrix import ConfusionMatrix, confusion_matrix
from evaluator.report_page.tables import ReportRow, ShownTable, shown_table

METRICS, CURVES, CLASSES = "metrics", "curves", "classes"
# Maps the name of each part of a report to its title and to the names of the report tables that the part shows.
PARTS: Mapping[str, tuple[str, Sequence[str]]] = {
    METRICS: ("Metrics", ()),
    CURVES: ("Curves", ()),
    "errors": ("Errors", ("errors", "error_sums")),
    "confusions": ("Confusions", ("class_errors", "confusion")),
    "breakdown": ("Breakdown", ("averages", "slices", "controls", "spreads")),
    "settings": ("Other settings", ("ablation",)),
    CLASSES: ("By class", ()),
}
SPLIT_TITLES = {"public": "Public", "private": "Private", "all": "All"}


@dataclass(frozen=True, slots=True)
class SplitDetail:
    """The results on one split that the reader of the report is allowed to see.

    Attributes
    ----------
    classes, tables, curves
        As in the result of :func:`evaluator.explanation.explanation`.
    left_out : dict of str to int
        Number of omitted rows of each table.
    """

    classes: list[ReportRow] = field(default_factory=list)
    tables: dict[str, list[ReportRow]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    curves: list[ReportRow] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TablePart:
    """The tables of a part of the report, and its confusion matrix, or None."""

    tables: list[ShownTable]
    matrix: ConfusionMatrix | None


def part_title(name: str, track: Track) -> str:
    """Return the title of a part of the report."""
    return f"By {track.class_word}" if name == CLASSES else PARTS[name][0]


def table_part(name: str, track: Track, detail: SplitDetail) -> TablePart:
    """Return the tables that a part of the report shows."""
    shown, names = PARTS[name][1], names_of(detail)
    matrix = _declared_matrix(track, detail, names) if "confusion" in shown else None
    return TablePart(_declared_tables(track, detail, names, shown), matrix)


def names_of(detail: SplitDetail) -> dict[str, str]:
    """Return the names of the classes in a report, keyed by class label. A class without a name gets its label."""
    return {str(row["label"]): str(row["name"] or row["label"]) for row in detail.classes}


def shown_splits(scores: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the splits that a report shows, in order. ``scores`` contains the scores of each split.

    >>> shown_splits({"all": {"mAP": 0.5}, "public": {"mAP": 0.5}})
    ['public']
    """
    if scores.get("all") == scores.get("public") and "private" not in scores:
        # If all images are public, the column for all images would only repeat the column for public images.
        return ["public"]
    return [split for split in SPLIT_TITLES if split in scores]


def _declared_tables(
    track: Track, detail: SplitDetail, names: Mapping[str, str], shown: Sequence[str]
) -> list[ShownTable]:
    """Return the tables of a report whose names are in ``shown``, except the confusion matrix.

    The confusion matrix is excluded, because it has a different layout.
    """
    return [
        shown_table(declared, detail.tables[declared.name], names, detail.left_out.get(declared.name, 0))
        for declared in (*track.explained_tables, *track.tables)
        if declared.name in shown and declared.name in detail.tables and declared.name != "confusion"
    ]


def _declared_matrix(track: Track, detail: SplitDetail, names: Mapping[str, str]) -> ConfusionMatrix | None:
    """Return the confusion matrix of a report, or None if the report does not contain one."""
    declared = next((table for table in track.explained_tables if table.name == "confusion"), None)
    rows = detail.tables.get("confusion", [])
    return confusion_matrix(declared, rows, names) if declared and rows else None
