"""Reads a submission to the relationships track in one thread.

Readers call compiled kernels and allocate the memory for them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.derived import derived
from evaluator.kernels.reading import (
    ENTRIES,
    UNCLAIMED,
)
from evaluator.kernels.relationships import state as kernels
from evaluator.kernels.relationships.rows import read_rows
from evaluator.kernels.relationships.state import KernelTruth, RelationshipState
from evaluator.kernels.relationships.strings import read_strings
from evaluator.kernels.text.csv_blocks import Batch, searchable
from evaluator.kernels.text.lookup import TextIndex, index_of
from evaluator.tracks.relationships.truth import RelationshipsTruth
from evaluator.tracks.shared.fast import Bytes, FileHeader
from evaluator.tracks.shared.kernel_reader import KernelReader

# Length of the shortest possible pair, "0 a 0 0 0 0 b 0 0 0 0 c ". It limits how many pairs fit into a block.
BYTES_PER_PAIR = 24
# The arrays of entries have room for at least this number of entries.
FEWEST_ENTRIES = 1 << 20
NO_CODES = np.empty((0, 3), np.int32)


def kernel_truth(truth: RelationshipsTruth, *, explains: bool = False) -> KernelTruth:
    """Return the arrays of a ground truth in the form that the kernels expect.

    ``explains`` must be true if the score is to be explained.
    """
    closed = np.array([truth.images_listed, truth.labels_listed, truth.relations_listed])
    codes = NO_CODES
    if explains:
        codes = np.stack(truth.keys.decode(truth.triplets), axis=1).astype(np.int32)
    (labels, steps), negative = derived(truth, "labels and whether they are negative", lambda: _verified(truth))
    for array in (closed, codes):
        array.flags.writeable = False
    return KernelTruth(
        images=TextIndex(*truth.image_index),
        labels=TextIndex(*truth.label_index),
        relations=TextIndex(*truth.relation_index),
        closed=closed,
        usage=truth.usage,
        verified_from=truth.image_labels_from,
        verified_labels=labels,
        search_steps=steps,
        negative=negative,
        triplets_from=truth.triplets_from,
        triplets=truth.triplets,
        first=truth.first_boxes,
        second=truth.second_boxes,
        codes=codes,
    )


def _verified(truth: RelationshipsTruth) -> tuple[tuple[NDArray[np.int32], int], NDArray[np.uint8]]:
    """Return the verified labels of all images, to be searched, and 1 for each label that no triplet of its image has.

    See :func:`~evaluator.kernels.text.csv_blocks.searchable`.
    """
    negative = (truth.image_labels & 1).astype(np.uint8)
    negative.flags.writeable = False
    return searchable(truth.image_labels >> 1, truth.image_labels_from), negative


def public_kernel_truth(truth: RelationshipsTruth) -> KernelTruth:
    """Return the public parts of a ground truth in the form that the kernels expect.

    Triplets are not public, and neither are verified labels.
    """
    images = len(truth.images)
    arrays = {
        "closed": np.array([truth.images_listed, truth.labels_listed, truth.relations_listed]),
        "usage": np.zeros(images, np.int8),
        "verified_from": np.zeros(images + 1, np.int32),
        "verified_labels": np.empty(0, np.int32),
        "negative": np.empty(0, np.uint8),
        "triplets_from": np.zeros(images + 1, np.int32),
        "triplets": np.empty(0, np.int64),
        "first": np.empty((0, 4), np.float32),
        "second": np.empty((0, 4), np.float32),
        "codes": NO_CODES,
    }
    for array in arrays.values():
        array.flags.writeable = False
    labels, relations = (
        index_of(list(texts) if listed else [], as_unknown=not listed)
        for texts, listed in ((truth.labels, truth.labels_listed), (truth.relations, truth.relations_listed))
    )
    return KernelTruth(images=index_of(truth.images), labels=labels, relations=relations, search_steps=0, **arrays)


class RelationshipReader(KernelReader[RelationshipState]):
    """Reads a submission to the relationships track in one thread, and holds the state of the compiled kernels.

    Attributes
    ----------
    claimed : int
        Number of best pairs that are stored for each triplet: 2, for the pair that hits the triplet and the pair that
        hits its phrase. It is 3 if the score is to be explained. The third pair is the one that would hit the triplet
        if the error of the pair were fixed.
    """

    def __init__(
        self,
        truth: KernelTruth,
        header: FileHeader,
        threshold: float,
        *,
        explains: bool = False,
        keeps_numbers: bool = False,
    ) -> None:
        self.truth = truth
        super().__init__(header)
        self.threshold = threshold
        self.batch = Batch.empty(texts=4, numbers=9)
        self.claimed = 3 if explains else 2
        best_candidates = np.zeros((self.claimed * len(truth.triplets) + 2, kernels.CANDIDATE_NUMBERS + explains))
        best_candidates[:, 0] = UNCLAIMED
        self.state = RelationshipState(
            counts=np.zeros(kernels.COUNTS, np.int64),
            named=np.zeros(len(truth.usage), np.uint8),
            image_predictions=np.zeros(len(truth.usage), np.int32),
            unknown_image_hashes=np.empty(0, np.uint64),
            best_candidates=best_candidates,
            best_entries=np.full(len(best_candidates), -1, np.int64),
            confidences=np.empty(0),
            images=np.empty(0, np.int32),
            relations=np.empty(0, np.int32),
            outcomes=np.empty(0, np.uint8),
            labels=np.empty((0, 2), np.int32),
            numbers=np.empty((0, 9)),
        )
        self.entry_arrays = ["confidences", "images", "relations", *(["outcomes"] if explains else [])]
        self.entry_arrays += ["labels", "numbers"] if keeps_numbers else []

    @property
    def entries(self) -> int:
        """The number of entries of precision/recall curves that the kernels have stored."""
        return int(self.state.counts[ENTRIES])

    def read(self, data: Bytes, stop: int, position: int) -> None:
        """Read the lines before the offset ``stop``, and match their predictions.

        ``position``, the number of the block of lines in the file, is not used, because the order of the blocks does
        not matter.

        Raises
        ------
        Declined
            If the reference implementation must read the file.
        """
        self._make_room(stop // BYTES_PER_PAIR + 1)
        self.make_room_for_hashes(stop)
        if self.header.kaggle:
            status = read_strings(data, 0, stop, self.batch, self.truth, self.state, self.threshold)
        else:
            cells = self.kind_of_cell, self.cell_of_kind
            status = read_rows(data, 0, stop, *cells, self.batch, self.truth, self.state, self.threshold)
        self.finish_block(status)

    def _make_room(self, entries: int) -> None:
        """Enlarge the arrays unless there is room for ``entries`` more pairs.

        When the arrays of pairs are enlarged, their size at least doubles, so that copying is rare. Unused elements
        of the arrays occupy no physical memory.
        """
        state, needed = self.state, self.entries + entries
        if needed > len(state.confidences):
            size = max(needed, 2 * len(state.confidences), FEWEST_ENTRIES)
            grown = {name: _enlarged(getattr(state, name)[: self.entries], size) for name in self.entry_arrays}
            self.state = state._replace(**grown)


def _enlarged(array: NDArray[Any], size: int) -> NDArray[Any]:
    enlarged = np.empty((size, *array.shape[1:]), array.dtype)
    enlarged[: len(array)] = array
    return enlarged
