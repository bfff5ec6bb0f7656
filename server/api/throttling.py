"""Rate limits for the API.

Requests are counted per minute for each user or network, in a cache that all web processes share.
"""

import logging
from time import time
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.utils.connection import ConnectionProxy
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from server.accounts.addresses import network_of
from server.accounts.requests import client_network

MINUTE = 60
cache = ConnectionProxy(caches, "requests")

log = logging.getLogger(__name__)


class RequestsPerMinute(BaseThrottle):
    """A throttle that limits API requests per minute. If the cache is unavailable, requests are not limited."""

    def allow_request(self, request: Request, view: Any) -> bool:
        if request.user.is_authenticated:
            who, allowed = f"person {request.user.pk}", settings.API_REQUESTS_PER_MINUTE
        else:
            who, allowed = f"address {network_of(client_network(request))}", settings.API_ANONYMOUS_REQUESTS_PER_MINUTE
        key = f"api {who} {int(time() // MINUTE)}".replace(" ", ":")
        try:
            return counted(key) <= allowed
        # A ValueError means that the cache evicted the counter just before it was incremented.
        except (RedisError, ValueError) as error:
            log.warning("API requests are not counted, because the cache is unavailable: %s", error)
            return True

    def wait(self) -> float:
        return MINUTE - time() % MINUTE


def counted(key: str) -> int:
    """Increment the request counter with the given cache key, and return the new count.

    The first request of each minute creates the counter.
    """
    try:
        return cache.incr(key)
    except ValueError:
        cache.add(key, 0, timeout=2 * MINUTE)
        return cache.incr(key)
