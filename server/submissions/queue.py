"""The message queue, which wakes workers.

Jobs are stored in the database. A message only contains a task name and an id.
"""

import logging
from functools import cache
from typing import NamedTuple
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import Model
from kombu.exceptions import OperationalError
from redis import Redis, RedisError

from server.submissions.models import Rerun, Submission

log = logging.getLogger(__name__)


class Queue(NamedTuple):
    """The Celery task, the message priority and the name of the queue for one kind of job.

    With Redis, Celery's highest priority is 0. A worker takes messages of priority 9 only if no message of a higher
    priority is waiting in any of its queues. Celery keeps a separate list for each queue and each of the priorities 0,
    3, 6 and 9.
    """

    task: str
    priority: int
    name: str


EVALUATE, RERUN = "worker.evaluate", "worker.rerun"
# Other Django apps add queues for their own kinds of jobs, such as comparisons of leaderboard entries.
QUEUES: dict[type[Model], Queue] = {
    Submission: Queue(EVALUATE, 0, settings.BROKER_QUEUES["scores"]),
    Rerun: Queue(RERUN, 9, settings.BROKER_QUEUES["reruns"]),
}


def enqueue(kind: type[Model], key: UUID | int, *, urgent: bool = False) -> None:
    """Send a message that wakes a worker for a job.

    The message priority depends on the kind of job, but urgent jobs get the same priority as submissions, which is the
    highest. If the broker is down, no exception is raised, because the sweeper (a periodic task) will send the message
    later.
    """
    task, priority, name = QUEUES[kind]
    argument = str(key) if isinstance(key, UUID) else key
    fields = {"task": task, "submission" if kind is Submission else "job": argument}
    try:
        current_app.send_task(task, args=[argument], queue=name, priority=0 if urgent else priority, retry=False)
        log.info("message sent", extra=fields)
    except OperationalError as error:
        log.warning("no message was sent for %s %s; the sweeper will send one: %s", task, key, error)


def enqueue_on_commit(kind: type[Model], key: UUID | int) -> None:
    """Send a message after the commit. If this fails, the error is only logged, because the commit cannot be undone."""
    transaction.on_commit(lambda: enqueue(kind, key), robust=True)


def is_empty_above(kind: type[Model]) -> bool:
    """Return whether the broker has no messages that a worker would receive before those for this kind of job.

    If the broker does not respond, return False.
    """
    below = QUEUES[kind].priority
    lists = {list_of(one.name, each) for one in QUEUES.values() for each in (0, one.priority) if each < below}
    try:
        return not broker(settings.REDIS_URL).exists(*lists)  # In Redis, an empty list does not exist.
    except (RedisError, ValueError) as error:
        log.warning("the broker does not respond: %s", error)
        return False


def list_of(name: str, priority: int) -> str:
    """Return the key of the Redis list with the messages of one queue that have the given priority."""
    return f"{name}{settings.CELERY_BROKER_TRANSPORT_OPTIONS['sep']}{priority}" if priority else name


@cache
def broker(url: str) -> Redis:
    """Return a client for the broker. The client keeps its connection for later calls."""
    return Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2)


def waiting(kind: type[Model]) -> int | None:
    """Return the number of waiting messages for this kind of job, or None if the broker does not respond.

    Messages that were sent with the higher priority of urgent jobs are not counted.
    """
    try:
        return int(broker(settings.REDIS_URL).llen(list_of(QUEUES[kind].name, QUEUES[kind].priority)))
    except (RedisError, ValueError) as error:
        log.warning("the broker does not respond: %s", error)
        return None
