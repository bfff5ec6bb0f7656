"""Writes a heartbeat of the worker to Redis every few seconds, as long as the worker's event loop is running.

The evaluator's version is written with it, because leaderboards never show the scores of a worker that was forgotten in
an upgrade. A worker that cannot read the stored files also adds itself to the list of workers that take no jobs.
"""

import logging
import mmap
from typing import Any

from celery import bootsteps
from redis import Redis, RedisError

from evaluator import __version__
from server.runtime import health

log = logging.getLogger(__name__)

# This byte is 1 while the worker takes no jobs because it cannot read the stored files. Celery imports this module
# before it forks the pool, so all processes of a worker share the byte.
STOPPED = mmap.mmap(-1, 1)
# This byte is 1 while the web part has another version of the evaluator, so that this worker takes no jobs.
OTHER_VERSION = mmap.mmap(-1, 1)
# The time of the last heartbeat that this process has sent, keyed by the name of the worker.
SENT: dict[str, float] = {}


class Liveness(bootsteps.StartStopStep):
    requires = ("celery.worker.components:Timer",)

    def start(self, worker: Any) -> None:
        renew(worker.hostname)
        worker.timer.call_repeatedly(health.WORKER_SECONDS / 3, renew, args=(worker.hostname,))

    def stop(self, worker: Any) -> None:
        forget(worker.hostname)


def renew(name: str) -> None:
    try:
        with health.redis() as client:
            write(client, name)
    except (RedisError, ValueError) as error:
        log.warning("the broker does not respond: %s", error)


def write(client: Redis, name: str) -> None:
    now = health.seconds_of(client.time())
    warn_if_shared(client, name)
    SENT[name] = now
    client.hset(health.WORKERS_KEY, name, now)
    client.hset(health.VERSIONS_KEY, name, __version__)
    OTHER_VERSION[0] = client.get(health.EVALUATOR_KEY) not in (None, __version__.encode())
    if STOPPED[0]:
        client.hset(health.STOPPED_KEY, name, now)
    else:
        client.hdel(health.STOPPED_KEY, name)


def warn_if_shared(client: Redis, name: str) -> None:
    """Log an alarm if another worker has sent a heartbeat under this name since the last one of this worker."""
    found = client.hget(health.WORKERS_KEY, name)
    if found is not None and name in SENT and float(found) > SENT[name]:
        advice = "give each host its own host name; otherwise nobody notices if one of these workers ends"
        log.error("alarm: another worker has the name %s: %s", name, advice)


def forget(name: str) -> None:
    """Remove a worker from the lists in Redis. Otherwise, a worker that was shut down would be reported as missing."""
    try:
        health.forget(name)
    except (RedisError, ValueError) as error:
        log.warning("the broker does not respond: %s", error)
