"""A detection split summed up, whichever way its curves were made."""

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import DETECTION
from evaluator.metrics.average_precision import mean_defined
from evaluator.report import ClassRow, SplitReport, finite
from evaluator.tracks.interface import shown_labels
from evaluator.truth import IGNORED, PRIVATE, PUBLIC, Truth

USAGES = {"all": [PUBLIC, PRIVATE], "public": [PUBLIC], "private": [PRIVATE]}
assert IGNORED not in USAGES["all"]


def count_objects(
    boxes: NDArray[np.int64], groups: NDArray[np.int64], usage: NDArray[np.int8], labels: int
) -> NDArray[np.int64]:
    """Return how many ordinary and group-of boxes each class has in images of each usage, shape (3, 2, labels)."""
    counts = []
    for keys in (boxes, groups):
        images, codes = np.divmod(keys, max(labels, 1))
        counts.append(np.bincount(usage[images].astype(np.int64) * labels + codes, minlength=3 * labels))
    return np.stack([count.reshape(3, labels) for count in counts], axis=1)


def objects(truth: Truth, split: str, weight: float) -> NDArray[np.float64]:
    """Return the weight of the objects of each class in a split, shape (classes,)."""
    ordinary, grouped = truth.arrays["objects"][USAGES[split]].sum(axis=0)
    return np.asarray(ordinary + weight * grouped)


def summary(
    truth: Truth,
    split: str,
    values: NDArray[np.float64],
    truths: NDArray[np.float64],
    *,
    scored: NDArray[np.int64],
    true: NDArray[np.float64],
    false: NDArray[np.int64],
) -> SplitReport:
    """Return the report of one split.

    Parameters
    ----------
    values : float64 array of shape (classes,)
        Average precisions, NaN where undefined.
    truths, scored, true, false : arrays of shape (classes,)
        Weight of the objects, number of entries, weight of those that hit, number of those that did not.
    """
    rows: list[ClassRow] = [
        {
            "label": truth.texts["labels"][label],
            "name": truth.texts["names"][label],
            "ap": finite(values[label]),
            "truths": float(truths[label]),
            "scored": int(scored[label]),
            "true_positives": float(true[label]),
            "false_positives": int(false[label]),
        }
        for label in shown_labels(truth, split)
    ]
    return SplitReport(DETECTION.headline, {"mAP": finite(mean_defined(values))}, rows)
