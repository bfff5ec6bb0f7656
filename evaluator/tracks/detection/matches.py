"""Which detection met which box of the truth: what a detection score and all of its reports are made of."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.matching import takers
from evaluator.tracks.detection.resampling import BOXES, Entries
from evaluator.truth import Truth

NOT_REACHED = -np.inf


@dataclass(slots=True)
class Detections:
    """Some of what a submission predicted; arrays of shape (N,), boxes (N, 4).

    Attributes
    ----------
    rows
        Where each stands in its table; copies for ancestors have the row of their origin.
    labels
        -1 where the truth does not know the label.
    places
        Which of all its detections these are, those of known labels first; copies are detections of their own.
    """

    images: NDArray[np.int64]
    labels: NDArray[np.int64]
    confidences: NDArray[np.float64]
    boxes: NDArray[np.float64]
    rows: NDArray[np.int64]
    places: NDArray[np.int64]

    def __getitem__(self, chosen: NDArray[Any]) -> "Detections":
        """Return the chosen ones, by mask or by index."""
        return Detections(
            self.images[chosen],
            self.labels[chosen],
            self.confidences[chosen],
            self.boxes[chosen],
            self.rows[chosen],
            self.places[chosen],
        )

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.images)

    def keys(self, truth: Truth) -> NDArray[np.int64]:
        """Return image × number of labels + label, shape (N,); -1, which is in no truth, for an unknown label."""
        return np.where(self.labels < 0, -1, self.images * len(truth.texts["labels"]) + self.labels)

    @property
    def corners(self) -> list[NDArray[np.float64]]:
        """The coordinates, one array each, the weightiest for ties first."""
        return [self.boxes[:, place] for place in range(4)]


@dataclass(slots=True)
class Matches:
    """What became of N detections and G groups.

    Attributes
    ----------
    found : Detections
    objects : int64 array of shape (N,)
        The ordinary box or mask that a detection points at, -1 where none.
    overlaps : float64 array of shape (N,)
        IoU with it.
    hits : bool array of shape (N,)
        Whether it got that one.
    groups : int64 array of shape (N,)
        The group that it lies in most, -1 where none.
    shares : float64 array of shape (N,)
        IoA with it.
    absorbed : bool array of shape (N,)
        Whether it is off the list, by that group or by an object that has a box only. The surest detection in a group
        is among them; see :attr:`group_found`.
    reached : float64 array of shape (G,)
        Confidence at which a group is found, minus infinity where it is not.
    curves : int64 array of shape (N,)
        Class in whose curve a detection counts: its own, but for a match across classes.
    """

    found: Detections
    objects: NDArray[np.int64]
    overlaps: NDArray[np.float64]
    hits: NDArray[np.bool_]
    groups: NDArray[np.int64]
    shares: NDArray[np.float64]
    absorbed: NDArray[np.bool_]
    reached: NDArray[np.float64]
    curves: NDArray[np.int64]

    def __getitem__(self, chosen: NDArray[np.bool_]) -> "Matches":
        """Return what became of some of the detections; the groups stay as they are found."""
        kept = {one.name: getattr(self, one.name)[chosen] for one in fields(self) if one.name != "reached"}
        return Matches(**kept, reached=self.reached)

    @property
    def group_found(self) -> NDArray[np.bool_]:
        """Whether a detection is the surest one in its group, and so the one that found it; shape (N,)."""
        reached = np.append(self.reached, NOT_REACHED)[self.groups] > NOT_REACHED
        suitors = np.where(self.absorbed & reached, self.groups, -1)
        return takers(suitors, self.found.confidences, self.shares, self.found.corners)

    def entries(self, truth: Truth, weight: float, objects: tuple[str, str] = BOXES) -> Entries:
        """Return what goes into the curves: every detection, and the groups that are found.

        What is absorbed goes into a curve that nobody reads, so that it takes as much time and memory as what counts.
        ``objects`` names the truth's keys of ordinary objects and of groups.
        """
        labels, reached = len(truth.texts["labels"]), np.flatnonzero(self.reached > NOT_REACHED)
        group_images, group_labels = np.divmod(truth.arrays[objects[1]][reached], labels)
        return Entries(
            np.concatenate([self.found.images, group_images]),
            np.concatenate([np.where(self.absorbed, labels, self.curves), group_labels]),
            np.concatenate([self.found.confidences, self.reached[reached]]),
            np.concatenate([self.hits.astype(float), np.full(len(reached), weight)]),
            objects,
        )


def highest_of(groups: NDArray[np.int64], confidences: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the highest confidence in each of ``count`` groups, :data:`NOT_REACHED` where there is none.

    >>> highest_of(np.array([1, 1]), np.array([0.2, 0.9]), 2)
    array([-inf,  0.9])
    """
    highest = np.full(count, NOT_REACHED)
    np.maximum.at(highest, groups, confidences)
    return highest
