"""Determines the kind of error of each false positive, and of each object that a submission missed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.boxes import intersection_over_area, intersection_over_union
from evaluator.metrics.errors import CLASS, GROUP_OF, LOCALIZATION, MISSED, NO_ERROR, CurveErrors, detection_kinds
from evaluator.metrics.matching import best_objects, contains, winning_claims
from evaluator.report import ClassRow
from evaluator.tracks.detection.candidates import Detections
from evaluator.tracks.detection.matches import Matches
from evaluator.tracks.detection.truth import DetectionTruth
from evaluator.tracks.shared.confusions import confused, counted
from evaluator.tracks.shared.label_truth import ObjectTruth

Codes = NDArray[np.int64]
Overlaps = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Errors:
    """The kinds of errors for N detections, B ordinary objects and G groups.

    Objects are boxes or masks. A group is several objects that are annotated as one object.

    Attributes
    ----------
    kinds : int64 array of shape (N,)
        Kind of error of each false positive, ``NO_ERROR`` for a detection that is not a false positive.
    objects : int64 array of shape (N,)
        Index of the ordinary object that each false positive failed to hit, -1 if there is none.
    overlaps : float64 array of shape (N,)
        IoU with that object; for errors of kind ``GROUP_OF``, the largest IoA with a group.
    fixed_classes : int64 array of shape (N,)
        Class in which a false positive would hit that object if its error were fixed; -1 if a different detection hits
        the object or would hit it first.
    object_kinds, group_kinds : int64 arrays of shape (B,) and (G,)
        Kind of error that caused each object to be missed, ``NO_ERROR`` for an object that was matched.
    """

    kinds: Codes
    objects: Codes
    overlaps: Overlaps
    fixed_classes: Codes
    object_kinds: Codes
    group_kinds: Codes

    def curve_errors(
        self,
        truth: ObjectTruth,
        matches: Matches,
        in_split: NDArray[np.bool_],
        positives: NDArray[np.float64],
        group_weight: float,
    ) -> CurveErrors:
        """Return the scored detections, matched groups and missed objects of a split, with their kinds of errors."""
        entries = matches[matches.scored].entries(truth, group_weight)
        chosen = in_split[entries.images]
        of_groups = np.full(len(entries.images) - np.count_nonzero(matches.scored), NO_ERROR)
        missed_curves, missed_kinds, missed_weights = lost_objects(
            truth, self.object_kinds, self.group_kinds, in_split, group_weight
        )
        return CurveErrors(
            curves=entries.classes[chosen],
            confidences=entries.confidences[chosen],
            weights=entries.weights[chosen],
            kinds=np.concatenate([self.kinds[matches.scored], of_groups])[chosen],
            fixed_curves=np.concatenate([self.fixed_classes[matches.scored], of_groups])[chosen],
            missed_curves=missed_curves,
            missed_kinds=missed_kinds,
            missed_weights=missed_weights,
            positives=positives,
        )


Overlap = Callable[[Codes, Codes], Overlaps]


@dataclass(frozen=True, slots=True)
class Nearest:
    """The objects, or the groups, that N false positives overlap most.

    Attributes
    ----------
    objects : int64 array of shape (N,)
        Index of the ordinary object or group, -1 if there is none.
    overlaps : float64 array of shape (N,)
        IoU with that object, or IoA with that group.
    """

    objects: Codes
    overlaps: Overlaps


@dataclass(frozen=True, slots=True)
class Comparison:
    """The overlaps of N false positives with the objects of a ground truth.

    Attributes
    ----------
    own : Nearest
        The ordinary object of the same class that each false positive overlaps most.
    group : Nearest
        The group of the same class that contains the largest part of each false positive.
    annotated : int64 array of shape (A,), ascending
        Indices of the ordinary objects that are rows of boxes.csv (or masks.csv) and not copies for an ancestor.
    other : callable
        A function that returns the IoU of false positives with objects of any class. It takes two int64 arrays: the
        indices of the false positives, and the indices of the objects in ``annotated``.
    ties : sequence of arrays of shape (N,)
        The values that break ties between detections of equal confidence and overlap.
    """

    own: Nearest
    group: Nearest
    annotated: Codes
    other: Overlap
    ties: Sequence[NDArray[Any]]


def box_overlaps(truth: DetectionTruth, detections: Detections) -> Comparison:
    """Return the overlaps of detections with ground-truth boxes."""
    annotated, boxes, keys = np.flatnonzero(truth.object_is_annotated), detections.boxes, detections.keys(truth)
    annotated_boxes = truth.boxes[annotated]

    def own(ours: Codes, theirs: Codes) -> Overlaps:
        return intersection_over_union(boxes[ours], truth.boxes[theirs])

    def share(ours: Codes, theirs: Codes) -> Overlaps:
        return intersection_over_area(boxes[ours], truth.group_boxes[theirs])

    return Comparison(
        own=Nearest(*best_objects(keys, truth.object_keys, own)),
        group=Nearest(*best_objects(keys, truth.group_keys, share)),
        annotated=annotated,
        other=lambda ours, theirs: intersection_over_union(boxes[ours], annotated_boxes[theirs]),
        ties=detections.coordinates,
    )


def false_positives(matches: Matches) -> Codes:
    """Return the indices of the false positives among the detections."""
    return np.flatnonzero(matches.scored & ~matches.hits)


def errors_of(
    truth: ObjectTruth, matches: Matches, compared: Comparison, *, threshold: float, group_weight: float
) -> Errors:
    """Return the errors of the detections, and of the objects that were missed.

    With a hierarchy, an object also counts as an object of every ancestor of its class. Therefore, an object and a
    detection have different classes only if the object's class is neither the detection's class nor a descendant of it.
    """
    false = false_positives(matches)
    detections = matches.detections[false]
    own, shares = compared.own, compared.group.overlaps
    other = _nearest_of_another_class(truth, detections, compared)
    kinds = detection_kinds(own.overlaps, other.overlaps, shares, threshold)
    explaining = explaining_objects(kinds, own, other, shares)
    objects, overlaps = explaining.objects, explaining.overlaps

    is_free = np.ones(len(truth.object_keys), bool)
    is_free[matches.objects[matches.hits]] = False
    fixable = ((kinds == CLASS) | (kinds == LOCALIZATION)) & np.append(is_free, False)[objects]
    targets = np.where(fixable, objects, -1)
    would_hit = winning_claims(targets, detections.confidences, overlaps, compared.ties)
    object_kinds = np.where(is_free, MISSED, NO_ERROR)
    object_kinds[objects[would_hit]] = kinds[would_hit]
    object_labels = np.append(truth.images_and_labels(truth.object_keys)[1], -1)

    def for_all(values: NDArray[Any], fill: int) -> NDArray[Any]:
        """Return an array for all detections: ``values`` for the false positives, ``fill`` for the others."""
        spread = np.full(len(matches.detections), fill, values.dtype)
        spread[false] = values
        return spread

    return Errors(
        kinds=for_all(kinds, NO_ERROR),
        objects=for_all(objects, -1),
        overlaps=for_all(overlaps, 0),
        fixed_classes=for_all(np.where(would_hit, object_labels[objects], -1), -1),
        object_kinds=object_kinds,
        group_kinds=np.where(matches.found_groups | (group_weight == 0), NO_ERROR, GROUP_OF),
    )


def explaining_objects(kinds: Codes, own: Nearest, other: Nearest, shares: Overlaps) -> Nearest:
    """Return, for each of N false positives, the ordinary object that explains its error, and the overlap.

    For errors of kind ``GROUP_OF``, there is no such object, and the overlap is the largest IoA with a group.

    Parameters
    ----------
    kinds : int64 array of shape (N,)
        Kind of error of each false positive.
    own, other : Nearest
        The objects of the predicted class and of other classes.
    shares : float64 array of shape (N,)
        The largest IoA with a group of the predicted class.
    """
    is_other = (kinds == CLASS) | ((kinds != LOCALIZATION) & (other.overlaps > own.overlaps))
    objects = np.where(is_other, other.objects, own.objects)
    overlaps = np.where(is_other, other.overlaps, own.overlaps)
    overlaps[kinds == GROUP_OF], objects[kinds == GROUP_OF] = shares[kinds == GROUP_OF], -1
    objects[overlaps == 0] = -1
    return Nearest(objects, overlaps)


def _nearest_of_another_class(truth: ObjectTruth, detections: Detections, compared: Comparison) -> Nearest:
    """Return, for each detection, the object of a different class that the detection overlaps most."""
    annotated = compared.annotated
    images, classes = truth.images_and_labels(truth.object_keys[annotated])
    own_classes = _classes_and_ancestors(truth)

    def overlap(ours: Codes, theirs: Codes) -> Overlaps:
        is_own = contains(own_classes, classes[theirs] * len(truth.labels) + detections.labels[ours])
        return np.where(is_own, 0.0, compared.other(ours, theirs))

    best, overlaps = best_objects(detections.images, images, overlap)
    return Nearest(np.where(overlaps > 0, np.append(annotated, -1)[best], -1), overlaps)


def _classes_and_ancestors(truth: ObjectTruth) -> Codes:
    """Return, in sorted order, all pairs of a class with itself or with one of its ancestors.

    A pair is encoded as (first class × number of labels + second class).
    """
    labels = len(truth.labels)
    itself = np.arange(labels) * (labels + 1)
    if not truth.has_copies:
        return itself
    ends = truth.ancestor_ends
    descendants = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    return np.unique(np.concatenate([itself, descendants * labels + truth.ancestors]))


def lost_objects(
    truth: ObjectTruth,
    object_kinds: NDArray[np.integer[Any]],
    group_kinds: NDArray[np.integer[Any]],
    in_split: NDArray[np.bool_],
    group_weight: float,
) -> tuple[Codes, Codes, Overlaps]:
    """Return the label, kind of error and weight of each object that would be missed even if all errors were fixed.

    The errors that can be fixed are those of detections: a wrong class or a bad localization. Only objects in the
    images of the split are returned. ``object_kinds`` and ``group_kinds`` are those of :class:`Errors`.
    """
    images, labels = truth.object_places
    kinds = np.concatenate([object_kinds, group_kinds])
    lost = np.flatnonzero(in_split[images] & ((kinds == MISSED) | (kinds == GROUP_OF)))
    weights = np.where(lost < len(object_kinds), 1.0, group_weight)
    return labels[lost].astype(np.int64), kinds[lost].astype(np.int64), weights


def missed_weights(
    truth: ObjectTruth,
    object_kinds: NDArray[np.integer[Any]],
    group_kinds: NDArray[np.integer[Any]],
    in_split: NDArray[np.bool_],
    group_weight: float,
) -> Overlaps:
    """Return the number of missed objects in each class, for one split, shape (classes,).

    A missed group (several objects annotated as one) contributes its weight. ``object_kinds`` and ``group_kinds`` are
    those of :class:`Errors`.
    """
    images, classes = truth.object_places
    missed = np.concatenate([object_kinds != NO_ERROR, group_kinds != NO_ERROR])
    chosen = np.flatnonzero(in_split[images] & missed)
    weights = np.where(chosen < len(object_kinds), 1.0, group_weight)
    return np.bincount(classes[chosen], weights, len(truth.labels)).astype(np.float64)


def class_errors(truth: ObjectTruth, matches: Matches, errors: Errors, in_split: NDArray[np.bool_]) -> list[ClassRow]:
    """Return how often each class was predicted for objects of every other class, with the most frequent pair first."""
    wrong = (errors.kinds == CLASS) & in_split[matches.detections.images]
    actual = truth.images_and_labels(truth.object_keys)[1][errors.objects[wrong]]
    return confused(counted(actual, matches.detections.labels[wrong]), truth.labels)
