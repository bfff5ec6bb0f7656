"""Reads a detection submission in one thread, and evaluates the predictions of whole images."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.detection.explain.explained import Predictions
from evaluator.kernels.detection.state import COLLECTED, KernelTruth
from evaluator.threads import call_all
from evaluator.tracks.detection.candidates import ancestors_of
from evaluator.tracks.detection.fast.reader import BYTES_PER_DETECTION, BlockReader
from evaluator.tracks.detection.fast.truth import without_annotations
from evaluator.tracks.detection.truth import DetectionParameters
from evaluator.tracks.shared.fast import Bytes, FileHeader

NO_CAPS = np.empty(0, np.uint8)
# In the long layout, which has one line for each prediction, the rows of an image may be anywhere in the file. Images
# are therefore processed after the whole file has been read. They are divided into this number of ranges, and a thread
# needs memory for only one range at a time.
PARTS = 64


class CollectingReader(BlockReader, ABC):
    """A reader for one thread that collects the predictions of an image and then evaluates them together.

    In the Kaggle layout, each line has all predictions of an image. In the long layout, which has one line for each
    prediction, all predictions are kept until the end of the file; see :func:`evaluate_kept`.

    Parameters
    ----------
    truth, header, parameters
        As for :class:`~evaluator.tracks.detection.fast.reader.BlockReader`.
    collects : int
        Which predictions are collected: WITH_AREA or ALL_OF_IMAGE; see
        :class:`~evaluator.kernels.detection.state.DetectionState`.

    Attributes
    ----------
    kept : list of (int, Predictions)
        For a file in the long layout, the number of each block of lines, with the predictions in the block.
    """

    def __init__(
        self, truth: KernelTruth, header: FileHeader, parameters: DetectionParameters, *, collects: int
    ) -> None:
        of_images = np.full(len(truth.usage), collects, np.uint8)
        of_images.flags.writeable = False
        super().__init__(without_annotations(truth), header, parameters, of_images)
        self.full_truth = truth
        self.kept: list[tuple[int, Predictions]] = []

    @abstractmethod
    def evaluate_images(self, found: Predictions) -> None:
        """Evaluate predictions, including their copies for ancestors if predictions are expanded.

        The predictions are ordered by image, and include all predictions of each of their images.

        Raises
        ------
        Declined
            If the reference implementation must read the file.
        """

    def evaluate(self, found: Predictions) -> None:
        """Evaluate predictions. They must include all predictions of each of their images.

        Raises
        ------
        Declined
            If the reference implementation must read the file.
        """
        self.evaluate_images(with_copies(self.full_truth, found)[0] if len(self.full_truth.ancestors) else found)

    def read(self, data: Bytes, stop: int, position: int) -> None:
        """Read the lines before the offset ``stop``.

        In the Kaggle layout, evaluate their predictions. In the long layout, only keep the predictions, because other
        predictions for the same images may follow.

        Raises
        ------
        Declined
            If the reference implementation must read the file.
        """
        found = self.collect(data, stop)
        if self.header.kaggle:
            self.evaluate(found)
        else:
            self.kept.append((position, by_image(found)))

    def collect(self, data: Bytes, stop: int) -> Predictions:
        """Return the predictions in the lines before the offset ``stop``, in the order of the file.

        The arrays are valid until the next call.

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
        return Predictions(
            state.collected_images[:count], state.collected_labels[:count], state.collected[:count], NO_CAPS
        )


def with_copies(truth: KernelTruth, found: Predictions) -> tuple[Predictions, NDArray[np.int64]]:
    """Return the given predictions and copies of them for the ancestors of their classes, ordered by image.

    Within an image, the copies follow the given predictions, as in the reference implementation. Also return, for each
    returned prediction, the index of the given prediction that it equals or was copied from.
    """
    known = np.flatnonzero(found.labels >= 0)
    copies, ancestors = ancestors_of(truth.ancestors_from, truth.ancestors, found.labels[known])
    rows = np.append(np.arange(len(found.labels)), known[copies])
    labels = np.append(found.labels, ancestors.astype(np.int32))
    order = np.argsort(found.images[rows], kind="stable")
    rows = rows[order]
    return Predictions(found.images[rows], labels[order], found.numbers[rows], NO_CAPS), rows


def by_image(found: Predictions) -> Predictions:
    """Return the given predictions, ordered by image. Predictions of the same image keep their order."""
    order = np.argsort(found.images, kind="stable")
    return found._replace(images=found.images[order], labels=found.labels[order], numbers=found.numbers[order])


def piece_of(found: Predictions, start: int, stop: int) -> Predictions:
    """Return the slice of the predictions from ``start`` to ``stop``."""
    images, labels, numbers = found.images[start:stop], found.labels[start:stop], found.numbers[start:stop]
    return Predictions(images, labels, numbers, NO_CAPS)


def joined(parts: Sequence[Predictions]) -> Predictions:
    """Return all predictions of several parts, one part after another."""
    images, labels = (np.concatenate([getattr(part, name) for part in parts]) for name in ("images", "labels"))
    return Predictions(images, labels, np.concatenate([part.numbers for part in parts]), NO_CAPS)


def evaluate_kept(readers: Sequence[CollectingReader], predictions: NDArray[np.int64]) -> None:
    """Evaluate the predictions that the readers have kept, after the whole file has been read.

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
                piece_of(found, at[part], at[part + 1])
                for found, at in zip(kept, positions, strict=True)
                if at[part] < at[part + 1]
            ]
            if pieces:
                readers[number].evaluate(by_image(joined(pieces)))

    call_all([partial(work, number) for number in range(len(readers))], len(readers))
