"""Measures jobs in a worker: adds a task that does nothing, and reports the duration of every job through the broker.

The worker imports this module if `DJANGO_SETTINGS_MODULE=tests.benchmarks.probe_settings`.
"""

from time import perf_counter
from typing import Any

from celery import shared_task
from celery.signals import worker_process_init

from server.runtime.health import redis
from server.submissions.queue import QUEUES

NOTHING = "benchmark.nothing"


@shared_task(name=NOTHING)
def nothing() -> None:
    """Do nothing. The benchmark measures only the round trip to the worker."""
    report(NOTHING, 0.0)


def report(name: str, seconds: float) -> None:
    with redis() as broker:
        broker.lpush(f"answers:{name}", seconds)


@worker_process_init.connect
def measure_jobs(**signal: Any) -> None:
    """Make the worker push the duration of each job, in seconds, to the Redis list `answers:TASK` of its task.

    A task may work on several jobs, so the durations of tasks would not be comparable.
    """
    from worker import tasks  # Imported here, so that a benchmark can import this module without the tasks.

    work = tasks.work

    def measured(kind: Any, *words: Any, **options: Any) -> bool:
        began = perf_counter()
        done = work(kind, *words, **options)
        if done:
            report(QUEUES[kind].task, perf_counter() - began)
        return done

    tasks.work = measured
