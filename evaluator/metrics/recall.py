"""Recall among the most confident predictions of each image."""

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.matching import ranks_in_groups


def hits_at(limit: int, images: NDArray[np.int64], confidences: NDArray[np.float64], hits: NDArray[np.bool_]) -> int:
    """Return how many hits are among the ``limit`` most confident predictions of their image.

    Parameters
    ----------
    limit : int
    images : int64 array of shape (N,)
    confidences : float64 array of shape (N,)
    hits : bool array of shape (N,)

    Notes
    -----
    Among equals at the cut false positives come first, so that order in the file earns nothing.

    Examples
    --------
    >>> hits_at(1, np.array([0, 0]), np.array([0.5, 0.5]), np.array([True, False]))
    0
    """
    order = np.lexsort((hits, -confidences, images))
    return int(np.count_nonzero(hits[order] & (ranks_in_groups(images[order]) < limit)))
