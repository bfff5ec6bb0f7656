"""Reads a detection submission in one thread, and matches the predictions of each image by FiftyOne's rules."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from evaluator.files.blocks import Declined
from evaluator.kernels.detection.explain.explained import Predictions
from evaluator.kernels.detection.images_in_turn import Turns, find_labelled, match_images
from evaluator.kernels.detection.state import WITH_AREA, KernelTruth
from evaluator.kernels.reading import ENTRIES
from evaluator.report import ReferenceNeeded
from evaluator.tracks.detection.fast.collecting_reader import CollectingReader
from evaluator.tracks.detection.truth import DetectionParameters, DetectionTruth
from evaluator.tracks.shared.curves.buckets import Segments
from evaluator.tracks.shared.fast import FileHeader


class Labelled(NamedTuple):
    """The part of a ground truth that FiftyOne's rules use: classes verified in image_labels.csv, and their boxes.

    Attributes
    ----------
    positions : bool array of shape (V,)
        Whether each class in ``KernelTruth.verified`` belongs to this part.
    counts : int64 array of shape (3, 2, labels)
        The numbers of boxes of these classes, as in ``ObjectTruth.object_counts``.
    """

    positions: NDArray[np.bool_]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, truth: DetectionTruth, arrays: KernelTruth) -> Self:
        """Return the part of ``truth`` that FiftyOne's rules use. ``arrays`` is ``truth`` converted for the kernels."""
        found = cls(np.empty(arrays.verified_from[-1], bool), np.zeros((3, 2, len(truth.labels)), np.int64))
        find_labelled(arrays, truth.labelled, *found)
        for array in found:
            array.flags.writeable = False
        return found


class FiftyOneReader(CollectingReader):
    """A reader for one thread that matches all predictions of an image together, by FiftyOne's rules.

    Parameters
    ----------
    truth, header, parameters
        As for :class:`~evaluator.tracks.detection.fast.reader.BlockReader`.
    labelled : bool array of shape (V,)
        As ``positions`` of :class:`Labelled`.
    keeps_images : bool
        Whether to keep the image of each entry, for curves and replicates.
    """

    def __init__(
        self,
        truth: KernelTruth,
        header: FileHeader,
        parameters: DetectionParameters,
        labelled: NDArray[np.bool_],
        *,
        keeps_images: bool,
    ) -> None:
        super().__init__(truth, header, parameters, collects=WITH_AREA)
        self.labelled = labelled
        self.keeps_images = keeps_images
        self.filled: Segments = []
        self.filled_images: list[NDArray[np.int32]] = []
        self.turns = Turns.empty(0, truth.most_boxes, truth.most_groups)

    def evaluate_images(self, found: Predictions) -> None:
        """Match all predictions of one or more images, and keep the resulting curve entries.

        Raises
        ------
        Declined
            If an image has more than 10,000 predictions.
        """
        size = len(found.images)
        if size > len(self.turns.highest):
            truth = self.full_truth
            self.turns = Turns.empty(size, truth.most_boxes, truth.most_groups)
            entries = size + min(size, len(truth.groups))
            self.state = self.state._replace(
                confidences=np.empty(entries),
                codes=np.empty(entries, np.uint32),
                entry_images=np.empty(entries if self.keeps_images else 0, np.int32),
            )
        state = self.state
        state.counts[ENTRIES] = 0
        if not match_images(self.full_truth, self.labelled, state, found, self.turns, self.threshold):
            raise Declined(ReferenceNeeded.OVERFULL_IMAGE)
        used = state.counts[ENTRIES]
        self.filled.append((state.confidences[:used].copy(), state.codes[:used].copy()))
        self.filled_images.append(state.entry_images[:used].copy())

    def entries(self) -> Segments:
        """Return the confidences and codes of all curve entries, one pair of arrays for each part of the file.

        A curve entry is a prediction or a matched group in a precision/recall curve.
        """
        return [(np.empty(0), np.empty(0, np.uint32)), *self.filled]

    def entry_images(self) -> list[NDArray[np.int32]]:
        """Return the image of each curve entry, in one array for each part of the file.

        The arrays are empty if images are not kept.
        """
        return [np.empty(0, np.int32), *self.filled_images]

    def forget_entries(self) -> None:
        """Remove all curve entries, so that their memory can be freed."""
        self.filled, self.filled_images = [], []
