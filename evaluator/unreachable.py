"""Explains why some metrics stay below 1 even if the ground truth itself is submitted."""

from collections.abc import Mapping
from typing import Any

from evaluator.catalog import TRACKS
from evaluator.report import ClassRow, SplitReport
from evaluator.texts import counted

LISTED_ROWS = 100
TOLERANCE = 1e-9
NOTHING = "there is nothing to measure on this split, so it is undefined"
NO_OBJECTS = "there are no objects on this split, so it has no score"
ONLY_GROUPS = "this split has no objects except group-of boxes, whose weight is 0, so it has no score"
REPEATED = "objects that are the same or nearly the same as another object, or have no area, cannot be matched"
TOO_MANY = "an image has more triplets than this metric counts"


def unreachable(track: str, split: SplitReport, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of the best possible submission and, for those below 1, the reasons.

    Parameters
    ----------
    track : str
    split : SplitReport
        The report on the best possible submission, which is the ground truth itself.
    parameters : mapping
        The parameters of the track.

    Returns
    -------
    dict
        ``metrics`` lists each metric with ``title``, ``value`` and ``reason``. ``rows`` lists at most LISTED_ROWS
        classes that do not reach 1, with ``label``, ``name``, ``value`` and ``reason``. ``row_count`` is the total
        number of these classes.
    """
    declared = TRACKS[track]
    metrics = [
        {"title": metric.title, "value": value, "reason": _metric_reason(metric.name, value)}
        for metric in declared.metrics
        for value in [split.metrics.get(metric.name)]
    ]
    column = declared.class_columns[0].name if declared.class_columns else ""
    below = [row for row in split.classes if column in row and not _is_best(row[column])]
    below.sort(key=lambda row: row[column] is None)  # Classes with a score are listed before classes without a score.
    rows = [
        {
            "label": str(row["label"]),
            "name": str(row["name"]),
            "value": row[column],
            "reason": _row_reason(row, row[column], parameters),
        }
        for row in below[:LISTED_ROWS]
    ]
    return {"metrics": metrics, "rows": rows, "row_count": len(below)}


def _is_best(value: Any) -> bool:
    return value is not None and float(value) >= 1 - TOLERANCE


def _metric_reason(name: str, value: float | None) -> str:
    if value is None:
        return NOTHING
    if _is_best(value):
        return ""
    return TOO_MANY if name.startswith("recall@") and int(name.partition("@")[2]) > 10 else REPEATED


def _row_reason(row: ClassRow, value: Any, parameters: Mapping[str, Any]) -> str:
    if value is None:
        return ONLY_GROUPS if parameters.get("group_of_weight") == 0 else NO_OBJECTS
    if "true_positives" not in row:
        return REPEATED
    lost = float(row["truths"] or 0) - float(row["true_positives"] or 0)
    return f"{counted(lost, 'object')} of {float(row['truths'] or 0):g} cannot be matched: {REPEATED}"
