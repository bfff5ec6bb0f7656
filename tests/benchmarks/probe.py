"""Measures tasks in a worker: adds a task that does nothing, and reports the duration of every task through the broker.

The worker imports this module if `DJANGO_SETTINGS_MODULE=tests.benchmarks.probe_settings`.
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
    """Do nothing. The benchmark measures only the round trip to the worker."""


@task_prerun.connect
def begin(**signal: Any) -> None:
    global begun
    begun = perf_counter()


@task_postrun.connect
def end(task: Task, **signal: Any) -> None:
    """Append the duration of a task, in seconds, to a Redis list that is named after the task."""
    if task.name in (NOTHING, EVALUATE, RERUN):
        seconds = perf_counter() - begun
        with redis() as broker:
            broker.lpush(f"answers:{task.name}", seconds)
