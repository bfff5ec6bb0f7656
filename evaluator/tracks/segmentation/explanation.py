"""Explains a segmentation score with tables of errors, and with a row for each mask and each missed object."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evaluator.files.submission import SubmissionTable
from evaluator.metrics.masks import mask_iou
from evaluator.report import ClassRow, MatchTable, SplitReport
from evaluator.request import Progress
from evaluator.tracks.detection.candidates import Detections
from evaluator.tracks.detection.explain.errors import (
    Comparison,
    Errors,
    Nearest,
    class_errors,
    errors_of,
    false_positives,
    missed_weights,
)
from evaluator.tracks.detection.explain.figures import Figures
from evaluator.tracks.detection.explain.slices import BOUNDS, size_counts, size_rows, size_slices
from evaluator.tracks.detection.explain.tables import by_outcome, predicted
from evaluator.tracks.detection.matches import Matches
from evaluator.tracks.detection.summary import weighted
from evaluator.tracks.interface import Outcome
from evaluator.tracks.segmentation.match_rows import COLUMNS, TYPES, match_rows
from evaluator.tracks.segmentation.scorer import detections_of, masks_of, matched, outcome_of, ties_of
from evaluator.tracks.segmentation.truth import SegmentationParameters, SegmentationTruth


@dataclass(frozen=True, slots=True)
class Explained:
    """A scored submission with its matches and errors.

    Attributes
    ----------
    truth : SegmentationTruth
    known : Detections
        All masks whose label is in the ground truth.
    matches : Matches
        The matches of the masks whose label is verified in their image, that is, known to be present or absent.
    sizes : int64 array of shape (N,)
        Size of each mask in ``matches``, as an index into :data:`~evaluator.tracks.detection.explain.slices.SIZES`.
    errors : Errors
        The errors of the masks in ``matches``.
    group_weight : float
    """

    truth: SegmentationTruth
    known: Detections
    matches: Matches
    sizes: NDArray[np.int64]
    errors: Errors
    group_weight: float


def explain(
    truth: SegmentationTruth, table: SubmissionTable, parameters: SegmentationParameters, progress: Progress
) -> Outcome:
    """Score a submission, and return the outcome with tables of errors and a row for each mask.

    The kinds of errors are those of detection, based on overlaps of masks. As in the score, objects that have only a
    box are not counted. The tables are ``averages``, ``errors``, ``error_sums``, ``class_errors`` and ``slices`` (by
    size). The rows of classes get columns for precision, recall, F1 and support, for the masks and objects with each
    outcome, and for the false positives of each kind (``fp_…``).

    Masks are not matched a second time. In addition to the overlaps that the score needs, only the overlaps of false
    positives with objects of other classes are computed.
    """
    known = detections_of(truth, table, parameters)
    matches = matched(truth, table, known, parameters, progress)
    outcome = outcome_of(truth, matches, parameters, progress)
    known, matches, weight = known[known.labels >= 0], matches[matches.verified], parameters.group_of_weight
    # As in matching, the IoU threshold is rounded to single precision, because mask overlaps have this precision.
    threshold = float(np.float32(parameters.iou_threshold))
    errors = errors_of(truth, matches, mask_overlaps(truth, table, matches), threshold=threshold, group_weight=weight)
    on_boxes = matches.absorbed & (matches.shares < threshold)
    # A mask that matches an object with only a box is absorbed, but it does not match the group that it overlaps most.
    matches = replace(matches, groups=np.where(on_boxes, -1, matches.groups))
    pixels = table.columns["Mask"]["size"][matches.detections.rows].prod(axis=1)
    sizes = np.digitize(table.columns["Mask"]["area"][matches.detections.rows] / pixels, BOUNDS)
    found = Explained(truth, known, matches, sizes, errors, weight)
    splits = {name: _explained(found, report, name) for name, report in outcome.splits.items()}
    rows = partial(match_rows, truth, known, matches, on_boxes, errors)
    return replace(outcome, splits=splits, matches=MatchTable(COLUMNS, rows, TYPES))


def mask_overlaps(truth: SegmentationTruth, table: SubmissionTable, matches: Matches) -> Comparison:
    """Return the overlaps of false positives with ground-truth masks.

    The overlaps with objects of the same class are taken from ``matches``.
    """
    false = false_positives(matches)
    detections = matches.detections[false]
    masks, annotated = masks_of(table, detections), np.flatnonzero(truth.object_is_annotated)
    annotated_masks = truth.masks_of_objects[annotated]
    return Comparison(
        own=Nearest(matches.objects[false], matches.overlaps[false]),
        group=Nearest(matches.groups[false], matches.shares[false]),
        annotated=annotated,
        other=lambda ours, theirs: mask_iou(masks, annotated_masks, ours, theirs),
        ties=ties_of(detections, masks, detections.images),
    )


def _explained(found: Explained, report: SplitReport, split: str) -> SplitReport:
    """Return the score report for a split, with the tables and columns of its explanation added."""
    truth, matches, errors, weight = found.truth, found.matches, found.errors, found.group_weight
    in_split, positives = truth.splits[split], weighted(*truth.counts(split), weight)
    missed = missed_weights(truth, errors.object_kinds, errors.group_kinds, in_split, weight)
    figures = Figures(
        errors=errors.curve_errors(truth, matches, in_split, positives, weight),
        predicted=predicted(truth, matches, in_split, weight),
        by_outcome=by_outcome(truth, found.known, matches, missed, in_split),
        tables={
            "class_errors": class_errors(truth, matches, errors, in_split),
            "slices": _slices(found, in_split),
        },
    )
    return figures.explained(truth, report)


def _slices(found: Explained, in_split: NDArray[np.bool_]) -> list[ClassRow]:
    """Return a row for each size class of objects. The size of a mask is the fraction of the image that it covers."""
    truth, (images, _) = found.truth, found.truth.images_and_labels(found.truth.object_keys)
    pixels = np.maximum(truth.widths * truth.heights, 1)[images]
    sizes = np.digitize(truth.areas[truth.object_masks] / pixels, BOUNDS)
    by_size = size_rows(truth, found.matches, found.errors, in_split, (sizes, found.sizes))
    return size_slices(size_counts(truth, found.errors.object_kinds, in_split, sizes), by_size)
