"""Calls functions in several threads. The kernels that do the work run without the GIL."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache


def call_all(calls: Sequence[Callable[[], None]], threads: int) -> None:
    """Call all functions, in at most ``threads`` threads. The calling thread is one of them, and calls the first.

    If calls raise exceptions, one of the exceptions is raised after all calls have ended. A call must not use
    :func:`call_all` itself.
    """
    first, *others = calls
    remaining = iter(others)

    def work() -> None:
        for call in remaining:
            call()

    helpers = [_pool(os.getpid(), threads).submit(work) for _ in range(min(threads, len(calls)) - 1)]
    try:
        first()
        work()
    finally:
        wait(helpers)
    for helper in helpers:
        helper.result()


@cache
def _pool(_process: int, threads: int) -> ThreadPoolExecutor:
    """Return the threads that help the calling thread. They are started once, because starting takes up to 1 ms.

    A fork copies no threads, so a child process needs threads of its own.
    """
    return ThreadPoolExecutor(threads - 1)
