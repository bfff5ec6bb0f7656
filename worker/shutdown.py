"""A worker that is told to stop (SIGTERM) finishes what it scores, or puts it back into the queue in time."""

import os
import signal
from threading import Timer
from types import FrameType
from typing import Any

from celery import bootsteps
from django.conf import settings


class Stopping(SystemExit):
    """This process has to end now; what it was scoring belongs back into the queue."""


def stop_here(number: int, frame: FrameType | None) -> None:
    raise Stopping(0)


def listen() -> None:
    """In a pool process: let SIGTERM interrupt the scoring, so that it can be put back."""
    signal.signal(signal.SIGTERM, stop_here)


class Grace(bootsteps.StartStopStep):
    """Celery waits for running tasks without end. After STOP_SECONDS this interrupts them."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, **options: Any) -> None:
        super().__init__(worker, **options)

    def close(self, worker: Any) -> None:
        timer = Timer(settings.STOP_SECONDS, interrupt, args=(worker.pool.info["processes"],))
        timer.daemon = True
        timer.start()


def interrupt(processes: list[int]) -> None:
    for process in processes:
        os.kill(process, signal.SIGTERM)
