"""The result of matching detections, from which the score of a submission and its explanation are computed."""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.matching import winning_claims
from evaluator.metrics.resampling import crowded_images
from evaluator.tracks.detection.candidates import Detections
from evaluator.tracks.detection.entries import Entries
from evaluator.tracks.shared.label_truth import ObjectTruth
from evaluator.truth import IGNORED

NOT_FOUND = -np.inf


@dataclass(slots=True)
class Matches:
    """The result of matching N detections with ordinary objects and G groups.

    Attributes
    ----------
    detections : Detections
    verified : bool array of shape (N,)
        Whether the label of each detection is verified (known to be present or absent) in its image.
    objects : int64 array of shape (N,)
        Index of the ordinary object that each detection overlaps most, -1 if there is none.
    overlaps : float64 array of shape (N,)
        IoU with that object.
    hits : bool array of shape (N,)
        Whether each detection is the true positive of that object.
    groups : int64 array of shape (N,)
        Index of the group that contains the largest part of each detection, -1 if there is none.
    shares : float64 array of shape (N,)
        IoA with that group.
    absorbed : bool array of shape (N,)
        Whether each detection is left out of the curves because it matches that group or an object without a mask. The
        most confident detection in a group is absorbed too; see :attr:`finds_group`.
    group_confidences : float64 array of shape (G,)
        Confidence at which a group is matched, NOT_FOUND if no detection matches it.
    curves : int64 array of shape (N,)
        Class whose precision/recall curve contains each detection: the class of the detection, unless it matches an
        object of a different class.
    """

    detections: Detections
    verified: NDArray[np.bool_]
    objects: NDArray[np.int64]
    overlaps: NDArray[np.float64]
    hits: NDArray[np.bool_]
    groups: NDArray[np.int64]
    shares: NDArray[np.float64]
    absorbed: NDArray[np.bool_]
    group_confidences: NDArray[np.float64]
    curves: NDArray[np.int64]

    def __getitem__(self, chosen: NDArray[np.bool_]) -> "Matches":
        """Return the matches of the selected detections. The confidences of all groups are kept."""
        by_detection = {one.name for one in fields(self)} - {"group_confidences"}
        return Matches(
            **{name: getattr(self, name)[chosen] for name in by_detection}, group_confidences=self.group_confidences
        )

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Whether each detection is scored, that is, its label is verified and it is not absorbed; shape (N,)."""
        return self.verified & ~self.absorbed

    @property
    def found_groups(self) -> NDArray[np.bool_]:
        """Whether each group of objects is matched by a detection, shape (G,)."""
        return np.asarray(self.group_confidences > NOT_FOUND)

    @property
    def finds_group(self) -> NDArray[np.bool_]:
        """Whether each detection is the most confident detection in a matched group, shape (N,)."""
        is_found = np.append(self.found_groups, False)[self.groups]
        targets = np.where(self.absorbed & is_found, self.groups, -1)
        return winning_claims(targets, self.detections.confidences, self.shares, self.detections.coordinates)

    def crowded(self, truth: ObjectTruth) -> NDArray[np.bool_]:
        """Return whether each image is crowded (has unusually many predictions), shape (images,).

        See :func:`crowded_images`.
        """
        return crowded_images(np.bincount(self.detections.images, minlength=len(truth.images)))

    def entries(self, truth: ObjectTruth, group_weight: float) -> Entries:
        """Return the entries of the precision/recall curves: all detections, scored or not, and the matched groups.

        Detections that are not scored, and all entries of images that are not scored, get the codes of additional
        classes, which are not reported.
        """
        labels, found = len(truth.labels), np.flatnonzero(self.found_groups)
        unscored = labels + 1 + np.where(self.detections.labels >= 0, self.detections.labels, labels)
        group_images, group_labels = truth.images_and_labels(truth.group_keys[found])
        images = np.concatenate([self.detections.images, group_images])
        classes = np.concatenate([np.where(self.scored, self.curves, unscored), group_labels])
        classes[(truth.usage[images] == IGNORED) & (classes < labels)] += labels + 1
        return Entries(
            images,
            classes,
            np.concatenate([self.detections.confidences, self.group_confidences[found]]),
            np.concatenate([self.hits.astype(float), np.full(len(found), group_weight)]),
        )


def confidences_of_groups(
    groups: NDArray[np.int64], confidences: NDArray[np.float64], count: int, group_weight: float
) -> NDArray[np.float64]:
    """Return the confidence at which each of ``count`` groups is matched by the detections that it absorbs.

    A group does not count as matched if ``group_weight`` is 0, or if all its detections have a confidence of 0 or less.
    """
    highest = highest_confidences(groups, confidences, count)
    return np.where((highest > 0) & (group_weight > 0), highest, NOT_FOUND)


def highest_confidences(groups: NDArray[np.int64], confidences: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the highest confidence in each of ``count`` groups; :data:`NOT_FOUND` for a group without detections.

    >>> highest_confidences(np.array([1, 1]), np.array([0.2, 0.9]), 2)
    array([-inf,  0.9])
    """
    highest = np.full(count, NOT_FOUND)
    np.maximum.at(highest, groups, confidences)
    return highest
