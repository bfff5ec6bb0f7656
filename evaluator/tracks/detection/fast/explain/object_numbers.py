"""Counts the objects of a split by outcome, in one pass over the objects.

A ground truth can have a thousand times as many objects as a small submission has predictions. Therefore, data that
depends only on the ground truth is computed once for all submissions, and ordinary objects are counted in one table.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator.derived import derived
from evaluator.metrics.bootstrap import Numbers
from evaluator.metrics.errors import CLASS, DETECTION_KINDS, GROUP_OF, LOCALIZATION, MISSED, NO_ERROR
from evaluator.tracks.detection.explain.slices import SIZES, ObjectCounts, object_sizes
from evaluator.tracks.detection.fast.explain.explaining_reader import ObjectOutcomes
from evaluator.tracks.detection.truth import DetectionTruth

Codes = NDArray[np.int64]
# One more than the number of kinds of errors, because matched objects are counted as an additional kind, NO_ERROR (-1).
KINDS = len(DETECTION_KINDS) + 1


class _Cells(NamedTuple):
    """The ordinary objects of a split, and the position of each object in the table of counts.

    The table has the shape (sizes, kinds, classes). A position is the index in the flattened table at which the object
    is counted if it is matched. `objects` is None if the split contains all objects.
    """

    objects: NDArray[np.int32] | None
    positions: NDArray[np.int32]

    @classmethod
    def of(cls, truth: DetectionTruth, split: str) -> "_Cells":
        images, labels = (places[: len(truth.boxes)] for places in truth.object_places)
        positions = object_sizes(truth).astype(np.int32) * (KINDS * len(truth.labels)) + labels
        inside = truth.splits[split][images]
        if inside.all():
            return cls(None, positions)
        return cls(np.flatnonzero(inside).astype(np.int32), positions[inside])


@dataclass(frozen=True, slots=True)
class ObjectNumbers:
    """The numbers of objects of a split.

    Attributes
    ----------
    ordinary : int64 array of shape (sizes, kinds, classes)
        The ordinary objects, by size, by kind of error (beginning with :data:`NO_ERROR`) and by class.
    groups : int64 array
        The class of each missed group-of box, in the order of the ground truth.
    group_weight : float
    """

    ordinary: Codes
    groups: Codes
    group_weight: float

    @classmethod
    def of(cls, truth: DetectionTruth, found: ObjectOutcomes, split: str, group_weight: float) -> "ObjectNumbers":
        """Count the objects of a split."""
        classes = len(truth.labels)
        objects, positions = derived(truth, ("object cells", split), lambda: _Cells.of(truth, split))
        kinds = found.box_kinds if objects is None else found.box_kinds[objects]
        cells = positions + (kinds.astype(np.int32) - NO_ERROR) * classes
        counts = np.bincount(cells, minlength=len(SIZES) * KINDS * classes)
        images, labels = (places[len(truth.boxes) :] for places in truth.object_places)
        missed = ~found.group_is_found & (group_weight != 0) & truth.splits[split][images]
        return cls(counts.reshape(len(SIZES), KINDS, classes), labels[missed].astype(np.int64), group_weight)

    @property
    def missed(self) -> Numbers:
        """The number of missed objects of each class. A missed group contributes its weight."""
        return self._with_groups(self.ordinary[:, 1:].sum(axis=(0, 1)))

    @property
    def lost(self) -> Numbers:
        """The number of objects that are missed even if all errors of detections are fixed, shape (kinds, classes)."""
        found = np.zeros((len(DETECTION_KINDS), self.ordinary.shape[2]))
        found[MISSED] = self._of_kind(MISSED).sum(axis=0)
        found[GROUP_OF] = self._with_groups(np.zeros(self.ordinary.shape[2]))
        return found

    @property
    def lost_by_kind(self) -> list[float]:
        """The sum of :attr:`lost` over all classes, with the rounding errors of the reference implementation."""
        found = [0.0] * len(DETECTION_KINDS)
        found[MISSED] = float(self._of_kind(MISSED).sum())
        found[GROUP_OF] = float(np.full(len(self.groups), self.group_weight).sum())
        return found

    @property
    def by_size(self) -> list[ObjectCounts]:
        """The numbers of ordinary objects of each size, by outcome, as ``size_counts`` returns them."""
        parts = [self._of_kind(kind).sum(axis=1).tolist() for kind in (NO_ERROR, CLASS, LOCALIZATION, MISSED)]
        return list(zip(*parts, strict=True))

    def _of_kind(self, kind: int) -> Codes:
        return self.ordinary[:, kind - NO_ERROR]

    def _with_groups(self, ordinary: NDArray[np.int64] | Numbers) -> Numbers:
        """Return numbers of ordinary objects plus the weights of the missed groups.

        The weights are added one by one, so that rounding errors are the same as in the reference implementation.
        """
        classes = np.arange(len(ordinary))
        weights = np.concatenate([ordinary, np.full(len(self.groups), self.group_weight)])
        return np.bincount(np.concatenate([classes, self.groups]), weights, len(classes)).astype(np.float64)
