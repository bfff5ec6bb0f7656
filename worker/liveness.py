"""Renews a key in Redis every few seconds as long as the worker's event loop runs. `/readyz` checks this key."""

import logging
from typing import Any

from celery import bootsteps
from redis import RedisError

from server.runtime import health

log = logging.getLogger(__name__)


class Liveness(bootsteps.StartStopStep):
    requires = ("celery.worker.components:Timer",)

    def start(self, worker: Any) -> None:
        renew()
        worker.timer.call_repeatedly(health.WORKER_SECONDS / 3, renew)


def renew() -> None:
    try:
        with health.redis() as client:
            client.set(health.WORKER_KEY, "alive", ex=health.WORKER_SECONDS)
    except (RedisError, ValueError) as error:
        log.warning("the broker does not respond: %s", error)
