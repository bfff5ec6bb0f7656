"""How well small and large, whole and hidden objects are found."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.average_precision import average_precisions, mean_defined
from evaluator.metrics.boxes import areas
from evaluator.metrics.errors import CLASS, LOCALIZATION, MISSED
from evaluator.report import ClassRow, finite
from evaluator.tracks.detection.explain.errors import Verdicts
from evaluator.tracks.detection.matches import Matches
from evaluator.truth import Truth

SIZES = ("small", "medium", "large")
BOUNDS = (32**2 / (640 * 480), 96**2 / (640 * 480))  # COCO's pixels in an image of COCO's usual size
ANSWERS = {1: "yes", 0: "no", -1: "unknown"}

Mask = NDArray[np.bool_]


def sizes(boxes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the place of each box in :data:`SIZES`, shape (N,), by its share of the image's area.

    >>> sizes(np.array([[0.0, 0.05, 0.0, 0.05], [0.0, 0.1, 0.0, 0.1], [0.0, 1.0, 0.0, 1.0]]))
    array([0, 1, 2])
    """
    return np.digitize(areas(boxes), BOUNDS)


def slices(truth: Truth, matches: Matches, verdicts: Verdicts, in_split: Mask) -> list[ClassRow]:
    """Return the ordinary objects of a split by size and by what the truth says of them: how many, how many found.

    A false positive has a size and no other attribute. So the mAP of a size counts its own false positives, as COCO's
    does, and of other slices there is none. Group-of boxes are in no slice.
    """
    inside = in_split[truth.arrays["box_keys"] // max(len(truth.texts["labels"]), 1)]
    of_boxes, of_detections = sizes(truth.arrays["boxes"]), sizes(matches.found.boxes)
    rows = []
    for place, size in enumerate(SIZES):
        false = (verdicts.kinds >= 0) & (of_detections == place) & in_split[matches.found.images]
        chosen = inside & (of_boxes == place)
        more: ClassRow = {"false_positives": int(false.sum()), "mAP": _mean_ap(truth, matches, chosen, false)}
        rows.append(_row("size", size, chosen, verdicts) | more)
    nothing: ClassRow = {"false_positives": None, "mAP": None}
    for name, answer, chosen in _attributes(truth):
        rows.append(_row(name, answer, inside & chosen, verdicts) | nothing)
    return rows


def _attributes(truth: Truth) -> Iterator[tuple[str, str, Mask]]:
    said = truth.arrays["attributes"][truth.arrays["box_rows"]]
    for column, name in enumerate(truth.texts["attributes"]):
        for code, answer in ANSWERS.items():
            yield name, answer, said[:, column] == code


def _row(name: str, value: str, chosen: Mask, verdicts: Verdicts) -> ClassRow:
    kinds = verdicts.box_kinds[chosen]
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


def _mean_ap(truth: Truth, matches: Matches, objects: Mask, false: Mask) -> float | None:
    """Return the mAP of some objects: detections that hit others are left out, and groups."""
    counted = (matches.hits & np.append(objects, False)[matches.objects]) | false
    labels = len(truth.texts["labels"])
    values = average_precisions(
        matches.curves[counted],
        matches.found.confidences[counted],
        matches.hits[counted].astype(float),
        np.bincount(truth.arrays["box_keys"][objects] % max(labels, 1), minlength=labels).astype(float),
    )
    return finite(mean_defined(values))
