"""Reads detections in the long layout, which has one detection per line, in any order."""

import numpy as np
from numba import types

from evaluator.kernels.detection.batches import IMAGE, LABEL, match_batch
from evaluator.kernels.detection.matching import claim
from evaluator.kernels.detection.state import STATE, TRUTH, candidate_of
from evaluator.kernels.jit import inlined, kernel
from evaluator.kernels.reading import DONE, NOT_PLAIN, PREDICTIONS, UNCLAIMED, UNKNOWN_IMAGES, UNKNOWN_LABELS
from evaluator.kernels.text.bits import prefetch
from evaluator.kernels.text.csv_blocks import BATCH, CODES_PER_LINE, position_in
from evaluator.kernels.text.csv_rows import read_batch

CELLS = 7
NUMBERS_PER_LINE = 8  # Number of float64 values in a cache line.


@inlined
def _position_of(truth, state, image, label):
    """Return the position of a row's class in ``truth.verified``; -1 if the class is not verified in the image.

    A class is verified in an image if it is known to be present or absent there. An unknown label is searched for too.
    Otherwise, the time would reveal which labels are in the ground truth.

    The function also updates the counters of ``state`` for the row.
    """
    if image < 0:
        state.counts[UNKNOWN_IMAGES] += 1
        return np.int64(-1)
    state.named[np.uint64(image)] = 1
    state.counts[UNKNOWN_LABELS] += (label < 0) | (label >= truth.listed)
    first, stop = np.int64(truth.verified_from[np.uint64(image)]), np.int64(truth.verified_from[np.uint64(image + 1)])
    return position_in(truth.verified, first, stop, label, truth.search_steps)


@inlined
def _find_positions(truth, state, batch, rows):
    """Write the position of each row's class in ``truth.verified`` to ``batch.positions``.

    The boxes of these classes are prefetched. Each step processes all rows of the batch, so that the CPU can access the
    memory for several rows at once.
    """
    images, previous, rows = batch.codes[IMAGE], np.int64(-1), np.uint64(rows)
    for row in range(rows):
        if images[row] != previous and images[row] >= 0:
            first = np.int64(truth.verified_from[np.uint64(images[row])])
            prefetch(truth.verified, first)
            prefetch(truth.verified, first + CODES_PER_LINE)
        previous = images[row]
    for row in range(rows):
        position = _position_of(truth, state, images[row], batch.codes[LABEL, row])
        batch.positions[row] = position
        prefetch(truth.boxes_from, position)
        prefetch(truth.groups_from, position)
    previous = np.int64(-1)
    for row in range(rows):
        if images[row] != previous and batch.positions[row] >= 0:
            position = np.uint64(batch.positions[row])
            box, group = np.int64(truth.boxes_from[position]), np.int64(truth.groups_from[position])
            prefetch(state.best_confidences, box)
            for offset in (0, NUMBERS_PER_LINE):
                prefetch(truth.boxes, box * 4 + offset)
            prefetch(truth.groups, group * 4)
        previous = images[row]


@inlined
def _add_batch(truth, state, threshold, batch, rows):
    """Match the predictions of a batch."""
    state.counts[PREDICTIONS] += rows
    _find_positions(truth, state, batch, rows)
    match_batch(truth, state, (0, 0), threshold, batch, rows)


@kernel(
    types.uint8[::1], types.int64, types.int64, types.int64[::1], types.int64[::1], BATCH, TRUTH, STATE, types.float64
)
def read_rows(data, at, stop, kind_of_cell, cell_of_kind, batch, truth, state, threshold):
    """Read whole lines and match their predictions.

    The state holds all images. Call :func:`~evaluator.kernels.detection.matching.finish_images` after the last
    line.

    Parameters
    ----------
    data, at, stop, truth, state, threshold
        As for :func:`evaluator.kernels.detection.strings.read_strings`, but ``data`` need only be readable for 64 bytes
        beyond ``stop``, and no hashes of unknown images are stored.
    kind_of_cell : int64 array of shape (7,)
        Kind of each cell of a line: 0 image, 1 label, 2 confidence, 3 to 6 XMin, XMax, YMin, YMax.
    cell_of_kind : int64 array of shape (7,)
        The inverse: index of the cell of each kind.
    batch : Batch
        Scratch memory.

    Returns
    -------
    int64
        DONE or NOT_PLAIN. The state is valid only after DONE.
    """
    indexes, closed = (truth.images, truth.labels), (truth.closed[IMAGE], truth.closed[LABEL])
    while at < stop:
        rows, at = read_batch(data, at, stop, indexes, closed, CELLS, kind_of_cell, cell_of_kind, batch)
        if at == 0:
            return NOT_PLAIN
        _add_batch(truth, state, threshold, batch, rows)
    return DONE


@inlined
def _claim_again(truth, state, other, threshold, image, position, box):
    """Record in ``state`` that the best candidate of a box in ``other`` claims the box."""
    overlap, coordinates = 0.0, (0.0, 0.0, 0.0, 0.0)
    if truth.groups_from[position] < truth.groups_from[position + 1]:
        candidate = other.best_candidates[candidate_of(truth, (0, 0), position, box)]
        overlap, coordinates = candidate[0], (candidate[1], candidate[2], candidate[3], candidate[4])
    confidence = other.best_confidences[box]
    claim(truth, state, (0, 0), threshold, image, position, (np.int64(box), overlap), confidence, coordinates)


@kernel(TRUTH, STATE, STATE, types.float64, types.int64, types.int64)
def merge(truth, state, other, threshold, first, stop):
    """Merge the results of another thread, ``other``, into ``state``, for the images from ``first`` to ``stop``.

    If both threads have a candidate for a box, the better one remains; each group-of box keeps the higher of its two
    confidences. ``state`` must have room for one more curve entry per box.
    """
    for image in range(first, stop):
        for position in range(truth.verified_from[image], truth.verified_from[image + 1]):
            for group in range(truth.groups_from[position], truth.groups_from[position + 1]):
                state.group_confidences[group] = max(state.group_confidences[group], other.group_confidences[group])
            for box in range(truth.boxes_from[position], truth.boxes_from[position + 1]):
                if other.best_confidences[box] != UNCLAIMED:
                    _claim_again(truth, state, other, threshold, image, position, box)
