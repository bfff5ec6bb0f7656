"""The worker process. It is started by `celery -A worker worker`, and scores the submissions in the server's queue.

The server never imports this package.
"""

import logging
import os

# Each process of a worker's pool uses one thread for matrix operations, because the pool processes already use all
# cores. With more threads, multiplying matrices would take several times as much CPU time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# isort: split
import django
from celery.signals import celeryd_init, task_prerun, worker_process_init
from django.apps import apps
from django.db import close_old_connections

from evaluator import scoring
from server.celery import app
from server.runtime.die_with_parent import die_with
from worker import limits
from worker.liveness import Liveness
from worker.shutdown import StopDeadline

log = logging.getLogger(__name__)


def die_with_worker(**signal: object) -> None:
    """End this pool process when the worker's main process ends. Celery calls this function in every pool process."""
    die_with(os.getppid())


def renew_connection(**signal: object) -> None:
    """Close the database connection if it is old or broken. Celery calls this function before every task."""
    close_old_connections()


def announce_compilation(stage: str, fraction: float) -> None:
    """Log that the kernels are being compiled. Until they are, the worker sends no heartbeats."""
    if fraction == 0:
        log.info("Compiling the scoring kernels, which takes a few minutes")


app.autodiscover_tasks(["worker"])
app.autodiscover_tasks(["worker"], related_name="kits")
# Logging is configured by ``django.setup``, which Celery calls only after it has imported this module.
if not apps.ready:
    django.setup()
# The evaluator's compiled kernels are loaded before Celery forks the pool, so that the pool processes share them.
scoring.load_kernels(announce_compilation)
app.steps["worker"].update({Liveness, StopDeadline})
celeryd_init.connect(limits.log_setting_warnings)
worker_process_init.connect(die_with_worker)
task_prerun.connect(renew_connection)

__all__ = ["app"]
