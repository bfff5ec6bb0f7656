"""What detections by boxes and by masks have in common: which count, which groups are found, the sum of a split."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.submission import Table
from evaluator.metrics.average_precision import average_precisions
from evaluator.metrics.matching import Rivalry, ranks_in_groups, surest
from evaluator.report import SplitReport
from evaluator.tracks.detection.matches import NOT_REACHED, Detections, Matches, highest_of
from evaluator.tracks.detection.resampling import Entries
from evaluator.tracks.detection.summary import objects, summary
from evaluator.tracks.interface import Outcome, contains, on_every_split
from evaluator.truth import Truth

LOWEST_CONFIDENCE = -10.0  # the official code's threshold: at or below it a detection is dropped
MAX_PER_IMAGE_AND_CLASS = 10_000


def predicted(truth: Truth, table: Table, boxes: NDArray[np.float64], parameters: Mapping[str, Any]) -> Detections:
    """Return all detections, those of known labels first; with ``expand_predictions`` copies for every ancestor too.

    ``boxes``: of the whole table, shape (rows, 4).
    """
    codes = table.codes("LabelName")
    rows, others = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
    labels = codes[rows]
    if parameters["expand_predictions"]:
        copies, ancestors = _ancestors(truth, labels)
        rows, labels = np.r_[rows, rows[copies]], np.r_[labels, ancestors]
    rows, labels = np.r_[rows, others], np.r_[labels, codes[others]]
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


def without_unverified(truth: Truth, matches: Matches) -> Matches:
    """Return what became of all detections; those of a class that is not verified in their image are absorbed.

    Only now, and none is dropped: what is verified must not tell by time or memory.
    """
    return replace(matches, absorbed=matches.absorbed | ~verified(truth, matches.found))


def verified(truth: Truth, found: Detections) -> NDArray[np.bool_]:
    """Tell which detections are of a class that is verified in their image, shape (N,)."""
    if not len(found):  # nothing is looked up for a file without detections
        return np.zeros(0, bool)
    return contains(truth.arrays["verified"], found.keys(truth))


def most_confident(truth: Truth, found: Detections, rivalry: Rivalry) -> NDArray[np.int64]:
    """Return which detections are among the 10,000 surest of their image and class.

    The cap holds for every class, verified or not. Labels that the truth does not know are one class: none counts.
    """
    keys = found.images * (len(truth.texts["labels"]) + 1) + found.labels + 1
    return surest(MAX_PER_IMAGE_AND_CLASS, keys, found.confidences, rivalry)


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
    # The curve of what counts for nothing takes as long, and is dropped.
    values = average_precisions(labels, confidences, weights, np.append(truths, 1.0))[:count]
    kinds = weights == 1, (weights > 0) & (weights < 1), np.ones(len(weights), bool)
    full, part, scored = (np.bincount(labels[kind], minlength=count)[:count] for kind in kinds)
    return summary(truth, split, values, truths, scored=scored, true=full + weight * part, false=scored - full - part)
