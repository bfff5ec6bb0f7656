"""The queue is a name and an id. The database remembers what is to be done; a message only wakes a worker."""

import logging
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError
from redis import Redis, RedisError

EVALUATE, RERUN = "worker.evaluate", "worker.rerun"
# Priorities as Celery has them on Redis: 0 is the highest, and a worker takes a 9 only where no 0 waits
FIRST, LATER = 0, 9

log = logging.getLogger(__name__)


def enqueue(submission_id: UUID) -> None:
    """Wake a worker for a submission that has no score yet."""
    send(EVALUATE, str(submission_id), FIRST)


def enqueue_rerun(rerun_id: int) -> None:
    """Wake a worker that has nothing better to do."""
    send(RERUN, rerun_id, LATER)


def send(task: str, row: str | int, priority: int) -> None:
    """Send a message. A broker that is down is no reason to refuse an upload: the sweeper sends again."""
    try:
        current_app.send_task(task, args=[row], priority=priority, retry=False)
    except OperationalError as error:
        log.warning("%s %s was not announced, the sweeper will: %s", task, row, error)


def enqueue_on_commit(submission_id: UUID) -> None:
    """Wake a worker once the row can be seen. What goes wrong then is logged: the commit stands, whatever follows."""
    transaction.on_commit(lambda: enqueue(submission_id), robust=True)


def enqueue_rerun_on_commit(rerun_id: int) -> None:
    transaction.on_commit(lambda: enqueue_rerun(rerun_id), robust=True)


def waiting(priority: int = FIRST) -> int | None:
    """Number of messages that no worker has taken yet; None if the broker does not answer."""
    queue = current_app.conf.task_default_queue
    separator = settings.CELERY_BROKER_TRANSPORT_OPTIONS["sep"]
    try:
        with Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2) as redis:
            return int(redis.llen(f"{queue}{separator}{priority}" if priority else queue))
    except (RedisError, ValueError) as error:
        log.warning("the broker does not answer: %s", error)
        return None
