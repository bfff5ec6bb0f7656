"""What detections by boxes and by masks have in common: which count, which groups are found, the sum of a split."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.submission import Table
from evaluator.metrics.average_precision import average_precisions
from evaluator.metrics.matching import precedence, ranks_in_groups
from evaluator.report import SplitReport
from evaluator.tracks.contest import Outcome, contains, on_every_split
from evaluator.tracks.detection_matches import NOT_REACHED, Detections, highest_of
from evaluator.tracks.detection_report import objects, summary
from evaluator.tracks.detection_sample import Entries
from evaluator.truth import Truth

LOWEST_CONFIDENCE = -10.0  # the official code's threshold: at or below it a detection is dropped
MOST_PER_IMAGE_AND_CLASS = 10_000


def evaluated(truth: Truth, table: Table, boxes: NDArray[np.float64], parameters: Mapping[str, Any]) -> Detections:
    """Return the detections that count: sound ones of classes verified in their image."""
    found = predicted(truth, table, boxes, parameters)
    found = found[sound(found)]
    return found[contains(truth.arrays["verified"], found.keys(truth))] if len(found) else found


def predicted(truth: Truth, table: Table, boxes: NDArray[np.float64], parameters: Mapping[str, Any]) -> Detections:
    """Return all detections of known classes; with ``expand_predictions`` their copies for every ancestor too.

    ``boxes``: of the whole table, shape (rows, 4).
    """
    labels = table.codes("LabelName")
    rows = np.flatnonzero(labels >= 0)
    labels = labels[rows]
    if parameters["expand_predictions"]:
        copies, ancestors = _ancestors(truth, labels)
        rows, labels = np.r_[rows, rows[copies]], np.r_[labels, ancestors]
    confidences = table.numbers("Score")[rows, 0]
    return Detections(table.codes("image")[rows], labels, confidences, boxes[rows], rows, np.arange(len(rows)))


def _ancestors(truth: Truth, labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return every ancestor of every label: (place of the label, ancestor), both of shape (copies,)."""
    ends, ancestors = truth.arrays["ancestor_ends"], truth.arrays["ancestors"]
    starts = np.r_[0, ends[:-1]]
    counts = (ends - starts)[labels]
    origin = np.repeat(np.arange(len(labels)), counts)
    return origin, ancestors[np.repeat(starts[labels], counts) + ranks_in_groups(origin)]


def sound(found: Detections) -> NDArray[np.bool_]:
    """Tell which detections have an area and a confidence above the lowest, shape (N,)."""
    has_area = (found.boxes[:, 0] < found.boxes[:, 1]) & (found.boxes[:, 2] < found.boxes[:, 3])
    return np.asarray(has_area & (found.confidences > LOWEST_CONFIDENCE))


def most_confident(
    found: Detections, keys: NDArray[np.int64], overlaps: NDArray[np.float64], ties: Sequence[NDArray[np.generic]]
) -> NDArray[np.bool_]:
    """Tell which detections are among the 10,000 surest of their image and class, shape (N,)."""
    order = precedence(keys, found.confidences, overlaps, ties)
    kept = np.zeros(len(keys), bool)
    kept[order] = ranks_in_groups(keys[order]) < MOST_PER_IMAGE_AND_CLASS
    return kept


def reached(
    groups: NDArray[np.int64], confidences: NDArray[np.float64], count: int, weight: float
) -> NDArray[np.float64]:
    """Return the confidence at which each of ``count`` groups is found; one of 0 or less, or of no weight, is not.

    ``groups``, ``confidences``: of the detections that a group absorbed.
    """
    highest = highest_of(groups, confidences, count)
    return np.where((highest > 0) & (weight > 0), highest, NOT_REACHED)


def outcome_of(truth: Truth, entries: Entries, weight: float) -> Outcome:
    """Sum up every split; a group counts ``weight``."""
    reports = on_every_split(truth, lambda split: fold(truth, entries, split, weight))
    return Outcome(reports, partial(entries.sample, truth, weight), partial(entries.curves, truth, weight))


def fold(truth: Truth, entries: Entries, split: str, weight: float) -> SplitReport:
    """Sum up one split: AP of each class, and their mean."""
    count, in_split = len(truth.texts["labels"]), truth.splits[split]
    truths = objects(truth, split, weight)
    chosen = in_split[entries.images]
    labels, confidences, weights = entries.labels[chosen], entries.confidences[chosen], entries.weights[chosen]
    values = average_precisions(labels, confidences, weights, truths)
    full = np.bincount(labels[weights == 1], minlength=count)
    part = np.bincount(labels[(weights > 0) & (weights < 1)], minlength=count)
    scored = np.bincount(labels, minlength=count)
    return summary(truth, values, truths, scored=scored, true=full + weight * part, false=scored - full - part)
