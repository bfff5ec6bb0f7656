"""Why detections failed: each false positive and each missed object of a submission gets one kind of error."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.boxes import intersection_over_area, intersection_over_union
from evaluator.metrics.errors import CLASS, GROUP_OF, LOCALIZATION, MISSED, RIGHT, Evidence, detection_kinds
from evaluator.metrics.matching import best_objects, takers
from evaluator.tracks.detection.matches import NOT_REACHED, Detections, Matches
from evaluator.tracks.detection.variants import is_row
from evaluator.tracks.interface import contains
from evaluator.truth import Truth

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What is said of N detections, B ordinary and G group-of boxes.

    Attributes
    ----------
    kinds : int64 array of shape (N,)
        Kind of error of each false positive, ``RIGHT`` for all others.
    objects : int64 array of shape (N,)
        The ordinary box that a false positive failed to hit, -1 where none.
    overlaps : float64 array of shape (N,)
        How much it overlaps that box; of an error with a group-of box the share that lies in it.
    mended : int64 array of shape (N,)
        Class in which it would hit that box if its one error were mended, -1 where the box is taken or would be.
    box_kinds, group_kinds : int64 arrays of shape (B,) and (G,)
        Kind of error by which a box was missed, ``RIGHT`` where it was found.
    """

    kinds: Codes
    objects: Codes
    overlaps: NDArray[np.float64]
    mended: Codes
    box_kinds: Codes
    group_kinds: Codes

    def evidence(
        self, truth: Truth, matches: Matches, in_split: NDArray[np.bool_], truths: NDArray[np.float64], weight: float
    ) -> Evidence:
        """Return what a split's errors are weighed by; the detections and groups of the images in it."""
        entries = matches[~matches.absorbed].entries(truth, weight)
        groups = len(entries.images) - np.count_nonzero(~matches.absorbed)
        chosen = in_split[entries.images]
        nothing = np.full(groups, RIGHT)
        labels = max(len(truth.texts["labels"]), 1)
        keys = np.concatenate([truth.arrays["box_keys"], truth.arrays["group_keys"]])
        lost_kinds = np.concatenate([self.box_kinds, self.group_kinds])
        weights = np.repeat([1.0, weight], [len(self.box_kinds), len(self.group_kinds)])
        lost = in_split[keys // labels] & ((lost_kinds == MISSED) | (lost_kinds == GROUP_OF))
        return Evidence(
            curves=entries.labels[chosen],
            confidences=entries.confidences[chosen],
            weights=entries.weights[chosen],
            kinds=np.concatenate([self.kinds[~matches.absorbed], nothing])[chosen],
            mended=np.concatenate([self.mended[~matches.absorbed], nothing])[chosen],
            lost=(keys % labels)[lost],
            lost_kinds=lost_kinds[lost],
            lost_weights=weights[lost],
            truths=truths,
        )


def judged(truth: Truth, matches: Matches, threshold: float, weight: float) -> Verdicts:
    """Find out what each false positive came nearest to, and what each missed box was missed by.

    Another class means a box as it was annotated, of a class that is no descendant of the detection's own: a copy
    of such a box counts for the detection's class itself.
    """
    labels = max(len(truth.texts["labels"]), 1)
    false = np.flatnonzero(~matches.hits & ~matches.absorbed)
    found = matches.found[false]
    keys = found.images * labels + found.labels
    own, own_overlap = _nearest(found, keys, truth.arrays["boxes"], truth.arrays["box_keys"])
    other, other_overlap = _nearest_of_another_class(truth, found, labels)
    _, share = best_objects(
        keys,
        truth.arrays["group_keys"],
        lambda ours, theirs: intersection_over_area(found.boxes[ours], truth.arrays["group_boxes"][theirs]),
    )
    kinds = detection_kinds(own_overlap, other_overlap, share, threshold)
    elsewhere = (kinds == CLASS) | ((kinds != LOCALIZATION) & (other_overlap > own_overlap))
    objects, overlaps = np.where(elsewhere, other, own), np.where(elsewhere, other_overlap, own_overlap)
    overlaps[kinds == GROUP_OF], objects[kinds == GROUP_OF] = share[kinds == GROUP_OF], -1
    objects[overlaps == 0] = -1

    free = np.ones(len(truth.arrays["boxes"]), bool)
    free[matches.objects[matches.hits]] = False
    mendable = ((kinds == CLASS) | (kinds == LOCALIZATION)) & np.append(free, False)[objects]
    winners = takers(np.where(mendable, objects, -1), found.confidences, overlaps, found.corners)
    box_kinds = np.where(free, MISSED, RIGHT)
    box_kinds[objects[winners]] = kinds[winners]
    box_labels = truth.arrays["box_keys"] % labels
    group_kinds = np.where((matches.reached > NOT_REACHED) | (weight == 0), RIGHT, GROUP_OF)

    def spread(values: NDArray[Any], fill: int) -> NDArray[Any]:
        whole = np.full(len(matches.found), fill, values.dtype)
        whole[false] = values
        return whole

    return Verdicts(
        kinds=spread(kinds, RIGHT),
        objects=spread(objects, -1),
        overlaps=spread(overlaps, 0),
        mended=spread(np.where(winners, np.append(box_labels, -1)[objects], -1), -1),
        box_kinds=box_kinds,
        group_kinds=group_kinds,
    )


def _nearest(
    found: Detections, keys: Codes, boxes: NDArray[np.float64], box_keys: Codes
) -> tuple[Codes, NDArray[np.float64]]:
    return best_objects(keys, box_keys, lambda ours, theirs: intersection_over_union(found.boxes[ours], boxes[theirs]))


def _nearest_of_another_class(truth: Truth, found: Detections, labels: int) -> tuple[Codes, NDArray[np.float64]]:
    """Return the box of another class that each detection overlaps most, -1 where there is none, and how much."""
    rows = np.flatnonzero(is_row(truth, "box"))
    images, classes = np.divmod(truth.arrays["box_keys"][rows], labels)
    boxes, kin = truth.arrays["boxes"][rows], _kin(truth, labels)

    def overlap(ours: Codes, theirs: Codes) -> NDArray[np.float64]:
        related = contains(kin, classes[theirs] * labels + found.labels[ours])
        return np.where(related, 0.0, intersection_over_union(found.boxes[ours], boxes[theirs]))

    best, most = best_objects(found.images, images, overlap)
    return np.where(most > 0, np.append(rows, -1)[best], -1), most


def _kin(truth: Truth, labels: int) -> Codes:
    """Return the sorted pairs (class, itself or an ancestor that its boxes are copied to) as class × labels + other."""
    alone = np.arange(labels) * (labels + 1)
    if not truth.parameters["expand_hierarchy"]:
        return alone
    ends = truth.arrays["ancestor_ends"]
    below = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    return np.unique(np.concatenate([alone, below * labels + truth.arrays["ancestors"]]))
