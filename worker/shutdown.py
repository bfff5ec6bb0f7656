"""Stops a worker soon after SIGTERM: tasks that do not finish within STOP_SECONDS put their job back into the queue."""

import os
import signal
from contextlib import suppress
from threading import Timer
from typing import Any

from celery import bootsteps
from django.conf import settings


class StopDeadline(bootsteps.StartStopStep):
    """Interrupts running tasks STOP_SECONDS after the worker received SIGTERM. Celery would wait without limit.

    A pool process turns SIGTERM into SystemExit inside the task, which then puts its job back.
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
