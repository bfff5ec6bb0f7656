"""Distributes work on curves to threads."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evaluator.threads import call_all

WORTH_THREADS = 100_000  # For fewer curve entries than this, using threads takes longer than the computation itself.
SHARES_PER_THREAD = 4  # Some shares take longer than others of the same size.


def for_each_share(ends: NDArray[np.int64], threads: int, work: Callable[[int, int], None]) -> None:
    """Call ``work(first, stop)`` in several threads, with ranges of curves that have about the same number of entries.

    ``ends`` contains the position of the first entry of each curve, and the end of the last curve.
    """
    shares = SHARES_PER_THREAD * threads if threads > 1 and ends[-1] >= WORTH_THREADS else 1
    inner = np.searchsorted(ends, np.linspace(0, ends[-1], shares + 1)[1:-1]).tolist()
    call_all([partial(work, *share) for share in pairwise([0, *inner, len(ends) - 1])], threads)
