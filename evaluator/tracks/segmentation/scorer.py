"""Scores Open Images instance segmentation. Detections that match an object with only a box are ignored."""

import base64
import zlib
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import SEGMENTATION
from evaluator.files.notices import notice_nothing_to_score
from evaluator.files.source import Source
from evaluator.files.submission import SubmissionTable, read_submission
from evaluator.kernels import compile_once
from evaluator.metrics.boxes import intersection_over_area, intersection_over_union
from evaluator.metrics.masks import KERNEL, Masks, mask_iou, mask_overlaps
from evaluator.metrics.matching import best_objects, best_objects_of_kinds, winning_claims
from evaluator.request import Progress
from evaluator.tracks.detection.candidates import Detections, are_valid, are_verified, indices_within_cap, predicted
from evaluator.tracks.detection.entries import ScoredDetections
from evaluator.tracks.detection.matches import Matches, confidences_of_groups
from evaluator.tracks.interface import Outcome, Scorer
from evaluator.tracks.segmentation.truth import SegmentationParameters, SegmentationTruth
from evaluator.tracks.shared.submissions import csv_text, notice_predictions, require_all_images, vocabularies_of
from evaluator.truth import Truth

# Constants of the hash function: 2 ** 64 divided by the golden ratio, and half the number of bits of a hash.
HASH_FACTOR, HASH_SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


def match(
    truth: SegmentationTruth, detections: Detections, masks: Masks, parameters: SegmentationParameters
) -> Matches:
    """Match detections with the masks of objects, and the remaining detections with objects that have only a box.

    Masks are matched in the same way as boxes in detection. A detection that matches an object with only a box is
    absorbed: it is neither a true nor a false positive. Source: the official Open Images code.
    """
    # The IoU threshold is rounded to single precision, because mask overlaps have this precision.
    mask_threshold = float(np.float32(parameters.iou_threshold))
    true_masks, count = truth.all_masks, len(truth.object_keys)
    detections, masks = within_cap(truth, detections, masks, true_masks)
    keys = detections.keys(truth)
    ties = ties_of(detections, masks, keys)
    (objects, overlaps), (groups, shares) = best_objects_of_kinds(
        keys,
        (truth.object_keys, truth.group_keys),
        lambda ours, theirs: mask_overlaps(masks, true_masks, ours, theirs, count),
    )
    targets = np.where(overlaps >= mask_threshold, objects, -1)
    hits = winning_claims(targets, detections.confidences, overlaps, ties)
    in_group = ~hits & (shares >= mask_threshold)
    on_box = are_on_boxes(truth, detections, ties, hits | in_group, parameters.iou_threshold)
    return Matches(
        detections=detections,
        verified=are_verified(truth, detections),
        objects=objects,
        overlaps=overlaps,
        hits=hits,
        groups=groups,
        shares=shares,
        absorbed=in_group | on_box,
        group_confidences=confidences_of_groups(
            groups[in_group], detections.confidences[in_group], len(truth.group_keys), parameters.group_of_weight
        ),
        curves=detections.labels,
    )


def within_cap(
    truth: SegmentationTruth, detections: Detections, masks: Masks, true_masks: Masks
) -> tuple[Detections, Masks]:
    """Return the most confident detections, at most 10,000 for each image and label, with their masks."""

    def tie_breaks(rivals: NDArray[np.int64]) -> tuple[NDArray[np.float64], list[NDArray[Any]]]:
        tied, tied_masks = detections[rivals], masks[rivals]
        _, overlaps = best_objects(
            tied.keys(truth), truth.object_keys, lambda ours, theirs: mask_iou(tied_masks, true_masks, ours, theirs)
        )
        return overlaps, ties_of(tied, tied_masks, tied.keys(truth))

    chosen = indices_within_cap(truth, detections, tie_breaks)
    # Copies of all detections would need more memory.
    return (detections, masks) if len(chosen) == len(detections) else (detections[chosen], masks[chosen])


def are_on_boxes(
    truth: SegmentationTruth,
    detections: Detections,
    ties: list[NDArray[Any]],
    settled: NDArray[np.bool_],
    threshold: float,
) -> NDArray[np.bool_]:
    """Return whether each detection matches an object that has only a box, shape (N,).

    Detections that already match a mask or a group (``settled``) are not considered.

    Of the detections whose overlap with the box of an ordinary object reaches the threshold, only the best one matches
    the object. All detections in the box of a group match the group.
    """
    keys, boxes = detections.keys(truth), detections.boxes
    objects, overlaps = best_objects(
        keys, truth.box_keys, lambda ours, theirs: intersection_over_union(boxes[ours], truth.boxes[theirs])
    )
    targets = np.where(~settled & (overlaps >= threshold), objects, -1)
    on_ordinary = winning_claims(targets, detections.confidences, overlaps, ties)
    _, shares = best_objects(
        keys,
        truth.group_box_keys,
        lambda ours, theirs: intersection_over_area(boxes[ours], truth.group_boxes[theirs]),
    )
    return ~settled & (on_ordinary | (shares >= threshold))


def ties_of(detections: Detections, masks: Masks, groups: NDArray[np.int64]) -> list[NDArray[Any]]:
    """Return the values that break ties between detections with equal confidence and overlap: boxes, then masks.

    Parameters
    ----------
    detections, masks : of length N
    groups : int64 array of shape (N,)
        Only detections of the same group are compared, for example those with the same image and label.
    """
    return [*detections.coordinates, _ranks(masks, [groups, *detections.coordinates])]


def _ranks(masks: Masks, columns: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Return a rank for each mask. Masks with equal values in all ``columns`` are ranked by their compressed bytes.

    Sorting byte strings is slow, and few masks have the same group and box as another mask. Therefore, a mask is sorted
    only if the hash of its values in ``columns`` equals that of another mask. All other masks have rank 0.
    """
    hashes = np.zeros(len(masks.areas), np.uint64)
    for column in columns:
        hashes = (hashes ^ np.ascontiguousarray(column).view(np.uint64)) * HASH_FACTOR
        hashes ^= hashes >> HASH_SHIFT
    order = np.argsort(hashes, kind="stable")
    is_equal = hashes[order][1:] == hashes[order][:-1]
    alike = order[np.append(False, is_equal) | np.append(is_equal, False)] if len(order) else order
    ranks = np.zeros(len(order), np.int64)
    ranks[alike] = np.unique(np.array(masks[alike].compressed(), object), return_inverse=True)[1]
    return ranks


def masks_of(table: SubmissionTable, detections: Detections) -> Masks:
    """Return the masks of the given detections in a submission."""
    column, rows = table.columns["Mask"], detections.rows
    return Masks(table.run_lengths, column["range"][rows], column["area"][rows])


def detections_of(truth: SegmentationTruth, table: SubmissionTable, parameters: SegmentationParameters) -> Detections:
    """Return all detections in a submission. Those whose label is in the ground truth come first."""
    return predicted(truth, table, table.columns["Mask"]["box"], expand=parameters.expand_predictions)


def matched(
    truth: SegmentationTruth,
    table: SubmissionTable,
    detections: Detections,
    parameters: SegmentationParameters,
    progress: Progress,
) -> Matches:
    """Match the masks in a submission with the objects of the ground truth.

    ``detections`` are those of :func:`detections_of`.
    """
    progress("matching", 0.0)
    # Only valid detections are kept. A detection with an empty mask is not valid, because its bounding box has no area.
    detections = detections[are_valid(detections)]
    detections = detections[np.argsort(detections.keys(truth), kind="stable")]
    compile_once(progress)
    # The kernel is always loaded. Otherwise, the loading time would reveal whether masks are compared.
    import_module(KERNEL)
    return match(truth, detections, masks_of(table, detections), parameters)


def outcome_of(
    truth: SegmentationTruth, matches: Matches, parameters: SegmentationParameters, progress: Progress
) -> Outcome:
    """Return the outcome of a submission whose masks have been matched."""
    progress("scoring", 0.0)
    weight = parameters.group_of_weight
    return ScoredDetections(truth, matches.entries(truth, weight), weight, matches.crowded(truth)).outcome()


class SegmentationScorer(Scorer[SegmentationTruth, SegmentationParameters, SubmissionTable]):
    """Scores submissions to the instance segmentation track of Open Images."""

    track = SEGMENTATION

    def truth_of(self, prepared: Truth) -> SegmentationTruth:
        """Return a ground truth as an instance of this track's ground truth class."""
        return SegmentationTruth.of(prepared)

    def parameters_of(self, resolved: Mapping[str, Any]) -> SegmentationParameters:
        """Return the parameters as an instance of this track's parameter class."""
        return SegmentationParameters.of(resolved)

    def read(
        self, source: Source, truth: SegmentationTruth | None, parameters: SegmentationParameters
    ) -> SubmissionTable:
        """Read a submission, and add notices about predictions that are probably mistakes."""
        sizes = None if truth is None else {"width": truth.widths, "height": truth.heights}
        table, findings = read_submission(source, SEGMENTATION.form, vocabularies_of(truth), sizes), source.findings
        if truth is not None and parameters.require_all_images and not findings.total:
            require_all_images(truth, table, findings)
        if not findings.total:
            empty = int(np.count_nonzero(table.columns["Mask"]["area"] == 0))
            findings.notice("empty_mask", "empty masks were ignored", empty)
            confidences = table.numbers("Score")[:, 0]
            notice_predictions(findings, truth, confidences, [], [table.codes("LabelName")])
            notice_nothing_to_score(findings, len(confidences), len(confidences) - empty)
        return table

    def evaluate(
        self, truth: SegmentationTruth, table: SubmissionTable, parameters: SegmentationParameters, progress: Progress
    ) -> Outcome:
        """Score the masks in a submission on every split."""
        matches = matched(truth, table, detections_of(truth, table, parameters), parameters, progress)
        return outcome_of(truth, matches, parameters, progress)

    def template(self, truth: SegmentationTruth) -> str:
        """Return the template submission, which has an empty prediction string for every image.

        An unknown width or height is written as 1.
        """
        sides = (np.maximum(side, 1).tolist() for side in (truth.widths, truth.heights))
        rows = ((*image, "") for image in zip(truth.images, *sides, strict=True))
        return csv_text(SEGMENTATION.form.kaggle_header, rows)

    def ceiling(self, truth: SegmentationTruth, parameters: SegmentationParameters) -> str:
        """Return the best possible submission: all ground-truth masks and copies for ancestors, with confidence 1.

        Copies for ancestors are left out if predictions are copied to ancestors.
        """
        ordinary = truth.object_keys, truth.masks_of_objects, truth.object_is_annotated
        groups = truth.group_keys, truth.masks_of_groups, truth.group_is_annotated
        rows = []
        for keys, masks, is_annotated in (ordinary, groups):
            chosen = np.flatnonzero(is_annotated | (not parameters.expand_predictions))
            images, labels = truth.images_and_labels(keys[chosen])
            sizes = truth.widths[images].tolist(), truth.heights[images].tolist()
            columns = images.tolist(), *sizes, labels.tolist(), masks[chosen].compressed()
            for image, width, height, label, run_lengths in zip(*columns, strict=True):
                text = base64.b64encode(zlib.compress(run_lengths)).decode()
                rows.append((truth.images[image], width, height, truth.labels[label], 1, text))
        return csv_text(SEGMENTATION.form.long_header, rows)


SCORER = SegmentationScorer()
