"""Wrong passwords, counted by name and address and minute, in a cache that all web processes share."""

import logging
from hashlib import sha256
from time import time

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from redis.exceptions import RedisError

MINUTE = 60

log = logging.getLogger(__name__)


def key_of(request: HttpRequest, username: str) -> str:
    who = f"{request.META.get('REMOTE_ADDR', '')} {username.casefold()}"
    return f"login:{sha256(who.encode()).hexdigest()[:32]}:{int(time() // MINUTE)}"


def too_many(request: HttpRequest, username: str) -> bool:
    """Tell whether this name was tried too often this minute. Without its cache it lets everybody try."""
    try:
        return cache.get(key_of(request, username), 0) >= settings.LOGIN_ATTEMPTS_PER_MINUTE
    except RedisError as error:
        log.warning("logins are not counted: %s", error)
        return False


def count(request: HttpRequest, username: str) -> None:
    """Count one wrong password."""
    key = key_of(request, username)
    try:
        cache.add(key, 0, timeout=2 * MINUTE)
        cache.incr(key)
    except (RedisError, ValueError) as error:  # ValueError: the count was evicted between the two lines
        log.warning("logins are not counted: %s", error)
