"""The kind of error of each false positive and of each object that a submission missed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.boxes import intersection_over_area, intersection_over_union
from evaluator.metrics.errors import CLASS, GROUP_OF, LOCALIZATION, MISSED, NO_ERROR, CurveErrors, detection_kinds
from evaluator.metrics.matching import best_objects, contains, winning_claims
from evaluator.tracks.detection.candidates import Detections
from evaluator.tracks.detection.matches import Matches
from evaluator.tracks.detection.truth import DetectionTruth

Codes = NDArray[np.int64]
Overlaps = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Errors:
    """The errors of N detections, and why B ordinary and G group-of boxes were missed.

    Attributes
    ----------
    kinds : int64 array of shape (N,)
        Kind of error of each false positive, ``NO_ERROR`` for a detection that is not a false positive.
    objects : int64 array of shape (N,)
        Index of the ordinary box that a false positive failed to hit, -1 if there is none.
    overlaps : float64 array of shape (N,)
        IoU with that box; for an error of kind ``GROUP_OF`` the largest IoA with a group-of box.
    fixed_classes : int64 array of shape (N,)
        Class in which a false positive would hit that box if its error were fixed; -1 if a different detection hits
        the box or would hit it first.
    object_kinds, group_kinds : int64 arrays of shape (B,) and (G,)
        Kind of error because of which a box was missed, ``NO_ERROR`` for a box that was matched.
    """

    kinds: Codes
    objects: Codes
    overlaps: Overlaps
    fixed_classes: Codes
    object_kinds: Codes
    group_kinds: Codes

    def curve_errors(
        self,
        truth: DetectionTruth,
        matches: Matches,
        in_split: NDArray[np.bool_],
        positives: NDArray[np.float64],
        group_weight: float,
    ) -> CurveErrors:
        """Return the entries and the missed objects of a split, with their kinds of errors."""
        entries = matches[matches.scored].entries(truth, group_weight)
        chosen = in_split[entries.images]
        of_groups = np.full(len(entries.images) - np.count_nonzero(matches.scored), NO_ERROR)
        images, labels = truth.images_and_labels(np.concatenate([truth.object_keys, truth.group_keys]))
        kinds = np.concatenate([self.object_kinds, self.group_kinds])
        weights = np.repeat([1.0, group_weight], [len(self.object_kinds), len(self.group_kinds)])
        lost = in_split[images] & ((kinds == MISSED) | (kinds == GROUP_OF))
        return CurveErrors(
            curves=entries.classes[chosen],
            confidences=entries.confidences[chosen],
            weights=entries.weights[chosen],
            kinds=np.concatenate([self.kinds[matches.scored], of_groups])[chosen],
            fixed_curves=np.concatenate([self.fixed_classes[matches.scored], of_groups])[chosen],
            missed_curves=labels[lost],
            missed_kinds=kinds[lost],
            missed_weights=weights[lost],
            positives=positives,
        )


@dataclass(frozen=True, slots=True)
class Nearest:
    """The boxes that N false positives overlap most.

    Attributes
    ----------
    objects : int64 array of shape (N,)
        Index of the ordinary box, -1 if there is none.
    overlaps : float64 array of shape (N,)
        IoU with that box.
    """

    objects: Codes
    overlaps: Overlaps


def errors_of(truth: DetectionTruth, matches: Matches, threshold: float, group_weight: float) -> Errors:
    """Return the errors of the detections.

    A box in boxes.csv has another class if its class is neither the detection's class nor a descendant of it. With a
    hierarchy, boxes of descendants are copied and count as boxes of the detection's class.
    """
    false = np.flatnonzero(matches.scored & ~matches.hits)
    detections = matches.detections[false]
    keys = detections.keys(truth)
    own, other = _nearest(truth, detections, keys), _nearest_of_another_class(truth, detections)
    _, shares = best_objects(
        keys,
        truth.group_keys,
        lambda ours, theirs: intersection_over_area(detections.boxes[ours], truth.group_boxes[theirs]),
    )
    kinds = detection_kinds(own.overlaps, other.overlaps, shares, threshold)
    is_other = (kinds == CLASS) | ((kinds != LOCALIZATION) & (other.overlaps > own.overlaps))
    objects = np.where(is_other, other.objects, own.objects)
    overlaps = np.where(is_other, other.overlaps, own.overlaps)
    overlaps[kinds == GROUP_OF], objects[kinds == GROUP_OF] = shares[kinds == GROUP_OF], -1
    objects[overlaps == 0] = -1

    is_free = np.ones(len(truth.boxes), bool)
    is_free[matches.objects[matches.hits]] = False
    fixable = ((kinds == CLASS) | (kinds == LOCALIZATION)) & np.append(is_free, False)[objects]
    targets = np.where(fixable, objects, -1)
    would_hit = winning_claims(targets, detections.confidences, overlaps, detections.coordinates)
    object_kinds = np.where(is_free, MISSED, NO_ERROR)
    object_kinds[objects[would_hit]] = kinds[would_hit]
    box_labels = np.append(truth.images_and_labels(truth.object_keys)[1], -1)

    def for_all(values: NDArray[Any], fill: int) -> NDArray[Any]:
        """Return values for all detections, given the values of the false positives."""
        spread = np.full(len(matches.detections), fill, values.dtype)
        spread[false] = values
        return spread

    return Errors(
        kinds=for_all(kinds, NO_ERROR),
        objects=for_all(objects, -1),
        overlaps=for_all(overlaps, 0),
        fixed_classes=for_all(np.where(would_hit, box_labels[objects], -1), -1),
        object_kinds=object_kinds,
        group_kinds=np.where(matches.found_groups | (group_weight == 0), NO_ERROR, GROUP_OF),
    )


def _nearest(truth: DetectionTruth, detections: Detections, keys: Codes) -> Nearest:
    """Return the box of its own class that each detection overlaps most."""
    return Nearest(
        *best_objects(
            keys,
            truth.object_keys,
            lambda ours, theirs: intersection_over_union(detections.boxes[ours], truth.boxes[theirs]),
        )
    )


def _nearest_of_another_class(truth: DetectionTruth, detections: Detections) -> Nearest:
    """Return the box of another class that each detection overlaps most."""
    annotated = np.flatnonzero(truth.object_is_annotated)
    images, classes = truth.images_and_labels(truth.object_keys[annotated])
    boxes, own_classes = truth.boxes[annotated], _classes_and_ancestors(truth)

    def overlap(ours: Codes, theirs: Codes) -> Overlaps:
        is_own = contains(own_classes, classes[theirs] * len(truth.labels) + detections.labels[ours])
        return np.where(is_own, 0.0, intersection_over_union(detections.boxes[ours], boxes[theirs]))

    best, overlaps = best_objects(detections.images, images, overlap)
    return Nearest(np.where(overlaps > 0, np.append(annotated, -1)[best], -1), overlaps)


def _classes_and_ancestors(truth: DetectionTruth) -> Codes:
    """Return the classes that the boxes of each class count for, as sorted pairs: (class, itself or an ancestor).

    A pair is encoded as class × number of labels + other.
    """
    labels = len(truth.labels)
    itself = np.arange(labels) * (labels + 1)
    if not truth.has_copies:
        return itself
    ends = truth.ancestor_ends
    descendants = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    return np.unique(np.concatenate([itself, descendants * labels + truth.ancestors]))
