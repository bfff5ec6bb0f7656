"""The queue is a name and an id. The database remembers what is to be done; a message only wakes a worker."""

import logging
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError
from redis import Redis, RedisError

EVALUATE = "worker.evaluate"

log = logging.getLogger(__name__)


def enqueue(submission_id: UUID) -> None:
    """Wake a worker. A broker that is down is no reason to refuse an upload: the sweeper sends again."""
    try:
        current_app.send_task(EVALUATE, args=[str(submission_id)], retry=False)
    except OperationalError as error:
        log.warning("submission %s was not announced, the sweeper will: %s", submission_id, error)


def enqueue_on_commit(submission_id: UUID) -> None:
    """Wake a worker once the row can be seen. What goes wrong then is logged: the commit stands, whatever follows."""
    transaction.on_commit(lambda: enqueue(submission_id), robust=True)


def waiting() -> int | None:
    """Number of messages that no worker has taken yet; None if the broker does not answer."""
    try:
        with Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2) as redis:
            return int(redis.llen(current_app.conf.task_default_queue))
    except (RedisError, ValueError) as error:
        log.warning("the broker does not answer: %s", error)
        return None
