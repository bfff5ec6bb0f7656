"""Distributes work on curves to threads."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluator.threads import call_all

WORTH_THREADS = 100_000  # For fewer curve entries than this, using threads takes longer than the computation itself.
SHARES_PER_THREAD = 4  # Some shares take longer than others of the same size.

ScratchType = TypeVar("ScratchType")


def for_each_share(
    ends: NDArray[np.int64],
    threads: int,
    new_scratch: Callable[[int], ScratchType],
    work: Callable[[ScratchType, int, int], None],
) -> None:
    """Call ``work(scratch, first, stop)`` in several threads. All ranges have about the same number of curve entries.

    Parameters
    ----------
    ends : int64 array of shape (curves + 1,)
        Position of the first entry of each curve, and the end of the last curve.
    threads : int
        The largest number of threads.
    new_scratch : callable
        A function that takes the number of entries of the longest curve, and returns scratch memory for one thread.
    work : callable
        A function that processes the curves from number ``first`` to ``stop``.
    """
    shares = SHARES_PER_THREAD * threads if threads > 1 and ends[-1] >= WORTH_THREADS else 1
    inner = np.searchsorted(ends, np.linspace(0, ends[-1], shares + 1)[1:-1]).tolist()
    longest = int(np.diff(ends).max(initial=0))
    unused = [new_scratch(longest) for _ in range(min(threads, shares))]

    def work_on(first: int, stop: int) -> None:
        scratch = unused.pop()
        work(scratch, first, stop)
        unused.append(scratch)

    call_all([partial(work_on, *share) for share in pairwise([0, *inner, len(ends) - 1])], threads)
