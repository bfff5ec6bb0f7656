"""Checks whether the database, the storage, the broker and the workers can be used."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import DatabaseError, InterfaceError, connection
from redis import Redis, RedisError

from server.stored_files.copies import in_objects
from server.stored_files.failures import StoreUnavailable

# Key of the Redis hash with the heartbeats of the workers. Every few seconds, each worker writes the Redis server's
# time to this hash. Files cannot be used, because workers may run on other machines. The database is not used, because
# heartbeats would write to it too often.
WORKERS_KEY = "podium:workers"
# The key of the Redis hash with the workers that take no jobs, because they cannot read the stored files. Earlier
# versions of Podium ignore this key.
STOPPED_KEY = "podium:stopped-workers"
WORKER_SECONDS = 15
FORGOTTEN_SECONDS = 24 * 3600.0  # how long a crashed worker remains listed, in seconds
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
    """Return `ok` if a file can be written to the storage, otherwise the problem.

    A file is written, because nothing else reveals a full or read-only disk. If an object store is used, its
    bucket is checked, and the file is written to the local folder in which uploads arrive.
    """
    folder = Path(settings.FILE_UPLOAD_TEMP_DIR if settings.OBJECT_STORE else settings.MEDIA_ROOT)
    try:
        if settings.OBJECT_STORE:
            in_objects(default_storage).check()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
    except StoreUnavailable as error:
        return f"cannot be used ({error.strerror})"
    except OSError as error:
        return f"cannot be written to ({error.strerror})"
    return OK


def worker_seconds() -> dict[str, float]:
    """Return the seconds since the last heartbeat of each worker, keyed by its name. Raises RedisError."""
    with redis() as client:
        now, found = seconds_of(client.time()), client.hgetall(WORKERS_KEY)
    return {name.decode(): max(0.0, now - float(at)) for name, at in found.items()}


def stopped_workers() -> set[str]:
    """Return the names of workers that take no jobs because they cannot read the stored files. Raises RedisError."""
    with redis() as client:
        return {name.decode() for name in client.hgetall(STOPPED_KEY)}


def forget(*names: str) -> None:
    """Remove the named workers from the list of heartbeats and from that of stopped workers. Raises RedisError."""
    with redis() as client:
        client.hdel(WORKERS_KEY, *names)
        client.hdel(STOPPED_KEY, *names)


def seconds_of(time: tuple[int, int]) -> float:
    return time[0] + time[1] / 1e6


def worker(name: str = "") -> str:
    """Return `ok` if the worker with this name sends heartbeats and takes jobs, otherwise the problem.

    If no name is given, return `ok` if any worker sends heartbeats and takes jobs.
    """
    try:
        found, stopped = worker_seconds(), stopped_workers()
    except (RedisError, ValueError):
        return "unknown while the broker does not respond"
    alive = {one for one, age in found.items() if name in ("", one) and age < WORKER_SECONDS}
    if not alive:
        return f"no heartbeat for {WORKER_SECONDS} s"
    return "takes no jobs, because it cannot read the stored files" if alive <= stopped else OK


# The checks of everything that the web process needs. The broker and the workers are left out, because pages and
# uploads work without them.
WEB_NEEDS: dict[str, Callable[[], str]] = {"database": database, "storage": storage}


def web() -> dict[str, str]:
    """Check everything that the web process needs. Return `ok` or the problem for each check, keyed by name."""
    return {name: check() for name, check in WEB_NEEDS.items()}
