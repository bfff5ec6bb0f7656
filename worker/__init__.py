"""The worker process: `celery -A worker worker`."""

from server.celery import app

app.autodiscover_tasks(["worker"])

__all__ = ["app"]
