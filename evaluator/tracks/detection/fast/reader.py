"""Reads a detection submission in one thread. Readers call compiled kernels and allocate the memory for them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.blocks import Declined
from evaluator.kernels.curves.average_precision import HIT, PARTIAL_HIT
from evaluator.kernels.detection import state as kernels
from evaluator.kernels.detection.matching import finish_images
from evaluator.kernels.detection.overfull import match_collected
from evaluator.kernels.detection.rows import merge, read_rows
from evaluator.kernels.detection.state import DetectionState, KernelTruth
from evaluator.kernels.detection.strings import read_strings
from evaluator.kernels.reading import ENTRIES, UNCLAIMED
from evaluator.kernels.text.csv_blocks import BATCH_ROWS, Batch
from evaluator.report import ReferenceNeeded
from evaluator.tracks.detection.fast.overfull import capped, collected, joined
from evaluator.tracks.detection.truth import DetectionParameters
from evaluator.tracks.shared.curves.buckets import Segments
from evaluator.tracks.shared.fast import Bytes, FileHeader
from evaluator.tracks.shared.kernel_reader import KernelReader

ENTRIES_PER_SEGMENT = 1 << 20
# Length of the shortest possible detection, "a 0 0 0 0 0 ". It limits how many detections fit into a block.
BYTES_PER_DETECTION = 12
NO_ENTRIES: dict[str, Any] = {
    "confidences": np.empty(0),
    "codes": np.empty(0, np.uint32),
    "entry_images": np.empty(0, np.int32),
}
"""The arrays of a :class:`DetectionState` without room for curve entries."""


class BlockReader(KernelReader[DetectionState]):
    """Reads blocks of a detection submission in one thread, and holds the arrays that the kernels update.

    Parameters
    ----------
    truth : KernelTruth
    header : FileHeader
    parameters : DetectionParameters
    collects : uint8 array of shape (images,)
        Which predictions of each image are stored and matched later; see
        :class:`~evaluator.kernels.detection.state.DetectionState`.
    """

    def __init__(
        self, truth: KernelTruth, header: FileHeader, parameters: DetectionParameters, collects: NDArray[np.uint8]
    ) -> None:
        self.truth = truth
        super().__init__(header)
        self.threshold: float = parameters.iou_threshold
        self.group_kind = {0.0: kernels.NO_ENTRY, 1.0: HIT}.get(parameters.group_of_weight, PARTIAL_HIT)
        self.copies = 1 + int(np.diff(truth.ancestors_from).max(initial=0))
        self.batch = Batch.empty(texts=2, numbers=5)
        self.state = self._new_state(collects)

    def _new_state(self, collects: NDArray[np.uint8]) -> DetectionState:
        """Return new arrays for the kernels, with room for the objects of one image or of all images.

        In the Kaggle layout, each row contains all predictions of an image. In the long layout, each row contains one
        prediction, and the rows of an image may be anywhere in the file.
        """
        truth = self.truth
        if self.header.kaggle:
            # In each image, at most all ordinary boxes are beside group-of boxes.
            boxes, groups, candidates = truth.most_boxes, truth.most_groups, truth.most_boxes
        else:
            boxes, groups, candidates = len(truth.boxes), len(truth.groups), truth.candidates_from[-1]
        return DetectionState(
            counts=np.zeros(kernels.COUNTS, np.int64),
            named=np.zeros(len(truth.usage), np.uint8),
            image_predictions=np.zeros(len(truth.usage), np.int32),
            collects=collects,
            unknown_image_hashes=np.empty(0, np.uint64),
            class_positions=np.full(len(truth.labels.starts), -1, np.int32),
            best_confidences=_no_candidates(boxes),
            best_candidates=np.zeros((candidates, 5)),
            claimed=np.empty((boxes + 1 if self.header.kaggle else 0, 2), np.int32),
            group_confidences=np.full(groups, UNCLAIMED),
            **NO_ENTRIES,
            collected_images=np.empty(0, np.int32),
            collected_labels=np.empty(0, np.int32),
            collected=np.empty((0, 5)),
        )

    def read_block(self, data: Bytes, stop: int) -> None:
        """Read the lines before the offset ``stop`` with a kernel.

        The arrays of the kernel must have room for all predictions in these lines.

        Raises
        ------
        Declined
            If the reference implementation must read the file.
        """
        self.make_room_for_hashes(stop)
        state = self.state
        if self.header.kaggle:
            batch = self.batch
            status = read_strings(data, 0, stop, batch, self.truth, state, self.threshold, self.group_kind)
        else:
            status = read_rows(
                data, 0, stop, self.kind_of_cell, self.cell_of_kind, self.batch, self.truth, state, self.threshold
            )
        self.finish_block(status)


class DetectionReader(BlockReader):
    """Reads a detection submission in one thread, matches its predictions, and keeps them as curve entries.

    A curve entry is a prediction or a matched group in a precision/recall curve.

    Parameters
    ----------
    truth, header, parameters, collects
        As for :class:`BlockReader`. When a file is read for the first time, ``collects`` is 0 for all images.
    keeps_images : bool
        Whether to keep the image of each entry, for curves and replicates.
    """

    def __init__(
        self,
        truth: KernelTruth,
        header: FileHeader,
        parameters: DetectionParameters,
        collects: NDArray[np.uint8],
        *,
        keeps_images: bool,
    ) -> None:
        super().__init__(truth, header, parameters, collects)
        self.keeps_images = keeps_images
        self.collects_some = bool(collects.any())
        self.filled: Segments = []
        self.filled_images: list[NDArray[np.int32]] = []

    def read(self, data: Bytes, stop: int, position: int) -> None:
        """Read the lines before the offset ``stop``, and match their predictions.

        ``position``, the number of the block of lines in the file, is not used, because the order of the blocks does
        not matter.

        Raises
        ------
        Declined
            If the reference implementation must read the file.
        """
        detections = (stop // BYTES_PER_DETECTION + 1) * self.copies
        found_groups = min(detections, len(self.truth.groups)) if self.header.kaggle else 0
        self._make_room(detections + found_groups)
        if self.collects_some:
            self._collect_into(detections)
        self.read_block(data, stop)

    def _make_room(self, entries: int) -> None:
        """Allocate new arrays unless the current ones have room for ``entries`` more curve entries.

        A curve entry is a prediction or a matched group in a precision/recall curve.
        """
        used = int(self.state.counts[ENTRIES])
        if used + entries > len(self.state.codes):
            self.filled, self.filled_images = self.entries(), self.entry_images()
            size = max(entries, ENTRIES_PER_SEGMENT)
            self.state = self.state._replace(
                confidences=np.empty(size),
                codes=np.empty(size, np.uint32),
                entry_images=np.empty(size if self.keeps_images else 0, np.int32),
            )
            self.state.counts[ENTRIES] = 0

    def match_collected(self, readers: Sequence["DetectionReader"]) -> None:
        """Match the predictions that all threads have collected, without those that exceed the cap.

        The cap is the maximum number of predictions per image and class that are scored.
        """
        left = capped(self.truth, joined([collected(reader.state) for reader in readers]))
        self._make_room(len(left.images) + len(self.truth.groups))
        match_collected(self.truth, self.state, self.threshold, self.header.kaggle, self.group_kind, *left)

    def _collect_into(self, more: int) -> None:
        """Make room for ``more`` collected predictions.

        If the arrays are full, the cap is applied to the predictions collected so far, so that memory use is limited.
        """
        if int(self.state.counts[kernels.COLLECTED]) + more <= len(self.state.collected):
            return
        left = capped(self.truth, collected(self.state))
        count = len(left.images)
        size = 2 * count + more
        images, labels, predictions = np.empty(size, np.int32), np.empty(size, np.int32), np.empty((size, 5))
        images[:count], labels[:count], predictions[:count] = left
        self.state = self.state._replace(collected_images=images, collected_labels=labels, collected=predictions)
        self.state.counts[kernels.COLLECTED] = count

    def finish(self, others: Sequence["DetectionReader"], first: int, stop: int) -> None:
        """Add the true positives and the matched groups of a range of images to the precision/recall curves.

        Before, the matches that ``others``, the readers of other threads, have found in these images are merged into
        those of this reader. Several readers can do this at the same time for different images.

        Only the long layout, which has one row for each prediction, needs this step.
        """
        for other in others:
            self._make_room(len(self.truth.boxes))
            merge(self.truth, self.state, other.state, self.threshold, first, stop)
        self._make_room(len(self.truth.boxes) + len(self.truth.groups))
        finish_images(self.truth, self.state, self.group_kind, first, stop)

    def entries(self) -> Segments:
        """Return the confidences and codes of all curve entries, one pair of arrays per memory segment.

        A code contains the class, the usage of the image, and the kind of the entry, such as false positive.
        """
        used = int(self.state.counts[ENTRIES])
        return [*self.filled, (self.state.confidences[:used], self.state.codes[:used])]

    def entry_images(self) -> list[NDArray[np.int32]]:
        """Return the image of each precision/recall curve entry, in one array per memory segment.

        The arrays are empty if images are not kept.
        """
        return [*self.filled_images, self.state.entry_images[: self.state.counts[ENTRIES]]]

    def forget_entries(self) -> None:
        """Remove all curve entries, so that their memory can be freed."""
        self.filled, self.filled_images = [], []
        self.state = self.state._replace(**NO_ENTRIES)
        self.state.counts[ENTRIES] = 0


def _no_candidates(boxes: int) -> NDArray[np.float64]:
    """Return the first ``best_confidences`` of a :class:`DetectionState`, when no detection has claimed a box yet."""
    confidences = np.full(boxes + BATCH_ROWS, UNCLAIMED)
    confidences[boxes:] = np.inf
    return confidences


def refuse_missing_images(readers: Sequence[BlockReader], parameters: DetectionParameters) -> None:
    """Raise Declined if all images are required and the submission has no row for one of them."""
    if parameters.require_all_images and not np.any([reader.state.named for reader in readers], axis=0).all():
        raise Declined(ReferenceNeeded.MISSING_IMAGES)
