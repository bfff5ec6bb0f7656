"""Explains why some metrics stay below 1 even if the ground truth itself is submitted."""

from collections.abc import Mapping
from math import sqrt
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
TOO_MANY = "an image has more than {} triplets"
WEIGHTS = "the weights of the parts add up to less than 1"
# The parts of the relationships score, in the order of the parameter `weights`.
PARTS = ("mAP_relationships", "recall@50", "mAP_phrases")


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
        {"title": metric.title, "value": split.metrics.get(metric.name), "reason": "; ".join(reasons)}
        for metric in declared.metrics
        for reasons in [_metric_reasons(metric.name, split.metrics, declared.resolve(parameters))]
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


def _metric_reasons(name: str, metrics: Mapping[str, float | None], parameters: Mapping[str, Any]) -> list[str]:
    value = metrics.get(name)
    if value is None:
        return [NOTHING]
    if name == "score":
        weighted = [part for part, weight in zip(PARTS, parameters["weights"], strict=True) if weight]
        reasons = [reason for part in weighted for reason in _metric_reasons(part, metrics, parameters)]
        are_low = sum(parameters["weights"]) < 1 - TOLERANCE
        return list(dict.fromkeys(reasons + [WEIGHTS] * are_low))
    if _is_best(value):
        return []
    pooled = metrics.get("weighted_ap_relationships")
    if not name.startswith("recall@") or pooled is None:
        return [REPEATED]
    # Every triplet is predicted with confidence 1, so the pooled curve has a single point. Its precision and its recall
    # are the fraction of triplets that are hit, and its area is the square of this fraction.
    hit = sqrt(pooled)
    return [REPEATED] * (not _is_best(hit)) + [TOO_MANY.format(name.partition("@")[2])] * (value < hit - TOLERANCE)


def _row_reason(row: ClassRow, value: Any, parameters: Mapping[str, Any]) -> str:
    if value is None:
        return ONLY_GROUPS if parameters.get("group_of_weight") == 0 else NO_OBJECTS
    if "true_positives" not in row:
        return REPEATED
    lost = float(row["truths"] or 0) - float(row["true_positives"] or 0)
    return f"{counted(lost, 'object')} of {float(row['truths'] or 0):g} cannot be matched: {REPEATED}"
