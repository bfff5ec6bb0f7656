"""Is every part there? Asked by `/readyz`, by the supervisor at start, and by whoever watches the service."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from redis import Redis, RedisError

# A key in Redis that every worker's event loop renews and that expires by itself. It is not a file, because workers may
# run on other machines; not a row, because a write every few seconds would wear the database for nothing.
WORKER_KEY = "podium:worker"
WORKER_SECONDS = 15
TIMEOUT_SECONDS = 2

OK = "ok"


def redis() -> Redis:
    return Redis.from_url(settings.REDIS_URL, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS)


def database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError):
        return "does not answer"
    return OK


def broker() -> str:
    try:
        with redis() as client:
            client.ping()
    except (RedisError, ValueError):
        return "does not answer"
    return OK


def storage() -> str:
    """Write, rather than look: a full disk and a read-only one show only then."""
    folder = Path(settings.MEDIA_ROOT)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
    except OSError as error:
        return f"cannot be written to ({error.strerror})"
    return OK


def worker() -> str:
    try:
        with redis() as client:
            alive = client.exists(WORKER_KEY)
    except (RedisError, ValueError):
        return "unknown while the broker does not answer"
    return OK if alive else f"no heartbeat for {WORKER_SECONDS} s"


PARTS: dict[str, Callable[[], str]] = {"database": database, "broker": broker, "storage": storage, "worker": worker}


def report() -> dict[str, str]:
    """Return `ok` or what is wrong, part by part."""
    return {name: check() for name, check in PARTS.items()}
