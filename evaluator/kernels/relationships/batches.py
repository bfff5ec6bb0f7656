"""Matches the pairs of a batch, whose labels and relations have been looked up, with the triplets of their images."""

import numpy as np

from evaluator.kernels.jit import inlined
from evaluator.kernels.reading import DONE
from evaluator.kernels.relationships.matching import add_prediction, first_triplet_of
from evaluator.kernels.text.bits import prefetch
from evaluator.kernels.text.csv_blocks import CODES_PER_LINE

# Kinds of values of a prediction. Kinds 4 to 12 are numbers: Score, and the coordinates of both boxes.
IMAGE, FIRST, SECOND, RELATION = range(4)


@inlined
def _find_triplets(truth, state, batch, rows):
    """Write the first triplet of each pair (see :func:`first_triplet_of`) to ``batch.positions``.

    Each step processes all rows of the batch, so that the CPU can access the memory for several rows at once.
    """
    images, width = batch.codes[IMAGE, :rows], state.best_candidates.shape[1]
    for image in images:
        if image >= 0:
            first = np.int64(truth.verified_from[image])
            prefetch(truth.verified_labels, first)
            prefetch(truth.verified_labels, first + CODES_PER_LINE)
            prefetch(truth.negative, first)
            prefetch(truth.triplets, np.int64(truth.triplets_from[image]))
    for row in range(rows):
        if images[row] >= 0:
            codes = batch.codes[:, row]
            triplet = first_triplet_of(truth, images[row], (codes[FIRST], codes[SECOND], codes[RELATION]))
            batch.positions[row] = triplet
            # Negative indices are prefetched too, because the CPU could not predict a branch that depends on the sign.
            prefetch(truth.first, triplet * 4)
            prefetch(truth.second, triplet * 4)
            prefetch(state.best_candidates, triplet * width)
            prefetch(state.best_candidates, (len(truth.triplets) + triplet) * width)


@inlined
def match_batch(truth, state, threshold, batch, rows):
    """Match the pairs of a batch. Pairs of unknown images are skipped. Return a status, such as DONE."""
    _find_triplets(truth, state, batch, rows)
    for row in range(rows):
        image, numbers = batch.codes[IMAGE, row], batch.numbers[:, row]
        if image < 0:
            continue
        codes = batch.codes[FIRST, row], batch.codes[SECOND, row], batch.codes[RELATION, row]
        first = numbers[1], numbers[2], numbers[3], numbers[4]
        coordinates = (*first, numbers[5], numbers[6], numbers[7], numbers[8])
        status = add_prediction(truth, state, threshold, image, codes, batch.positions[row], numbers[0], coordinates)
        if status != DONE:
            return status
    return DONE
