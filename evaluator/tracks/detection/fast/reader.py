"""Reads a detection submission in one thread. A reader calls kernels and allocates their memory."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.files.blocks import Declined
from evaluator.kernels.detection import state as kernels
from evaluator.kernels.detection.matching import finish_all_images
from evaluator.kernels.detection.overfull import match_collected
from evaluator.kernels.detection.rows import merge, read_rows
from evaluator.kernels.detection.state import DetectionState, KernelTruth
from evaluator.kernels.detection.strings import read_strings
from evaluator.kernels.reading import (
    DONE,
    ENTRIES,
    IMAGES,
    PREDICTIONS,
    UNCLAIMED,
    UNKNOWN_IMAGE_HASHES,
    UNKNOWN_IMAGES,
)
from evaluator.kernels.text.csv_blocks import Batch
from evaluator.kernels.text.lookup import TextIndex, index_of
from evaluator.tracks.detection.fast.overfull import capped, collected, joined
from evaluator.tracks.detection.truth import DetectionParameters, DetectionTruth
from evaluator.tracks.shared.buckets import Segments
from evaluator.tracks.shared.fast import REASONS, Bytes, FileHeader

ENTRIES_PER_SEGMENT = 1 << 20
BYTES_PER_DETECTION = 12  # The shortest detection in either layout is "a 0 0 0 0 0 ".
BYTES_PER_LINE = 3  # The shortest possible line of a submission is "a,\n".


def kernel_truth(truth: DetectionTruth) -> KernelTruth:
    """Return the arrays of a ground truth in the form that the kernels expect."""
    closed = np.array([truth.images_listed, truth.labels_listed])
    closed.flags.writeable = False
    return KernelTruth(
        images=TextIndex(*truth.image_index),
        labels=TextIndex(*truth.label_index),
        closed=closed,
        listed=truth.public_labels[0],
        usage=truth.usage,
        verified_from=truth.verified_from,
        verified=truth.verified_labels,
        boxes_from=truth.boxes_from,
        groups_from=truth.groups_from,
        boxes=truth.boxes,
        groups=truth.group_boxes,
    )


def public_kernel_truth(truth: DetectionTruth) -> KernelTruth:
    """Return the public parts of a ground truth in the form that the kernels expect.

    Boxes and verified classes are not public.
    """
    count, listed = truth.public_labels
    closed = np.array([truth.images_listed, truth.labels_listed])
    images = len(truth.images)
    arrays = {
        "closed": closed,
        "usage": np.zeros(images, np.int8),
        "verified_from": np.zeros(images + 1, np.int32),
        "verified": np.empty(0, np.int32),
        "boxes_from": np.zeros(1, np.int32),
        "groups_from": np.zeros(1, np.int32),
        "boxes": np.empty((0, 4)),
        "groups": np.empty((0, 4)),
    }
    for array in arrays.values():
        array.flags.writeable = False
    labels = list(truth.labels)[:count] if listed else []
    return KernelTruth(
        images=index_of(truth.images),
        labels=index_of(labels, as_unknown=not truth.labels_listed),
        listed=len(labels),
        **arrays,
    )


class DetectionReader:
    """A reader of detection submissions for one thread, with the state of its kernels and all curve entries.

    Parameters
    ----------
    truth : KernelTruth
    header : FileHeader
    parameters : DetectionParameters
    keeps_images : bool
        Whether to keep the image of each entry, for curves and replicates.
    overfull : bool array of shape (images,)
        Images with more predictions than are scored per class. Their predictions are stored and matched later. All
        elements are false when a file is read for the first time.
    """

    def __init__(
        self,
        truth: KernelTruth,
        header: FileHeader,
        parameters: DetectionParameters,
        keeps_images: bool,
        overfull: NDArray[np.bool_],
    ) -> None:
        self.truth = truth
        self.header = header
        self.threshold: float = parameters.iou_threshold
        self.groups_count: bool = parameters.group_of_weight == 1
        self.cell_of_kind = np.array(header.positions, np.int64)
        self.kind_of_cell = np.argsort(self.cell_of_kind).astype(np.int64)
        self.batch = Batch.empty(texts=2, numbers=5)
        self.keeps_images = keeps_images
        self.overfull = overfull
        self.filled: Segments = []
        self.filled_images: list[NDArray[np.int32]] = []
        self.unknown_image_hashes: list[NDArray[np.uint64]] = []
        self.state = self._new_state()

    def _new_state(self) -> DetectionState:
        """Return an empty state with room for one image (Kaggle layout) or all images (long layout)."""
        truth = self.truth
        boxes, groups = len(truth.boxes), len(truth.groups)
        if self.header.kaggle:
            starts = truth.boxes_from[truth.verified_from], truth.groups_from[truth.verified_from]
            boxes, groups = (int(np.diff(part).max(initial=0)) for part in starts)
        best_candidates = np.empty((boxes, 6))
        best_candidates[:, 0] = UNCLAIMED
        return DetectionState(
            counts=np.zeros(kernels.COUNTS, np.int64),
            named=np.zeros(len(truth.usage), np.uint8),
            image_predictions=np.zeros(len(truth.usage), np.int32),
            overfull=self.overfull,
            unknown_image_hashes=np.empty(0, np.uint64),
            class_positions=np.full(len(truth.labels.starts) - 1, -1, np.int32),
            best_candidates=best_candidates,
            group_confidences=np.full(groups, UNCLAIMED),
            confidences=np.empty(0),
            codes=np.empty(0, np.uint32),
            entry_images=np.empty(0, np.int32),
            collected_images=np.empty(0, np.int32),
            collected_labels=np.empty(0, np.int32),
            collected=np.empty((0, 5)),
        )

    @property
    def predictions(self) -> int:
        """The number of predictions that were read."""
        return int(self.state.counts[PREDICTIONS])

    @property
    def images(self) -> int:
        """The number of images read so far. With one row per prediction, this number is only an upper bound."""
        if self.header.kaggle:
            return int(self.state.counts[IMAGES])
        return int(np.count_nonzero(self.state.named) + self.state.counts[UNKNOWN_IMAGES])

    def read(self, data: Bytes, stop: int) -> None:
        """Read the lines before the offset ``stop``, and match their predictions.

        Raises
        ------
        Declined
            If the reference implementation must read the file.
        """
        detections = stop // BYTES_PER_DETECTION + 1
        found_groups = min(detections, len(self.truth.groups)) if self.header.kaggle else 0
        self._make_room(detections + found_groups, lines=stop // BYTES_PER_LINE + 1)
        if self.overfull.any():
            self._collect_into(detections)
        state = self.state
        if self.header.kaggle:
            status = read_strings(data, 0, stop, self.truth, state, self.threshold, self.groups_count)
        else:
            status = read_rows(
                data, 0, stop, self.kind_of_cell, self.cell_of_kind, self.batch, self.truth, state, self.threshold
            )
        if status != DONE:
            raise Declined(REASONS[status])
        if state.counts[UNKNOWN_IMAGE_HASHES]:
            found = state.unknown_image_hashes[: state.counts[UNKNOWN_IMAGE_HASHES]]
            self.unknown_image_hashes.append(found.copy())
            state.counts[UNKNOWN_IMAGE_HASHES] = 0

    def _make_room(self, entries: int, *, lines: int = 0) -> None:
        """Ensure that there is room for ``entries`` more entries and for ``lines`` hashes of image ids."""
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
        if self.header.kaggle and lines > len(self.state.unknown_image_hashes):
            self.state = self.state._replace(unknown_image_hashes=np.empty(lines, np.uint64))

    def merge(self, other: "DetectionReader") -> None:
        """Merge the state of another thread into this reader's state.

        Only the long layout, which has one row for each prediction, needs this step.
        """
        self._make_room(len(self.truth.boxes))
        merge(self.truth, self.state, other.state, self.threshold)

    def match_collected(self, readers: Sequence["DetectionReader"]) -> None:
        """Apply the cap to the predictions in overfull images from all threads, and match the remaining predictions."""
        left = capped(self.truth, joined([collected(reader.state) for reader in readers]))
        self._make_room(len(left.images) + len(self.truth.groups))
        match_collected(self.truth, self.state, self.threshold, self.header.kaggle, self.groups_count, *left)

    def _collect_into(self, more: int) -> None:
        """Make room for ``more`` predictions, by applying the cap to the predictions collected so far."""
        if int(self.state.counts[kernels.COLLECTED]) + more <= len(self.state.collected):
            return
        left = capped(self.truth, collected(self.state))
        count = len(left.images)
        size = 2 * count + more
        images, labels, predictions = np.empty(size, np.int32), np.empty(size, np.int32), np.empty((size, 5))
        images[:count], labels[:count], predictions[:count] = left
        self.state = self.state._replace(collected_images=images, collected_labels=labels, collected=predictions)
        self.state.counts[kernels.COLLECTED] = count

    def finish(self) -> None:
        """Add the true positives of all images to the entries. Call this after merging the states of all threads.

        Only the long layout, which has one row for each prediction, needs this step.
        """
        self._make_room(len(self.truth.boxes) + len(self.truth.groups))
        finish_all_images(self.truth, self.state, self.groups_count)

    def entries(self) -> Segments:
        """Return the confidences and codes of all curve entries, one pair of arrays per memory segment."""
        used = int(self.state.counts[ENTRIES])
        return [*self.filled, (self.state.confidences[:used], self.state.codes[:used])]

    def entry_images(self) -> list[NDArray[np.int32]]:
        """Return the images of all curve entries, one array per memory segment; empty arrays if images are not kept."""
        return [*self.filled_images, self.state.entry_images[: self.state.counts[ENTRIES]]]
