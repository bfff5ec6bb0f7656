"""Defines the ground truth that the relationship kernels read, and the state that they change."""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from evaluator.kernels.jit import read_only
from evaluator.kernels.reading import NEGATIVE
from evaluator.kernels.text.lookup import INDEX, TextIndex

# Index of the number of unknown relations in the array ``counts``. Lower indices are defined in
# evaluator.kernels.reading.
UNKNOWN_RELATIONS = NEGATIVE + 1
COUNTS = UNKNOWN_RELATIONS + 1
# Number of values in each row of ``best_candidates``: confidence, overlap, coordinates of both boxes. There is one more
# value, which encodes the labels and the relation, if the score is to be explained.
CANDIDATE_NUMBERS = 10


class KernelTruth(NamedTuple):
    """Ground-truth triplets sorted by image, classes, relation and row of the file. All arrays are read-only.

    A triplet is two boxes with their labels and the relation between them. Its phrase is the smallest box around both.

    Attributes
    ----------
    images, labels, relations : TextIndex
    closed : bool array of shape (3,)
        Whether an unknown image, an unknown label and an unknown relation are defects.
    usage : int8 array of shape (images,)
        IGNORED, PUBLIC or PRIVATE; see :mod:`evaluator.kernels.reading`.
    verified_from : int32 array of shape (images + 1,)
        Position in ``verified_labels`` of the first label of each image.
    verified_labels : int32 array of shape (V + 16 * search_steps,)
        The labels that are verified in each image, ascending in each image.
    search_steps : int64
        Number of steps to search the verified labels of an image; see
        :func:`evaluator.kernels.text.csv_blocks.searchable`.
    negative : uint8 array of shape (V,)
        1 for each negative label: ``image_labels.csv`` has a row for it, with any confidence, but no triplet of the
        image has it. 0 for a label that a triplet of the image has.
    triplets_from : int32 array of shape (images + 1,)
        Index of the first triplet of each image.
    triplets : int64 array of shape (M,), ascending
        Keys: image, both labels and relation as one number.
    first, second : float32 arrays of shape (M, 4): XMin, XMax, YMin, YMax
        Both boxes of each triplet.
    codes : int32 array of shape (M, 3), or (0, 3) if the score is not to be explained
        First label, second label and relation of each triplet.
    """

    images: TextIndex
    labels: TextIndex
    relations: TextIndex
    closed: NDArray[np.bool_]
    usage: NDArray[np.int8]
    verified_from: NDArray[np.int32]
    verified_labels: NDArray[np.int32]
    search_steps: int
    negative: NDArray[np.uint8]
    triplets_from: NDArray[np.int32]
    triplets: NDArray[np.int64]
    first: NDArray[np.float32]
    second: NDArray[np.float32]
    codes: NDArray[np.int32]


TRUTH = types.NamedTuple(
    (
        INDEX,
        INDEX,
        INDEX,
        read_only(types.boolean),
        read_only(types.int8),
        *(read_only(types.int32) for _ in range(2)),
        types.int64,
        read_only(types.uint8),
        read_only(types.int32),
        read_only(types.int64),
        read_only(types.float32, 2),
        read_only(types.float32, 2),
        read_only(types.int32, 2),
    ),
    KernelTruth,
)


class RelationshipState(NamedTuple):
    """The results of one thread. Only this thread writes to the arrays.

    Attributes
    ----------
    counts, named, image_predictions, unknown_image_hashes
        As for :class:`evaluator.kernels.detection.state.DetectionState`.
    best_candidates : float64 array of shape (2 × M + 2, 10), or (3 × M + 2, 11) if the score is to be explained
        Confidence, overlap and coordinates of the best pair so far that claims each triplet, followed by those of the
        best pair that claims each phrase. For an explanation, these are followed by the best pair that would hit each
        triplet if its error were fixed; the last column encodes its labels and its relation. The confidence is
        UNCLAIMED if there is no such pair. The last two rows have no meaning: a pair that hits no triplet or no phrase
        claims them, so that hits and misses take the same time.
    best_entries : int64 array of shape (2 × M + 2,) or (3 × M + 2,)
        Index of the curve entry of each best pair; -1 if there is no such pair.
    confidences, images, relations : float64, int32, int32 arrays of shape (capacity,)
        The entries; their number is ``counts[ENTRIES]``. Each scored pair has an entry. ``relations`` is defined by
        :class:`evaluator.tracks.relationships.entries.PairEntries`. A pair that is not scored has an entry only if it
        is not among the first :data:`~evaluator.kernels.CROWD` pairs of its image, or if the score is to be explained.
        Without these entries, running time and memory use would reveal which pairs are scored.
    outcomes : uint8 array of shape (capacity,), or empty if the score is not to be explained
        The outcome of each entry; see :mod:`evaluator.kernels.relationships.explaining`. A pair that hits a triplet has
        the outcome of a duplicate until :func:`evaluator.tracks.relationships.fast.explanation.decide` changes it.
    labels, numbers : int32, float64 arrays of shapes (capacity, 2), (capacity, 9), or empty if they are not needed
        Both labels of each entry (-1 if unknown), and its confidence and coordinates as they are in the file.
    """

    counts: NDArray[np.int64]
    named: NDArray[np.uint8]
    image_predictions: NDArray[np.int32]
    unknown_image_hashes: NDArray[np.uint64]
    best_candidates: NDArray[np.float64]
    best_entries: NDArray[np.int64]
    confidences: NDArray[np.float64]
    images: NDArray[np.int32]
    relations: NDArray[np.int32]
    outcomes: NDArray[np.uint8]
    labels: NDArray[np.int32]
    numbers: NDArray[np.float64]


STATE = types.NamedTuple(
    (
        types.int64[::1],
        types.uint8[::1],
        types.int32[::1],
        types.uint64[::1],
        types.float64[:, ::1],
        types.int64[::1],
        types.float64[::1],
        types.int32[::1],
        types.int32[::1],
        types.uint8[::1],
        types.int32[:, ::1],
        types.float64[:, ::1],
    ),
    RelationshipState,
)
