"""The message queue. The database holds the jobs; a message only wakes a worker and contains a task name and an id."""

import logging
from typing import NamedTuple
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError
from redis import Redis, RedisError

from server.submissions.models import Rerun, Submission

log = logging.getLogger(__name__)


class Queue(NamedTuple):
    """The queue that wakes workers for one kind of job.

    With Redis, Celery's highest priority is 0: a worker takes messages of priority 9 only if none of priority 0 waits.
    """

    task: str
    priority: int


EVALUATE, RERUN = "worker.evaluate", "worker.rerun"
QUEUES: dict[type[Submission] | type[Rerun], Queue] = {Submission: Queue(EVALUATE, 0), Rerun: Queue(RERUN, 9)}


def enqueue(kind: type[Submission] | type[Rerun], key: UUID | int) -> None:
    """Send a message for a job. If the broker is down, the sweeper sends it later, so this never raises."""
    task, priority = QUEUES[kind]
    argument = str(key) if isinstance(key, UUID) else key
    try:
        current_app.send_task(task, args=[argument], priority=priority, retry=False)
    except OperationalError as error:
        log.warning("no message was sent for %s %s; the sweeper will send one: %s", task, key, error)


def enqueue_on_commit(kind: type[Submission] | type[Rerun], key: UUID | int) -> None:
    """Send a message after the commit. Errors are only logged, because the commit can no longer be undone."""
    transaction.on_commit(lambda: enqueue(kind, key), robust=True)


def waiting(kind: type[Submission] | type[Rerun]) -> int | None:
    """Return the number of messages that no worker has taken yet; None if the broker does not respond."""
    queue, priority = current_app.conf.task_default_queue, QUEUES[kind].priority
    separator = settings.CELERY_BROKER_TRANSPORT_OPTIONS["sep"]
    try:
        with Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2) as redis:
            return int(redis.llen(f"{queue}{separator}{priority}" if priority else queue))
    except (RedisError, ValueError) as error:
        log.warning("the broker does not respond: %s", error)
        return None
