"""Computes recall and mAP for subsets of the objects, by size and by attribute."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.average_precision import average_precisions, mean_defined
from evaluator.metrics.boxes import areas
from evaluator.metrics.errors import CLASS, LOCALIZATION, MISSED
from evaluator.report import ClassRow, finite
from evaluator.tracks.detection.explain.errors import Errors
from evaluator.tracks.detection.matches import Matches
from evaluator.tracks.detection.truth import DetectionTruth

SIZES = ("small", "medium", "large")
# COCO's limits between small, medium and large areas, converted from pixels to fractions of an image of 640 × 480
# pixels, a common size in COCO.
BOUNDS = (32**2 / (640 * 480), 96**2 / (640 * 480))
ANSWERS = {1: "yes", 0: "no", -1: "unknown"}

Mask = NDArray[np.bool_]


def sizes(boxes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the size of each box, shape (N,), as an index into :data:`SIZES`, based on its fraction of the image area.

    >>> sizes(np.array([[0.0, 0.05, 0.0, 0.05], [0.0, 0.1, 0.0, 0.1], [0.0, 1.0, 0.0, 1.0]]))
    array([0, 1, 2])
    """
    return np.digitize(areas(boxes), BOUNDS)


def slices(truth: DetectionTruth, matches: Matches, errors: Errors, in_split: Mask) -> list[ClassRow]:
    """Return a row for each size and attribute: how many ordinary objects the split has, and how many were matched.

    A false positive has a size but no attributes. Therefore, the mAP of a size includes the false positives of that
    size, as in COCO, and the slices by attribute have no mAP. Group-of boxes are not in any slice.
    """
    is_inside = in_split[truth.images_and_labels(truth.object_keys)[0]]
    object_sizes, detection_sizes = sizes(truth.boxes), sizes(matches.detections.boxes)
    rows = []
    for code, size in enumerate(SIZES):
        false = (errors.kinds >= 0) & (detection_sizes == code) & in_split[matches.detections.images]
        chosen = is_inside & (object_sizes == code)
        more: ClassRow = {"false_positives": int(false.sum()), "mAP": _mean_ap(truth, matches, chosen, false)}
        rows.append(_row("size", size, chosen, errors) | more)
    undefined: ClassRow = {"false_positives": None, "mAP": None}
    for name, answer, has_it in _attributes(truth):
        rows.append(_row(name, answer, is_inside & has_it, errors) | undefined)
    return rows


def _attributes(truth: DetectionTruth) -> Iterator[tuple[str, str, Mask]]:
    """Yield each attribute name with each possible value, and a mask of the ordinary objects that have this value."""
    values = truth.attributes[truth.object_rows]
    for column, name in enumerate(truth.attribute_names):
        for code, answer in ANSWERS.items():
            yield name, answer, values[:, column] == code


def _row(name: str, value: str, chosen: Mask, errors: Errors) -> ClassRow:
    """Return a table row with the number of selected ordinary objects, and how many of them were found or missed."""
    kinds = errors.object_kinds[chosen]
    found = int(np.count_nonzero(kinds < 0))
    return {
        "slice": name,
        "value": value,
        "truths": len(kinds),
        "found": found,
        "recall": found / len(kinds) if len(kinds) else None,
        "missed_class": int(np.count_nonzero(kinds == CLASS)),
        "missed_localization": int(np.count_nonzero(kinds == LOCALIZATION)),
        "missed": int(np.count_nonzero(kinds == MISSED)),
    }


def _mean_ap(truth: DetectionTruth, matches: Matches, objects: Mask, false: Mask) -> float | None:
    """Return the mAP for the selected objects, without groups and without detections that hit other objects."""
    counted = (matches.hits & np.append(objects, False)[matches.objects]) | false
    classes = truth.images_and_labels(truth.object_keys[objects])[1]
    values = average_precisions(
        matches.curves[counted],
        matches.detections.confidences[counted],
        matches.hits[counted].astype(float),
        np.bincount(classes, minlength=len(truth.labels)).astype(float),
    )
    return finite(mean_defined(values))
