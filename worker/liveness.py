"""Writes a heartbeat of the worker to Redis every few seconds, as long as the worker's event loop is running."""

import logging
from typing import Any

from celery import bootsteps
from redis import Redis, RedisError

from server.runtime import health

log = logging.getLogger(__name__)


class Liveness(bootsteps.StartStopStep):
    requires = ("celery.worker.components:Timer",)

    def start(self, worker: Any) -> None:
        forget_lost()
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
    client.hset(health.WORKERS_KEY, name, health.seconds_of(client.time()))


def forget(*names: str) -> None:
    """Remove workers from the list of heartbeats. Otherwise, workers that were stopped would be reported as missing."""
    if not names:
        return
    try:
        with health.redis() as client:
            client.hdel(health.WORKERS_KEY, *names)
    except (RedisError, ValueError) as error:
        log.warning("the broker does not respond: %s", error)


def forget_lost() -> None:
    try:
        ages = health.worker_seconds()
    except (RedisError, ValueError) as error:
        log.warning("the broker does not respond: %s", error)
    else:
        forget(*(name for name, age in ages.items() if age > health.FORGOTTEN_SECONDS))
