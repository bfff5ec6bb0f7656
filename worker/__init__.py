"""The worker process: `celery -A worker worker`. It scores what the server queues; the server never imports it."""

from celery.signals import celeryd_init, worker_process_init

from evaluator import scoring
from server.celery import app
from worker import children, limits, shared
from worker.presence import Presence
from worker.shutdown import Grace

app.autodiscover_tasks(["worker"])
scoring.load_kernels()  # before the pool forks: every child starts with the scorer loaded
app.steps["worker"].update({Presence, Grace})
celeryd_init.connect(limits.warn_of_doubts)
worker_process_init.connect(children.begin)

__all__ = ["app", "shared"]
