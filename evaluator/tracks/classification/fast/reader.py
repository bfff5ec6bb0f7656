"""Reads a submission to the classification track in one thread.

Readers call compiled kernels and allocate the memory for them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.classification.rows import read_rows
from evaluator.kernels.classification.state import COUNTS, ClassificationState, KernelTruth
from evaluator.kernels.classification.strings import read_strings
from evaluator.kernels.text.csv_blocks import Batch
from evaluator.tracks.shared.fast import Bytes, FileHeader
from evaluator.tracks.shared.kernel_reader import KernelReader


class ClassificationReader(KernelReader[ClassificationState]):
    """Reads a submission to the classification track in one thread, and holds the state of the compiled kernels."""

    def __init__(self, truth: KernelTruth, header: FileHeader) -> None:
        self.truth = truth
        super().__init__(header)
        self.batch = Batch.empty(texts=2, numbers=1)
        images, labels, verified = len(truth.verified_from) - 1, len(truth.labels.starts) - 1, len(truth.verified)
        self.state = ClassificationState(
            counts=np.zeros(COUNTS, np.int64),
            named=np.zeros(images, np.uint8),
            image_predictions=np.zeros(images, np.int32),
            unknown_image_hashes=np.empty(0, np.uint64),
            class_positions=np.arange(verified, verified + labels + 1, dtype=np.int32),
            highest=np.full(verified + labels + 1, -np.inf),
        )

    def read(self, data: Bytes, stop: int, position: int) -> None:
        """Read the lines before the offset ``stop``, and keep the highest confidence of each verified label.

        ``position``, the number of the block of lines in the file, is not used, because the order of the blocks does
        not matter.

        Raises
        ------
        Declined
            If the reference implementation must read the file.
        """
        self.make_room_for_hashes(stop)
        if self.header.kaggle:
            status = read_strings(data, 0, stop, self.batch, self.truth, self.state)
        else:
            cells = self.kind_of_cell, self.cell_of_kind
            status = read_rows(data, 0, stop, *cells, self.batch, self.truth, self.state)
        self.finish_block(status)


def highest_of(readers: Sequence[ClassificationReader]) -> NDArray[np.float64]:
    """Return the highest confidence that any thread has read for each verified label, shape (V,); -inf if none."""
    first, *others = (reader.state.highest[: reader.truth.verified_from[-1]] for reader in readers)
    for other in others:
        np.maximum(first, other, out=first)
    return first
