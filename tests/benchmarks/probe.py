"""Goes along with a worker: a task that does nothing, and how long the real ones took, told over the broker.

`DJANGO_SETTINGS_MODULE=tests.benchmarks.probe_settings` has the worker import it.
"""

from time import perf_counter
from typing import Any

from celery import Task, shared_task
from celery.signals import task_postrun, task_prerun

from server.runtime.health import redis
from server.submissions.queue import EVALUATE, RERUN

NOTHING = "benchmark.nothing"
begun = 0.0


@shared_task(name=NOTHING)
def nothing() -> None:
    """Only its way to the worker and back counts."""


@task_prerun.connect
def begin(**signal: Any) -> None:
    global begun
    begun = perf_counter()


@task_postrun.connect
def end(task: Task, **signal: Any) -> None:
    """Answer on a list named like the task; for a scoring these are the seconds from before its claim to its record."""
    if task.name in (NOTHING, EVALUATE, RERUN):
        seconds = perf_counter() - begun
        with redis() as broker:
            broker.lpush(f"answers:{task.name}", seconds)
