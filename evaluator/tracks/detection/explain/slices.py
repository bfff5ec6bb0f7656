"""Computes recall and mAP for subsets of the objects, by size and by attribute."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.derived import derived
from evaluator.metrics.average_precision import average_precisions, mean_defined
from evaluator.metrics.boxes import areas
from evaluator.metrics.errors import CLASS, LOCALIZATION, MISSED, NO_ERROR
from evaluator.report import ClassRow, finite
from evaluator.tracks.detection.explain.errors import Errors
from evaluator.tracks.detection.matches import Matches
from evaluator.tracks.detection.truth import DetectionTruth
from evaluator.tracks.shared.label_truth import ObjectTruth

SIZES = ("small", "medium", "large")
# COCO's limits between small, medium and large areas, converted from pixels to fractions of an image of 640 × 480
# pixels, a common size in COCO.
BOUNDS = (32**2 / (640 * 480), 96**2 / (640 * 480))
ANSWERS = {1: "yes", 0: "no", -1: "unknown"}

Mask = NDArray[np.bool_]
ObjectCounts = tuple[int, int, int, int]
"""The numbers of objects that were matched, and of those that were missed because of a wrong class, because of a bad
localization, and for any other reason."""


def sizes(boxes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the size of each box, shape (N,), as an index into :data:`SIZES`, based on its fraction of the image area.

    >>> sizes(np.array([[0.0, 0.05, 0.0, 0.05], [0.0, 0.1, 0.0, 0.1], [0.0, 1.0, 0.0, 1.0]]))
    array([0, 1, 2])
    """
    return np.digitize(areas(boxes), BOUNDS)


def object_sizes(truth: DetectionTruth) -> NDArray[np.int8]:
    """Return the size of each ordinary object, shape (B,); see :func:`sizes`."""
    return derived(truth, "object sizes", lambda: sizes(truth.boxes).astype(np.int8))


def positives_of_sizes(truth: DetectionTruth, split: str) -> NDArray[np.float64]:
    """Return the number of ordinary objects of each size and class in a split, shape (sizes, classes)."""
    images, labels = (places[: len(truth.boxes)] for places in truth.object_places)
    inside = truth.splits[split][images]
    count = len(truth.labels)
    cells = np.bincount((object_sizes(truth).astype(np.int64) * count + labels)[inside], minlength=len(SIZES) * count)
    return cells.reshape(len(SIZES), count).astype(np.float64)


def slices(
    truth: DetectionTruth,
    object_kinds: NDArray[np.integer[Any]],
    in_split: Mask,
    counts_of_sizes: Sequence[ObjectCounts],
    by_size: Sequence[ClassRow],
) -> list[ClassRow]:
    """Return a row for each size and each attribute value, with the numbers of ordinary objects and of matched objects.

    A false positive has a size but no attributes. Therefore, the mAP of a size includes the false positives of that
    size, as in COCO, and the slices by attribute have no mAP. Group-of boxes are not in any slice.

    Parameters
    ----------
    truth : DetectionTruth
    object_kinds : int array of shape (B,)
        As in :class:`~evaluator.tracks.detection.explain.errors.Errors`.
    in_split : bool array of shape (images,)
    counts_of_sizes : sequence of ObjectCounts
        As returned by :func:`size_counts`.
    by_size : sequence of rows
        ``false_positives`` and ``mAP`` of each size.
    """
    rows = size_slices(counts_of_sizes, by_size)
    if not truth.attribute_names:
        return rows
    inside = objects_inside(truth, in_split)
    kinds = object_kinds[inside]
    undefined: ClassRow = {"false_positives": None, "mAP": None}
    for column, name in enumerate(truth.attribute_names):
        values = truth.attributes[truth.object_rows[inside], column]
        answers = np.select([values == code for code in ANSWERS], range(len(ANSWERS)), len(ANSWERS))
        by_answer = zip(ANSWERS.values(), _counts(answers, kinds, len(ANSWERS)), strict=True)
        rows.extend(_row(name, answer, *counts) | undefined for answer, counts in by_answer)
    return rows


def objects_inside(truth: ObjectTruth, in_split: Mask) -> NDArray[np.int64]:
    """Return the indices of the ordinary objects in the images of a split."""
    return np.flatnonzero(in_split[truth.object_places[0][: len(truth.object_keys)]])


def size_counts(
    truth: ObjectTruth, object_kinds: NDArray[np.integer[Any]], in_split: Mask, codes: NDArray[np.integer[Any]]
) -> Sequence[ObjectCounts]:
    """Return the numbers of matched and missed objects of a split for each size; see :func:`_counts`.

    ``codes`` is the index in ``SIZES`` of each object's size.
    """
    inside = objects_inside(truth, in_split)
    return _counts(codes[inside], object_kinds[inside], len(SIZES))


def size_slices(counts_of_sizes: Sequence[ObjectCounts], by_size: Sequence[ClassRow]) -> list[ClassRow]:
    """Return a table row for each size of objects, in the format of :func:`slices`."""
    counted = zip(SIZES, counts_of_sizes, by_size, strict=True)
    return [_row("size", size, *counts) | more for size, counts, more in counted]


def size_rows(
    truth: ObjectTruth,
    matches: Matches,
    errors: Errors,
    in_split: Mask,
    size_codes: tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]],
) -> list[ClassRow]:
    """Return a row for each size: the number of false positives of this size, and the mAP for objects of this size.

    ``size_codes`` are the sizes of the ordinary objects and those of the detections, as indices into :data:`SIZES`.
    """
    is_inside = in_split[truth.object_places[0][: len(truth.object_keys)]]
    own_sizes, detection_sizes = size_codes
    rows: list[ClassRow] = []
    for code in range(len(SIZES)):
        false = (errors.kinds >= 0) & (detection_sizes == code) & in_split[matches.detections.images]
        chosen = is_inside & (own_sizes == code)
        rows.append({"false_positives": int(false.sum()), "mAP": _mean_ap(truth, matches, chosen, false)})
    return rows


def _counts(values: NDArray[np.integer[Any]], kinds: NDArray[np.integer[Any]], count: int) -> list[ObjectCounts]:
    """Return four object counts for each value, from 0 to ``count`` - 1, of a property such as the size.

    The four counts are the numbers of objects that were matched, and of objects that were missed because of a wrong
    class, because of a bad localization, and for any other reason. ``kinds`` is the kind of error of each object.
    """
    columns = np.full(MISSED + 2, -1)
    columns[[NO_ERROR + 1, CLASS + 1, LOCALIZATION + 1, MISSED + 1]] = range(4)
    cells = np.bincount(values.astype(np.int64) * 4 + columns[kinds.astype(np.int64) + 1], minlength=4 * (count + 1))
    return [(row[0], row[1], row[2], row[3]) for row in cells.reshape(-1, 4)[:count].tolist()]


def _row(name: str, value: str, found: int, wrong_class: int, badly_located: int, missed: int) -> ClassRow:
    """Return the table row of a slice, such as the objects of one size: the numbers of matched and missed objects."""
    truths = found + wrong_class + badly_located + missed
    return {
        "slice": name,
        "value": value,
        "truths": truths,
        "found": found,
        "recall": found / truths if truths else None,
        "missed_class": wrong_class,
        "missed_localization": badly_located,
        "missed": missed,
    }


def _mean_ap(truth: ObjectTruth, matches: Matches, objects: Mask, false: Mask) -> float | None:
    """Return the mAP for the selected objects. Groups, and detections that hit other objects, do not count."""
    counted = (matches.hits & np.append(objects, False)[matches.objects]) | false
    classes = truth.images_and_labels(truth.object_keys[objects])[1]
    values = average_precisions(
        matches.curves[counted],
        matches.detections.confidences[counted],
        matches.hits[counted].astype(float),
        np.bincount(classes, minlength=len(truth.labels)).astype(float),
    )
    return finite(mean_defined(values))
