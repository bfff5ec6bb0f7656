"""What one could try again and again, counted by minute in a cache that all web processes share.

Wrong passwords, sign-ups and mails for new passwords: by name and address, and by address. The name alone is not
counted: a stranger's wrong passwords would lock its owner out.
"""

import logging
from hashlib import sha256
from time import time

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from redis.exceptions import RedisError

from server.accounts.names import same_name
from server.accounts.requests import address_of
from server.errors import Refused

MINUTE = 60
# Few wrong passwords for each of many names: a classroom behind one address still logs in, a list of names does not.
NAMES_OF_AN_ADDRESS = 10

log = logging.getLogger(__name__)


def limits_of(request: HttpRequest, username: str) -> dict[str, int]:
    """Return the keys under which an attempt counts, each with how many it allows."""
    allowed = settings.LOGIN_ATTEMPTS_PER_MINUTE
    address, minute = address_of(request), int(time() // MINUTE)
    kinds = {f"{address} {same_name(username)}": allowed, address: NAMES_OF_AN_ADDRESS * allowed}
    return {f"login:{sha256(who.encode()).hexdigest()[:32]}:{minute}": most for who, most in kinds.items()}


def refusal(request: HttpRequest, username: str) -> Refused | None:
    """Return the refusal if this name, or this address, was tried too often this minute. Without its cache all may."""
    if not too_many(limits_of(request, username)):
        return None
    rest = MINUTE - int(time() % MINUTE)
    return Refused("rate_limited", "Too many attempts. Wait a minute, then try again.", retry_after=rest)


def too_many(limits: dict[str, int]) -> bool:
    try:
        counts = cache.get_many(limits)
    except RedisError as error:
        log.warning("logins are not counted: %s", error)
        return False
    return any(counts.get(key, 0) >= allowed for key, allowed in limits.items())


def count(request: HttpRequest, username: str) -> None:
    """Count one attempt."""
    try:
        for key in limits_of(request, username):
            cache.add(key, 0, timeout=2 * MINUTE)
            cache.incr(key)
    except (RedisError, ValueError) as error:  # ValueError: the count was evicted between the two lines
        log.warning("logins are not counted: %s", error)


def limit(request: HttpRequest, name: str) -> None:
    """Count this attempt, whatever becomes of it; refuse it where there were too many."""
    if refused := refusal(request, name):
        raise refused
    count(request, name)
