"""The part of a reader that all tracks with compiled kernels share."""

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluator.files.blocks import Declined
from evaluator.kernels.reading import (
    DONE,
    IMAGES,
    NEGATIVE_CONFIDENCE,
    NOT_PLAIN,
    PREDICTIONS,
    UNKNOWN_IMAGE_HASHES,
    UNKNOWN_IMAGES,
)
from evaluator.report import ReferenceNeeded
from evaluator.tracks.shared.fast import FileHeader

State = TypeVar("State", bound=Any)
REASONS = {NOT_PLAIN: ReferenceNeeded.NOT_PLAIN, NEGATIVE_CONFIDENCE: ReferenceNeeded.NEGATIVE_CONFIDENCE}
"""Reasons why the fast path cannot score a file, keyed by the status that a kernel returns."""
# Length of the shortest possible line, "a,\n". It limits how many lines fit into a block.
BYTES_PER_LINE = 3


class KernelReader(Generic[State]):
    """Reads a submission in one thread with a kernel, and holds the state of the kernel.

    Attributes
    ----------
    state : named tuple
        The arrays that the kernel updates: at least those of :class:`evaluator.tracks.shared.fast.KernelState`, and
        ``unknown_image_hashes``. A subclass must set it.
    cell_of_kind, kind_of_cell : int64 arrays
        In the long layout, the index of the cell of each kind of value, and the inverse.
    unknown_image_hashes : list of uint64 arrays
        Hashes of image ids that are not in the ground truth.
    """

    state: State

    def __init__(self, header: FileHeader) -> None:
        self.header = header
        self.cell_of_kind = np.array(header.positions, np.int64)
        self.kind_of_cell = np.argsort(self.cell_of_kind).astype(np.int64)
        self.unknown_image_hashes: list[NDArray[np.uint64]] = []

    @property
    def predictions(self) -> int:
        """The number of predictions that were read."""
        return int(self.state.counts[PREDICTIONS])

    @property
    def images(self) -> int:
        """The number of images read so far, or an upper bound if the file has one row per prediction.

        In such a file, an image that is not in the ground truth is counted once for each of its rows.
        """
        if self.header.kaggle:
            return int(self.state.counts[IMAGES])
        return int(np.count_nonzero(self.state.named) + self.state.counts[UNKNOWN_IMAGES])

    def make_room_for_hashes(self, stop: int) -> None:
        """Make room for the hashes of all unknown images that a block of ``stop`` bytes can contain.

        Hashes are stored only in the Kaggle layout.
        """
        lines = stop // BYTES_PER_LINE + 1
        if self.header.kaggle and lines > len(self.state.unknown_image_hashes):
            self.state = self.state._replace(unknown_image_hashes=np.empty(lines, np.uint64))

    def finish_block(self, status: int) -> None:
        """Keep the hashes of the unknown images in a block that a kernel has read.

        Raises
        ------
        Declined
            If ``status`` states that the reference implementation must read the file.
        """
        if status != DONE:
            raise Declined(REASONS[status])
        if self.state.counts[UNKNOWN_IMAGE_HASHES]:
            found = self.state.unknown_image_hashes[: self.state.counts[UNKNOWN_IMAGE_HASHES]]
            self.unknown_image_hashes.append(found.copy())
            self.state.counts[UNKNOWN_IMAGE_HASHES] = 0
