"""A worker that is told to stop (SIGTERM) finishes what it scores, or puts it back into the queue in time."""

import os
import signal
from contextlib import suppress
from threading import Timer
from typing import Any

from celery import bootsteps
from django.conf import settings


class Grace(bootsteps.StartStopStep):
    """Celery waits for running tasks without end. After STOP_SECONDS this has them interrupted.

    A pool process turns SIGTERM into a SystemExit inside the task, which then puts its submission back.
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
