"""One thread of a detection scoring: kernels and the memory that they work in."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.detection import state as kernels
from evaluator.kernels.detection.overfull import take_collected
from evaluator.kernels.detection.rows import merge, read_rows
from evaluator.kernels.detection.state import DetectionState, DetectionTruth, settle_all
from evaluator.kernels.detection.strings import read_strings
from evaluator.kernels.reading import (
    DONE,
    ENTRIES,
    IMAGES,
    NEGATIVE,
    ODD,
    PREDICTIONS,
    STRANGERS,
    UNCLAIMED,
    UNKNOWN_IMAGES,
)
from evaluator.kernels.text.csv_blocks import Batch
from evaluator.kernels.text.lookup import index_in
from evaluator.tracks.detection.fast.overfull import capped, collected, joined
from evaluator.tracks.interface import ReadableWay, listed_labels
from evaluator.tracks.shared.buckets import Entries
from evaluator.tracks.shared.fast import Bytes, Heading
from evaluator.truth import Truth

REASONS = {
    ODD: "something that is not plain",
    NEGATIVE: "negative confidences",
}
ENTRIES_PER_SEGMENT = 1 << 20
BYTES_PER_DETECTION = 12  # the shortest one: "a 0 0 0 0 0 " or "a,b,0,0,0,0,0\n"
BYTES_PER_LINE = 3  # the shortest one: "a,\n"


def truth_of(truth: Truth) -> DetectionTruth:
    """Return the truth as the kernels know it."""
    arrays = truth.arrays
    closed = np.array([truth.flags["images_listed"], truth.flags["labels_listed"]])
    closed.flags.writeable = False
    return DetectionTruth(
        images=index_in(arrays, "images"),
        labels=index_in(arrays, "labels"),
        closed=closed,
        listed=listed_labels(truth)[0],
        usage=arrays["usage"],
        verified_from=arrays["verified_from"],
        verified=arrays["verified_labels"],
        boxes_from=arrays["boxes_from"],
        groups_from=arrays["groups_from"],
        boxes=arrays["boxes"],
        groups=arrays["group_boxes"],
    )


class DetectionReader:
    """What one thread has read: the state of its kernels, and the entries that they have filled."""

    def __init__(
        self,
        truth: DetectionTruth,
        heading: Heading,
        parameters: Mapping[str, Any],
        keeps_images: bool,
        overfull: NDArray[np.bool_],
    ) -> None:
        self.truth = truth
        self.heading = heading
        self.threshold: float = parameters["iou_threshold"]
        self.groups_count: bool = parameters["group_of_weight"] == 1
        self.positions = np.array(heading.positions, np.int64)
        self.order = np.argsort(self.positions).astype(np.int64)
        self.batch = Batch.empty(texts=2, numbers=5)
        self.keeps_images = keeps_images
        self.overfull = overfull
        self.filled: Entries = []
        self.filled_images: list[NDArray[np.int32]] = []
        self.strangers: list[NDArray[np.uint64]] = []
        self.state = self._new_state()

    def _new_state(self) -> DetectionState:
        """Return a state of one image where images come in one piece, else of all."""
        truth = self.truth
        boxes, groups = len(truth.boxes), len(truth.groups)
        if self.heading.kaggle:
            starts = truth.boxes_from[truth.verified_from], truth.groups_from[truth.verified_from]
            boxes, groups = (int(np.diff(part).max(initial=0)) for part in starts)
        suitors = np.empty((boxes, 6))
        suitors[:, 0] = UNCLAIMED
        return DetectionState(
            counts=np.zeros(kernels.COUNTS, np.int64),
            named=np.zeros(len(truth.usage), np.uint8),
            rows=np.zeros(len(truth.usage), np.int32),
            overfull=self.overfull,
            strangers=np.empty(0, np.uint64),
            place=np.full(len(truth.labels.starts) - 1, -1, np.int32),
            suitors=suitors,
            absorbed=np.full(groups, UNCLAIMED),
            confidences=np.empty(0),
            codes=np.empty(0, np.uint32),
            entry_images=np.empty(0, np.int32),
            collected_images=np.empty(0, np.int32),
            collected_labels=np.empty(0, np.int32),
            collected=np.empty((0, 5)),
        )

    @property
    def predictions(self) -> int:
        """How many were read."""
        return int(self.state.counts[PREDICTIONS])

    @property
    def images(self) -> int:
        """How many rows of images were read; in the long shape no fewer than the images that they name."""
        if self.heading.kaggle:
            return int(self.state.counts[IMAGES])
        return int(np.count_nonzero(self.state.named) + self.state.counts[UNKNOWN_IMAGES])

    def read(self, data: Bytes, stop: int) -> None:
        """Take the lines before ``stop``."""
        self._make_room(stop // BYTES_PER_DETECTION + 1, lines=stop // BYTES_PER_LINE + 1)
        if self.overfull.any():
            self._collect_into(stop // BYTES_PER_DETECTION + 1)
        state = self.state
        if self.heading.kaggle:
            status = read_strings(data, 0, stop, self.truth, state, self.threshold, self.groups_count)
        else:
            status = read_rows(data, 0, stop, self.order, self.positions, self.batch, self.truth, state, self.threshold)
        if status != DONE:
            raise ReadableWay(REASONS[status])
        if state.counts[STRANGERS]:
            self.strangers.append(self.state.strangers[: state.counts[STRANGERS]].copy())
            state.counts[STRANGERS] = 0

    def _make_room(self, entries: int, *, lines: int = 0) -> None:
        """Begin a new segment where the current one may not hold so many more entries."""
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
        if self.heading.kaggle and lines > len(self.state.strangers):
            self.state = self.state._replace(strangers=np.empty(lines, np.uint64))

    def join(self, other: "DetectionReader") -> None:
        """Take over what another thread has found in the long shape."""
        self._make_room(len(self.truth.boxes))
        merge(self.truth, self.state, other.state, self.threshold)

    def take_collected(self, crew: Sequence["DetectionReader"]) -> None:
        """Take what all threads have put aside of overfull images, as far as it is not beyond the cap."""
        left = capped(self.truth, joined([collected(reader.state) for reader in crew]))
        self._make_room(len(left.images) + len(self.truth.groups))
        take_collected(self.truth, self.state, self.threshold, self.heading.kaggle, self.groups_count, *left)

    def _collect_into(self, more: int) -> None:
        """Have room to put so many more predictions aside; those beyond the cap make way."""
        if int(self.state.counts[kernels.COLLECTED]) + more <= len(self.state.collected):
            return
        left = capped(self.truth, collected(self.state))
        count = len(left.images)
        size = 2 * count + more
        images, labels, predictions = np.empty(size, np.int32), np.empty(size, np.int32), np.empty((size, 5))
        images[:count], labels[:count], predictions[:count] = left
        self.state = self.state._replace(collected_images=images, collected_labels=labels, collected=predictions)
        self.state.counts[kernels.COLLECTED] = count

    def settle(self) -> None:
        """Turn the suitors of all images into entries."""
        self._make_room(len(self.truth.boxes) + len(self.truth.groups))
        settle_all(self.truth, self.state, self.groups_count)

    def entries(self) -> Entries:
        """Return (confidences, codes), segment by segment."""
        used = int(self.state.counts[ENTRIES])
        return [*self.filled, (self.state.confidences[:used], self.state.codes[:used])]

    def entry_images(self) -> list[NDArray[np.int32]]:
        """Return the image of each entry, segment by segment; nothing where images are not kept."""
        return [*self.filled_images, self.state.entry_images[: self.state.counts[ENTRIES]]]
