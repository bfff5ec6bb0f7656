"""Calls functions in several threads. The kernels that do the work run without the GIL."""

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache


def call_all(calls: Sequence[Callable[[], None]], threads: int) -> None:
    """Call all functions, in at most ``threads`` threads. The calling thread is one of them, and calls the first.

    If a call raises an exception, the calls that have not begun may be left out. One of the exceptions is raised after
    all calls that had begun have ended.
    """
    first, *others = calls
    remaining = deque(others)

    def work() -> None:
        while call := _next(remaining):
            call()

    helpers: list[Future[None]] = []
    try:
        for _ in range(min(threads, len(calls)) - 1):
            helpers.append(_pool(threads).submit(work))
        first()
        work()
    finally:
        remaining.clear()
        # Helpers that have not started yet, because other files need all threads, have nothing left to do.
        helpers = [helper for helper in helpers if not helper.cancel()]
        wait(helpers)
    for helper in helpers:
        helper.result()


def _next(calls: deque[Callable[[], None]]) -> Callable[[], None] | None:
    """Remove and return the first call, or return None if there is none. Several threads may do this at once."""
    try:
        return calls.popleft()
    except IndexError:
        return None


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return the threads that help the calling thread. They are started once, because starting takes up to 1 ms."""
    return ThreadPoolExecutor(threads - 1)


# A fork copies no threads, so a child process needs threads of its own.
os.register_at_fork(after_in_child=_pool.cache_clear)
