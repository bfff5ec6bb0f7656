"""Stops a worker soon after it has received SIGTERM.

Tasks that are still running after STOP_SECONDS put their jobs back into the queue.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from typing import Any, TypeVar

from celery import bootsteps
from django.conf import settings

Claimed = TypeVar("Claimed")


class StopDeadline(bootsteps.StartStopStep):
    """A Celery bootstep that interrupts running tasks STOP_SECONDS after the worker has received SIGTERM.

    Celery itself would wait indefinitely. This step sends SIGTERM to the pool processes, which raises SystemExit inside
    their tasks. Each task then puts its job back into the queue.
    """

    requires = ("celery.worker.components:Pool",)

    def close(self, worker: Any) -> None:
        timer = Timer(settings.STOP_SECONDS, interrupt, args=(worker.pool.info["processes"],))
        timer.daemon = True
        timer.start()


def interrupt(processes: list[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)


@contextmanager
def claim(claim_next: Callable[[], Claimed | None], release: Callable[[Claimed], object]) -> Iterator[Claimed | None]:
    """Claim a job for the duration of a `with` block, and yield the job, or None if there is none.

    If the worker is stopped during the block, the job is put back with `release`.
    """
    job = None
    try:
        with stop_deferred():
            job = claim_next()
        yield job
    except SystemExit:
        if job is not None:
            release(job)
        raise


@contextmanager
def stop_deferred() -> Iterator[None]:
    """Defer the handling of SIGTERM until the `with` block ends.

    Otherwise, SystemExit could be raised after the database has recorded a claim, but before the caller has received
    the job.
    """
    received: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        for number in received[:1]:
            signal.raise_signal(number)
