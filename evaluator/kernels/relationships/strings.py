"""Reads relationships in the Kaggle layout: ``ImageId,PredictionString``, one image per line."""

from numba import types

from evaluator.kernels.jit import inlined, kernel
from evaluator.kernels.reading import DONE, NOT_PLAIN, PREDICTIONS, next_image
from evaluator.kernels.relationships.batches import IMAGE, match_batch
from evaluator.kernels.relationships.state import STATE, TRUTH
from evaluator.kernels.text.csv_blocks import BATCH
from evaluator.kernels.text.string_batches import read_predictions

# A prediction is Score Label1 XMin1 YMin1 XMax1 YMax1 Label2 XMin2 YMin2 XMax2 YMax2 RelationLabel. The kinds are those
# of evaluator.kernels.relationships.batches.
KIND_OF_TOKEN = (4, 1, 5, 7, 6, 8, 2, 9, 11, 10, 12, 3)
TOKEN_OF_KIND = (-1, 1, 6, 11, 0, 2, 4, 3, 5, 7, 9, 8, 10)


@inlined
def _read_string(data, at, batch, truth, state, threshold, image):
    """Read and match the predictions of one image, which may be unknown.

    Return a status, such as DONE, and the offset of the next line.
    """
    indexes = truth.images, truth.labels, truth.labels, truth.relations
    closed = truth.closed[0], truth.closed[1], truth.closed[1], truth.closed[2]
    batch.codes[IMAGE] = image
    while True:
        rows, at = read_predictions(data, at, indexes, closed, KIND_OF_TOKEN, TOKEN_OF_KIND, batch)
        if rows == 0 or at == 0:
            return (DONE if at else NOT_PLAIN), at
        state.counts[PREDICTIONS] += rows
        if image >= 0:
            status = match_batch(truth, state, threshold, batch, rows)
            if status != DONE:
                return status, at


@kernel(types.uint8[::1], types.int64, types.int64, BATCH, TRUTH, STATE, types.float64)
def read_strings(data, at, stop, batch, truth, state, threshold):
    """Read whole lines of ``ImageId,PredictionString`` and match their predictions.

    Parameters
    ----------
    data : uint8 array
        Must be readable for 96 bytes beyond ``stop``. The function keeps no reference to the array.
    at, stop : int64
        Offsets of the first line and of the end; the byte at ``stop - 1`` is a line feed.
    batch : Batch
        Scratch memory.
    truth : KernelTruth
    state : RelationshipState
        Must have room for one more curve entry per 24 bytes (the length of the shortest prediction), and for one more
        hash of an unknown image per 3 bytes.
    threshold : float64
        Smallest IoU of a match.

    Returns
    -------
    int64
        DONE, or the reason why only the reference implementation can read the file: NOT_PLAIN (special syntax, such as
        quotes) or NEGATIVE_CONFIDENCE. The state is valid only after DONE.
    """
    while at < stop:
        image, at = next_image(data, at, truth, state)
        if at == 0:
            return NOT_PLAIN
        status, at = _read_string(data, at, batch, truth, state, threshold, image)
        if status != DONE:
            return status
    return DONE
