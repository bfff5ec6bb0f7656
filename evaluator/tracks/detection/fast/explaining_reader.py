"""Reads a detection submission in one thread, and determines the outcome of each prediction."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels import LOWEST_CONFIDENCE
from evaluator.kernels.detection.explained import (
    CONFUSIONS,
    PLAIN_WITHIN_CAP,
    WITHIN_CAP,
    WRITTEN,
    Hierarchy,
    Outcomes,
    Overlaps,
    Predictions,
)
from evaluator.kernels.detection.explaining import explain
from evaluator.kernels.detection.state import ALL_OF_IMAGE, COLLECTED, MAX_PER_IMAGE_AND_CLASS, KernelTruth
from evaluator.metrics.errors import MISSED
from evaluator.tracks.detection.candidates import ancestors_of
from evaluator.tracks.detection.explain.slices import BOUNDS
from evaluator.tracks.detection.fast.overfull import Collected, within_cap
from evaluator.tracks.detection.fast.reader import BYTES_PER_DETECTION, BlockReader
from evaluator.tracks.detection.fast.truth import most_objects, without_annotations, without_copies
from evaluator.tracks.detection.truth import DetectionParameters
from evaluator.tracks.shared.curves.variants import Segments
from evaluator.tracks.shared.fast import Bytes, FileHeader

# Maximum number of precision/recall curve entries that a prediction can cause: its own entry, an entry in the curve of
# the right class if its class is wrong, and an entry of a group-of box that absorbs it, both with and without the class
# hierarchy.
ENTRIES_PER_PREDICTION = 4
NO_CAPS = np.empty(0, np.uint8)
# In the long layout, which has one line for each prediction, the rows of an image may be anywhere in the file. Images
# are therefore processed after the whole file has been read. They are divided into this number of ranges, and a thread
# needs memory for only one range at a time.
PARTS = 64


class ObjectOutcomes(NamedTuple):
    """The outcome of each object; see :class:`evaluator.kernels.detection.explained.Outcomes`.

    All threads write to the same arrays, each for its own images.
    """

    box_kinds: NDArray[np.int8]
    group_is_found: NDArray[np.bool_]

    @classmethod
    def of(cls, truth: KernelTruth) -> "ObjectOutcomes":
        """Return the outcomes of the objects for a submission without predictions: all objects are missed."""
        return cls(np.full(len(truth.boxes), MISSED, np.int8), np.zeros(len(truth.groups), bool))


class ExplainingReader(BlockReader):
    """A reader for one thread that collects the predictions of an image and then determines their outcomes.

    In the Kaggle layout, each line has all predictions of an image. In the long layout, which has one line for each
    prediction, all predictions are kept until the end of the file; see :func:`explain_kept`.

    Attributes
    ----------
    segments : list of (float64 array, uint32 array)
        The confidences of precision/recall curve entries, and codes for their outcomes.
    confusions : list of int64 arrays
        The codes of false positives with a wrong class.
    kept : list of (int, Predictions)
        For a file in the long layout, the number of each block of lines, with the predictions in the block.
    """

    def __init__(
        self,
        truth: KernelTruth,
        hierarchy: Hierarchy,
        header: FileHeader,
        parameters: DetectionParameters,
        objects: ObjectOutcomes,
    ) -> None:
        collects = np.full(len(truth.usage), ALL_OF_IMAGE, np.uint8)
        collects.flags.writeable = False
        super().__init__(without_annotations(truth), header, parameters, collects)
        self.full_truth = truth
        self.most_objects = most_objects(truth)
        self.hierarchy = hierarchy
        self.objects = objects
        self.bounds = np.array(BOUNDS)
        self.bounds.flags.writeable = False
        self.segments: Segments = []
        self.confusions: list[NDArray[np.int64]] = []
        self.kept: list[tuple[int, Predictions]] = []
        self.overlaps = self._new_overlaps(0)
        self.outcomes = self._new_outcomes(0)

    def _new_overlaps(self, size: int) -> Overlaps:
        boxes, groups = self.most_objects
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
            class_positions=np.full(len(self.full_truth.labels.starts) - 1, -1, np.int32),
        )

    def _new_outcomes(self, size: int) -> Outcomes:
        entries = ENTRIES_PER_PREDICTION * size
        codes, confusions = np.empty(entries, np.uint32), np.empty(size, np.int64)
        return Outcomes(np.zeros(2, np.int64), np.empty(entries), codes, confusions, *self.objects)

    def read(self, data: Bytes, stop: int, position: int) -> None:
        """Read the lines before the offset ``stop``.

        In the Kaggle layout, determine the outcomes of their predictions. In the long layout, only keep the
        predictions, because other predictions for the same images may follow.

        Raises
        ------
        Declined
            If the reference implementation must read the file.
        """
        most = stop // BYTES_PER_DETECTION + 1
        if most > len(self.state.collected):
            self.state = self.state._replace(
                collected_images=np.empty(most, np.int32),
                collected_labels=np.empty(most, np.int32),
                collected=np.empty((most, 5)),
            )
        self.state.counts[COLLECTED] = 0
        self.read_block(data, stop)
        state, count = self.state, int(self.state.counts[COLLECTED])
        found = Predictions(
            state.collected_images[:count], state.collected_labels[:count], state.collected[:count], NO_CAPS
        )
        if self.header.kaggle:
            self.explain(found)
        else:
            self.kept.append((position, by_image(found)))

    def explain(self, found: Predictions) -> None:
        """Determine the outcomes of predictions, and of the objects in the same images.

        The predictions must include all predictions of each of these images.
        """
        if len(self.full_truth.ancestors):
            found = with_copies(self.full_truth, found)
        size = len(found.images)
        if size > len(self.overlaps.others):
            self.overlaps, self.outcomes = self._new_overlaps(size), self._new_outcomes(size)
        found = found._replace(caps=self._caps(found))
        self.outcomes.counts[:] = 0
        arguments = self.full_truth, self.hierarchy, found, self.overlaps, self.outcomes
        explain(*arguments, self.threshold, self.bounds)
        written, confusions = self.outcomes.counts[WRITTEN], self.outcomes.counts[CONFUSIONS]
        self.segments.append((self.outcomes.confidences[:written].copy(), self.outcomes.entries[:written].copy()))
        self.confusions.append(self.outcomes.confusions[:confusions].copy())

    def _caps(self, found: Predictions) -> NDArray[np.uint8]:
        """Return whether each prediction is within the cap on predictions per image and class, as two bits; shape (N,).

        One bit is for the ground truth with the hierarchy, the other for the ground truth without it. The array is
        empty if no image has more predictions than the cap.
        """
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
        plain = without_copies(self.full_truth, self.hierarchy)
        for truth, bit in ((self.full_truth, WITHIN_CAP), (plain, PLAIN_WITHIN_CAP)):
            caps[capped[within_cap(truth, rivals)]] |= bit
        return caps


def with_copies(truth: KernelTruth, found: Predictions) -> Predictions:
    """Return the given predictions and copies of them for the ancestors of their classes, ordered by image.

    The copies for the same image follow the other predictions, as in the reference implementation.
    """
    known = np.flatnonzero(found.labels >= 0)
    copies, ancestors = ancestors_of(truth.ancestors_from, truth.ancestors, found.labels[known])
    rows = np.append(np.arange(len(found.labels)), known[copies])
    labels = np.append(found.labels, ancestors.astype(np.int32))
    return by_image(found._replace(images=found.images[rows], labels=labels, numbers=found.numbers[rows]))


def by_image(found: Predictions) -> Predictions:
    """Return the given predictions, ordered by image. Predictions of the same image keep their order."""
    order = np.argsort(found.images, kind="stable")
    return found._replace(images=found.images[order], labels=found.labels[order], numbers=found.numbers[order])


def _piece(found: Predictions, start: int, stop: int) -> Predictions:
    images, labels, numbers = found.images[start:stop], found.labels[start:stop], found.numbers[start:stop]
    return Predictions(images, labels, numbers, NO_CAPS)


def _joined(parts: Sequence[Predictions]) -> Predictions:
    images, labels = (np.concatenate([getattr(part, name) for part in parts]) for name in ("images", "labels"))
    return Predictions(images, labels, np.concatenate([part.numbers for part in parts]), NO_CAPS)


def explain_kept(readers: Sequence[ExplainingReader], predictions: NDArray[np.int64]) -> None:
    """Determine the outcomes of the predictions that the readers have kept, after the whole file has been read.

    Only the long layout, which has one line for each prediction, needs this step. There is one thread for each reader.
    ``predictions`` is the number of predictions of each image.
    """
    blocks = {position: found for reader in readers for position, found in reader.kept}
    kept = [blocks[position] for position in sorted(blocks)]
    for reader in readers:
        reader.kept.clear()
    total = np.cumsum(predictions)
    bounds = np.unique(np.searchsorted(total, np.linspace(0, predictions.sum(), PARTS + 1)[1:-1]))
    bounds = np.concatenate([[0], bounds, [len(predictions)]])
    positions = [np.searchsorted(found.images, bounds).tolist() for found in kept]

    def work(number: int) -> None:
        for part in range(number, len(bounds) - 1, len(readers)):
            pieces = [
                _piece(found, at[part], at[part + 1])
                for found, at in zip(kept, positions, strict=True)
                if at[part] < at[part + 1]
            ]
            if pieces:
                readers[number].explain(by_image(_joined(pieces)))

    with ThreadPoolExecutor(len(readers)) as pool:
        for done in [pool.submit(work, number) for number in range(len(readers))]:
            done.result()
