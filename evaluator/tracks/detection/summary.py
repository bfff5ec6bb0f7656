"""Computes the weighted number of positives for the detection tracks, and the report of a split."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import DETECTION
from evaluator.metrics.bootstrap import Areas, MeanAveragePrecision, Numbers
from evaluator.report import ClassRow, SplitReport, finite
from evaluator.tracks.shared.label_truth import ObjectTruth

Counts = NDArray[np.integer[Any]] | Numbers


def weighted(ordinary: Counts, groups: Counts, group_weight: float) -> Numbers:
    """Return the number of positives of each class: ordinary objects, plus groups multiplied by their weight.

    >>> weighted(np.array([2, 0]), np.array([1, 1]), 0.5)
    array([2.5, 0.5])
    """
    return np.asarray(ordinary + group_weight * groups)


@dataclass(frozen=True, slots=True)
class EntryCounts:
    """The numbers of precision/recall curve entries in each class, for one split; arrays of shape (classes,).

    Attributes
    ----------
    scored : int64 array
        All scored entries.
    true : float64 array
        True positives. A matched group-of box contributes its weight.
    false : int64 array
        False positives.
    """

    scored: NDArray[np.int64]
    true: NDArray[np.float64]
    false: NDArray[np.int64]


def split_report(truth: ObjectTruth, split: str, group_weight: float, areas: Areas, counts: EntryCounts) -> SplitReport:
    """Return the score report for a split.

    Parameters
    ----------
    truth : ObjectTruth
    split : str
    group_weight : float
    areas : callable
        A function that takes the number of positives of each class, and returns the area under the curve of each class.
    counts : EntryCounts
    """
    numbers = MeanAveragePrecision.of(weighted(*truth.counts(split), group_weight), areas)
    labels, names = list(truth.labels), list(truth.names)
    columns = (numbers.average_precisions, numbers.positives, counts.scored, counts.true, counts.false)
    values = list(zip(*(column.tolist() for column in columns), strict=True))
    rows: list[ClassRow] = []
    for label in truth.shown_labels(split):
        ap, positives, scored, true, false = values[label]
        row = {"label": labels[label], "name": names[label], "ap": finite(ap), "truths": positives}
        rows.append(row | {"scored": scored, "true_positives": true, "false_positives": false})
    metrics = {name: finite(float(value)) for name, value in numbers.metrics().items()}
    return SplitReport(DETECTION.headline, metrics, rows)
