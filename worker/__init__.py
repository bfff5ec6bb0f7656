"""The worker, `celery -A worker worker`. It scores submissions that the server queues. The server never imports it."""

import os

from celery.signals import celeryd_init, worker_process_init

from evaluator import scoring
from server.celery import app
from server.runtime.die_with_parent import die_with
from worker import limits
from worker.liveness import Liveness
from worker.shutdown import StopDeadline


def die_with_worker(**signal: object) -> None:
    """End this pool process when the worker's main process ends. Celery calls it after the fork."""
    die_with(os.getppid())


app.autodiscover_tasks(["worker"])
scoring.load_kernels()  # before the pool forks, so that every pool process starts with loaded kernels
app.steps["worker"].update({Liveness, StopDeadline})
celeryd_init.connect(limits.log_setting_warnings)
worker_process_init.connect(die_with_worker)

__all__ = ["app"]
