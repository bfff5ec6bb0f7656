"""Checks whether each part of the service works: database, storage, broker, worker. `/readyz` returns the result."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from redis import Redis, RedisError

# The event loop of every worker renews this key in Redis, and the key expires automatically. A file would not work,
# because workers may run on other machines, and a database row would be written every few seconds.
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
        return "does not respond"
    return OK


def broker() -> str:
    try:
        with redis() as client:
            client.ping()
    except (RedisError, ValueError):
        return "does not respond"
    return OK


def storage() -> str:
    """Check the storage by writing a file. Only writing reveals a full or read-only disk."""
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
        return "unknown while the broker does not respond"
    return OK if alive else f"no heartbeat for {WORKER_SECONDS} s"


PARTS: dict[str, Callable[[], str]] = {"database": database, "broker": broker, "storage": storage, "worker": worker}


def report() -> dict[str, str]:
    """Return the state of each part by name: `ok`, or its problem."""
    return {name: check() for name, check in PARTS.items()}
