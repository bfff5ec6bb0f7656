"""Finds the hits among the most confident predictions in each image, for metrics such as recall@50."""

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.matching import positions_in_groups


def hits_at(
    limit: int, images: NDArray[np.int64], confidences: NDArray[np.float64], hits: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return whether each prediction is a hit and is among the ``limit`` most confident predictions in its image.

    Parameters
    ----------
    limit : int
    images : int64 array of shape (N,)
    confidences : float64 array of shape (N,)
    hits : bool array of shape (N,)

    Returns
    -------
    bool array of shape (N,)

    Notes
    -----
    If confidences are equal, false positives come first, so the order in the file does not change the recall.

    Examples
    --------
    >>> hits_at(1, np.array([0, 0, 1]), np.array([0.5, 0.5, 0.5]), np.array([True, False, True]))
    array([False, False,  True])
    """
    order = np.lexsort((hits, -confidences, images))
    found = np.zeros(len(hits), bool)
    found[order] = hits[order] & (positions_in_groups(images[order]) < limit)
    return found
