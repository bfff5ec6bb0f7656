"""Lists each mask and each missed object, with its outcome and the reason for the outcome."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.errors import GROUP_OF, NO_ERROR
from evaluator.tracks.detection.candidates import Detections, are_valid, are_verified
from evaluator.tracks.detection.explain import match_rows as of_boxes
from evaluator.tracks.detection.explain.errors import Errors
from evaluator.tracks.detection.explain.match_rows import Outcomes
from evaluator.tracks.detection.matches import Matches
from evaluator.tracks.segmentation.truth import SegmentationTruth
from evaluator.truth import USAGES

COLUMNS = ("Usage", "ImageID", "LabelName", "Score", "Outcome", "Reason", "TruthLine", "Overlap")
TYPES = {"Score": float, "TruthLine": int, "Overlap": float}
OUTCOMES = of_boxes.OUTCOMES
REASONS = (*of_boxes.REASONS[:-1], "box_only", "")
BOX_ONLY = len(REASONS) - 2
FIRST_LINE = 2  # Line number of the first row after the header of masks.csv.

Row = tuple[Any, ...]


def match_rows(
    truth: SegmentationTruth, known: Detections, matches: Matches, on_boxes: NDArray[np.bool_], errors: Errors
) -> Iterator[Row]:
    """Yield a row of :data:`COLUMNS` for each mask whose label is in the ground truth, then for each missed object.

    The outcomes are those of detection. A mask is also ``absorbed`` if it matches an object that has only a box; its
    reason is ``box_only``. ``TruthLine`` is the line number, in masks.csv, of the object that a mask was compared with:
    the object that it hits, the object that explains its error, or the group in which it lies. ``Overlap`` is the IoU
    with that object; for a group, it is the fraction of the mask inside the group.

    Parameters
    ----------
    truth : SegmentationTruth
    known : Detections
        All masks whose label is in the ground truth.
    matches : Matches
        The matches of the masks whose label annotators verified in the image.
    on_boxes : bool array of shape (N,)
        Which of these masks match an object that has only a box.
    errors : Errors
    """
    yield from _rows(truth, known, _outcomes(truth, known, matches, on_boxes, errors))
    for keys, kinds, rows in (
        (truth.object_keys, errors.object_kinds, truth.object_masks),
        (truth.group_keys, errors.group_kinds, truth.group_masks),
    ):
        missed = np.flatnonzero(kinds != NO_ERROR)
        images, labels = truth.images_and_labels(keys[missed])
        unknown = np.full(len(missed), np.nan)
        objects = Detections(images, labels, unknown, np.zeros((len(missed), 4)), missed, missed)
        outcomes = np.full(len(missed), of_boxes.MISSED)
        yield from _rows(truth, objects, Outcomes(outcomes, kinds[missed], rows[missed], np.zeros(len(missed))))


def _outcomes(
    truth: SegmentationTruth, known: Detections, matches: Matches, on_boxes: NDArray[np.bool_], errors: Errors
) -> Outcomes:
    """Return the outcomes of all masks whose label is in the ground truth."""
    indices, count = matches.detections.indices, len(known)
    conditions = [matches.hits, on_boxes, matches.finds_group, matches.absorbed]
    choices = [of_boxes.HIT, of_boxes.ABSORBED, of_boxes.FINDS_GROUP, of_boxes.ABSORBED]
    outcomes, rows, overlaps = np.full(count, of_boxes.IGNORED), np.full(count, -1), np.zeros(count)
    outcomes[indices] = np.select(conditions, choices, of_boxes.FALSE)
    ignored_because = [~are_valid(known), ~are_verified(truth, known)]
    reasons = np.select(ignored_because, [of_boxes.INVALID, of_boxes.UNVERIFIED], of_boxes.OVER_THE_CAP)
    # NO_ERROR is -1 and therefore selects the last element of REASONS, an empty string.
    reasons[indices] = np.where(on_boxes, BOX_ONLY, errors.kinds)

    in_group = matches.absorbed & ~on_boxes
    of_groups = np.append(truth.group_masks, -1)[matches.groups]
    of_objects = np.append(truth.object_masks, -1)[np.where(matches.hits, matches.objects, errors.objects)]
    rows[indices] = np.select([on_boxes, in_group | (errors.kinds == GROUP_OF)], [-1, of_groups], of_objects)
    overlaps[indices] = np.select([matches.hits, in_group], [matches.overlaps, matches.shares], errors.overlaps)
    return Outcomes(outcomes, reasons, rows, overlaps)


def _rows(truth: SegmentationTruth, detections: Detections, outcomes: Outcomes) -> Iterator[Row]:
    """Yield an output row for each of the given masks or missed objects."""
    images, labels = list(truth.images), list(truth.labels)
    usages = {code: usage for usage, code in USAGES.items()}
    columns = zip(
        truth.usage[detections.images].tolist(),
        detections.images.tolist(),
        detections.labels.tolist(),
        detections.confidences.tolist(),
        outcomes.outcomes.tolist(),
        outcomes.reasons.tolist(),
        outcomes.rows.tolist(),
        outcomes.overlaps.tolist(),
        strict=True,
    )
    for usage, image, label, confidence, outcome, reason, row, overlap in columns:
        compared = (row + FIRST_LINE, overlap or "") if row >= 0 else ("", "")
        shown = "" if outcome == of_boxes.MISSED else confidence
        yield (usages[usage], images[image], labels[label], shown, OUTCOMES[outcome], REASONS[reason], *compared)
