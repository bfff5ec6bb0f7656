"""Distributes work on curves to threads. The kernels that do the work run without the GIL."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

WORTH_THREADS = 100_000  # For fewer curve entries than this, starting threads takes longer than the computation itself.


def call_all(calls: Sequence[Callable[[], None]], threads: int) -> None:
    """Call all functions, in at most ``threads`` threads. If a call raises an exception, raise it."""
    if threads == 1 or len(calls) == 1:
        for call in calls:
            call()
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(call) for call in calls]:
            done.result()


def for_each_share(ends: NDArray[np.int64], threads: int, work: Callable[[int, int], None]) -> None:
    """Call ``work(first, stop)`` in several threads, with ranges of curves that have about the same number of entries.

    ``ends`` contains the position of the first entry of each curve, and the end of the last curve.
    """
    shares = threads if ends[-1] >= WORTH_THREADS else 1
    inner = np.searchsorted(ends, np.linspace(0, ends[-1], shares + 1)[1:-1]).tolist()
    call_all([partial(work, *share) for share in pairwise([0, *inner, len(ends) - 1])], shares)
