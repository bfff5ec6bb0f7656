"""Reads a detection submission in one thread, and determines the outcome of each prediction."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator.files.blocks import Declined
from evaluator.kernels import LOWEST_CONFIDENCE
from evaluator.kernels.detection.explain.comparing import AT_ONCE
from evaluator.kernels.detection.explain.confusions import Confusions
from evaluator.kernels.detection.explain.explained import (
    PLAIN_WITHIN_CAP,
    WITHIN_CAP,
    Hierarchy,
    Outcomes,
    Overlaps,
    Predictions,
)
from evaluator.kernels.detection.explain.explaining import explain
from evaluator.kernels.detection.images_in_turn import Turns
from evaluator.kernels.detection.state import ALL_OF_IMAGE, MAX_PER_IMAGE_AND_CLASS, KernelTruth
from evaluator.metrics.errors import MISSED
from evaluator.report import ReferenceNeeded
from evaluator.tracks.detection.explain.slices import BOUNDS
from evaluator.tracks.detection.fast.collecting_reader import CollectingReader, with_copies
from evaluator.tracks.detection.fast.overfull import Collected, within_cap
from evaluator.tracks.detection.fast.truth import without_copies
from evaluator.tracks.detection.truth import DetectionParameters
from evaluator.tracks.shared.curves.variants import Segments
from evaluator.tracks.shared.fast import FileHeader

# Maximum number of precision/recall curve entries that a prediction can cause: its own entry, an entry in the curve of
# the right class if its class is wrong, and an entry of a group-of box that absorbs it, both with and without the class
# hierarchy.
ENTRIES_PER_PREDICTION = 4


class ObjectOutcomes(NamedTuple):
    """The outcome of each object; see :class:`evaluator.kernels.detection.explain.explained.Outcomes`.

    All threads write to the same arrays, each for its own images.
    """

    box_kinds: NDArray[np.int8]
    group_is_found: NDArray[np.bool_]

    @classmethod
    def of(cls, truth: KernelTruth) -> "ObjectOutcomes":
        """Return the outcomes of the objects for a submission without predictions: all objects are missed."""
        return cls(np.full(len(truth.boxes), MISSED, np.int8), np.zeros(len(truth.groups), bool))


class ExplainingReader(CollectingReader):
    """Collects the predictions of each image, and then determines their outcomes. Each thread has its own reader.

    Attributes
    ----------
    segments : list of (float64 array, uint32 array)
        The confidences of precision/recall curve entries, and codes for their outcomes.
    confusions : Confusions
        The classes of the false positives with a wrong class.
    """

    def __init__(
        self,
        truth: KernelTruth,
        hierarchy: Hierarchy,
        header: FileHeader,
        parameters: DetectionParameters,
        objects: ObjectOutcomes,
    ) -> None:
        super().__init__(truth, header, parameters, collects=ALL_OF_IMAGE)
        self.in_turn = parameters.protocol == "fiftyone"
        self.hierarchy = hierarchy
        self.objects = objects
        self.bounds = np.array(BOUNDS)
        self.bounds.flags.writeable = False
        self.segments: Segments = []
        self.confusions = Confusions.empty(1)
        self.overlaps, self.outcomes, self.turns = self._new_scratch(0)

    def _new_scratch(self, size: int) -> tuple[Overlaps, Outcomes, Turns]:
        """Return new arrays for the kernel, with room for ``size`` predictions."""
        truth = self.full_truth
        turns = Turns.empty(size, truth.most_boxes, truth.most_groups)
        return self._new_overlaps(size), self._new_outcomes(size), turns

    def _new_overlaps(self, size: int) -> Overlaps:
        boxes, groups = self.full_truth.most_boxes, self.full_truth.most_groups
        labels = len(self.full_truth.labels.starts)  # The last one is for unknown labels.
        return Overlaps(
            boxes=np.empty((2, size), np.int64),
            groups=np.empty((2, size), np.int64),
            ious=np.empty((2, size)),
            shares=np.empty((2, size)),
            others=np.empty(size, np.int64),
            other_ious=np.empty(size),
            fixed_ious=np.empty(size),
            outcomes=np.empty((2, size), np.uint8),
            box_winners=np.full((3, boxes), -1, np.int64),
            group_winners=np.full((2, groups), -1, np.int64),
            class_positions=np.full(labels, -1, np.int32),
            annotated=np.empty((6, boxes + AT_ONCE)),
            own_boxes=np.zeros((labels, boxes // 64 + 1), np.uint64),
        )

    def _new_outcomes(self, size: int) -> Outcomes:
        entries = ENTRIES_PER_PREDICTION * size
        written, codes = np.zeros(1, np.int64), np.empty(entries, np.uint32)
        return Outcomes(written, np.empty(entries), codes, self.confusions, *self.objects)

    def evaluate(self, found: Predictions) -> None:
        """Determine the outcomes of predictions. They must include all predictions of each of their images.

        Raises
        ------
        Declined
            If an image has more than 10,000 predictions, and they are matched by FiftyOne's rules, which have no cap.
        """
        if self.in_turn and np.bincount(found.images).max(initial=0) > MAX_PER_IMAGE_AND_CLASS:
            raise Declined(ReferenceNeeded.OVERFULL_IMAGE)
        super().evaluate(found)

    def evaluate_images(self, found: Predictions) -> None:
        """Determine the outcomes of predictions, and of the objects in the same images. Keep the curve entries.

        The predictions must include all predictions of each of these images.
        """
        self._judge(found)
        written = self.outcomes.written[0]
        self.segments.append((self.outcomes.confidences[:written].copy(), self.outcomes.entries[:written].copy()))

    def judge(self, found: Predictions) -> tuple[Predictions, NDArray[np.int64]]:
        """Determine the outcomes of predictions and their copies, and write them to ``overlaps`` and ``outcomes``.

        Return the given predictions and, if predictions are expanded, their copies for ancestors. Also return, for each
        returned prediction, the index of the given prediction that it equals or was copied from.
        """
        origins = np.arange(len(found.images))
        if len(self.full_truth.ancestors):
            found, origins = with_copies(self.full_truth, found)
        self._judge(found)
        return found, origins

    def _judge(self, found: Predictions) -> None:
        size = len(found.images)
        if size > len(self.overlaps.others):
            self.overlaps, self.outcomes, self.turns = self._new_scratch(size)
        found = found._replace(caps=self._caps(found))
        # Each prediction is counted with one code: one of the 2 * labels**2 codes of confusions, or NO_CONFUSION.
        labels = len(self.full_truth.labels.starts) - 1
        self.confusions = self.confusions.with_room_for(min(2 * labels**2, size) + 1)
        self.outcomes = self.outcomes._replace(confusions=self.confusions)
        self.outcomes.written[0] = 0
        arguments = self.full_truth, self.hierarchy, found, self.overlaps, self.outcomes, self.turns
        explain(*arguments, self.threshold, self.bounds, self.in_turn)

    @cached_property
    def _plain_truth(self) -> KernelTruth:
        return without_copies(self.full_truth, self.hierarchy)

    def _caps(self, found: Predictions) -> NDArray[np.uint8]:
        """Return whether each prediction is within the cap on predictions per image and class, as two bits; shape (N,).

        One bit is for the ground truth with the hierarchy, the other for the ground truth without it. The array is
        empty if no image has more predictions than the cap, or if there is no cap.
        """
        if self.in_turn:
            return found.caps
        starts = np.flatnonzero(np.diff(found.images, prepend=-1))
        sizes = np.diff(starts, append=len(found.images))
        if sizes.max(initial=0) <= MAX_PER_IMAGE_AND_CLASS:
            return found.caps
        confidences, x_min, x_max, y_min, y_max = found.numbers.T
        is_valid = (confidences > LOWEST_CONFIDENCE) & (x_min < x_max) & (y_min < y_max)
        capped = np.flatnonzero(np.repeat(sizes > MAX_PER_IMAGE_AND_CLASS, sizes) & is_valid)
        rivals = Collected(found.images[capped], found.labels[capped], found.numbers[capped])
        caps = np.full(len(found.images), WITHIN_CAP | PLAIN_WITHIN_CAP, np.uint8)
        caps[capped] = 0
        for truth, bit in ((self.full_truth, WITHIN_CAP), (self._plain_truth, PLAIN_WITHIN_CAP)):
            caps[capped[within_cap(truth, rivals)]] |= bit
        return caps
