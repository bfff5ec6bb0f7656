"""Reads a submission to the classification track in one thread.

Readers call compiled kernels and allocate the memory for them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.files.blocks import Declined
from evaluator.kernels.classification.rows import read_rows
from evaluator.kernels.classification.state import COUNTS, ClassificationState, KernelTruth
from evaluator.kernels.classification.strings import read_strings
from evaluator.kernels.reading import DONE, IMAGES, PREDICTIONS, UNKNOWN_IMAGE_HASHES, UNKNOWN_IMAGES
from evaluator.kernels.text.csv_blocks import Batch
from evaluator.tracks.shared.fast import REASONS, Bytes, FileHeader

# Length of the shortest possible line, "a,\n". It limits how many lines fit into a block.
BYTES_PER_LINE = 3


class ClassificationReader:
    """Reads a submission to the classification track in one thread, and holds the state of the compiled kernels."""

    def __init__(self, truth: KernelTruth, header: FileHeader) -> None:
        self.truth = truth
        self.header = header
        self.cell_of_kind = np.array(header.positions, np.int64)
        self.kind_of_cell = np.argsort(self.cell_of_kind).astype(np.int64)
        # In the Kaggle layout, a batch contains the predictions of one image.
        self.batch = Batch.empty(texts=1 if header.kaggle else 2, numbers=1)
        self.unknown_image_hashes: list[NDArray[np.uint64]] = []
        images, labels, verified = len(truth.verified_from) - 1, len(truth.labels.starts) - 1, len(truth.verified)
        self.state = ClassificationState(
            counts=np.zeros(COUNTS, np.int64),
            named=np.zeros(images, np.uint8),
            image_predictions=np.zeros(images, np.int32),
            unknown_image_hashes=np.empty(0, np.uint64),
            class_positions=np.arange(verified, verified + labels + 1, dtype=np.int32),
            highest=np.full(verified + labels + 1, -np.inf),
        )

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

    def read(self, data: Bytes, stop: int, position: int) -> None:
        """Read the lines before the offset ``stop``, and keep the highest confidence of each verified label.

        ``position``, the number of the block of lines in the file, is not used, because the order of the blocks does
        not matter.

        Raises
        ------
        Declined
            If the reference implementation must read the file.
        """
        if self.header.kaggle:
            lines = stop // BYTES_PER_LINE + 1
            if lines > len(self.state.unknown_image_hashes):
                self.state = self.state._replace(unknown_image_hashes=np.empty(lines, np.uint64))
            status = read_strings(data, 0, stop, self.batch, self.truth, self.state)
        else:
            cells = self.kind_of_cell, self.cell_of_kind
            status = read_rows(data, 0, stop, *cells, self.batch, self.truth, self.state)
        if status != DONE:
            raise Declined(REASONS[status])
        if self.state.counts[UNKNOWN_IMAGE_HASHES]:
            found = self.state.unknown_image_hashes[: self.state.counts[UNKNOWN_IMAGE_HASHES]]
            self.unknown_image_hashes.append(found.copy())
            self.state.counts[UNKNOWN_IMAGE_HASHES] = 0


def highest_of(readers: Sequence[ClassificationReader]) -> NDArray[np.float64]:
    """Return the highest confidence that any thread has read for each verified label, shape (V,); -inf if none."""
    first, *others = (reader.state.highest[: len(reader.truth.verified)] for reader in readers)
    for other in others:
        np.maximum(first, other, out=first)
    return first
