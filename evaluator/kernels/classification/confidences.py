"""Keeps the highest confidence of each verified label."""

import numpy as np

from evaluator.kernels.jit import inlined
from evaluator.kernels.reading import BEYOND, NEGATIVE

NOWHERE = -1  # Position of a prediction whose image is not in the ground truth.


@inlined
def keep_highest(state, batch, rows):
    """Update ``state.highest`` with the predictions of a batch, and count unusual confidences.

    ``batch.positions`` contains the position of each prediction in ``state.highest``, or NOWHERE.
    """
    beyond, negative = 0, 0
    for row in range(rows):
        position, confidence = batch.positions[np.uint64(row)], batch.numbers[0, np.uint64(row)]
        if position != NOWHERE:
            beyond += confidence < 0.0 or confidence > 1.0
            negative += confidence < 0.0
            state.highest[np.uint64(position)] = max(state.highest[np.uint64(position)], confidence)
    state.counts[BEYOND] += beyond
    state.counts[NEGATIVE] += negative
