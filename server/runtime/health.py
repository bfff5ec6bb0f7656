"""Checks whether the database, the storage, the broker, the workers and the sweeper can be used."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import DatabaseError, InterfaceError, connection
from redis import Redis, RedisError

from evaluator import __version__
from server.errors import log_unusable_database
from server.stored_files.copies import in_objects
from server.stored_files.failures import StoreUnavailable

# Key of the Redis hash with the heartbeats of the workers. Every few seconds, each worker writes the Redis server's
# time to this hash. Files cannot be used, because workers may run on other machines. The database is not used, because
# heartbeats would write to it too often.
WORKERS_KEY = "podium:workers"
# The key of the Redis hash with the workers that take no jobs, because they cannot read the stored files. Earlier
# versions of Podium ignore this key.
STOPPED_KEY = "podium:stopped-workers"
# The key of the Redis hash with the evaluator's version of each worker. Earlier versions of Podium ignore this key.
VERSIONS_KEY = "podium:worker-versions"
# The key of the evaluator's version of the web part that was started last. Workers with another version take no jobs.
EVALUATOR_KEY = "podium:evaluator"
UNKNOWN = "unknown"  # The version of a worker that does not record it, and takes jobs from every web part.
# Key of the Redis hash with the time of each sweeper's last successful sweep.
SWEEPERS_KEY = "podium:sweepers"
WORKER_SECONDS = 15
# A sweeper counts as dead after this time. It is long, because a sweep of very many files takes minutes.
SWEEPER_SECONDS = 300
FORGOTTEN_SECONDS = 24 * 3600.0  # how long a crashed worker or sweeper remains listed, in seconds
TIMEOUT_SECONDS = 2

OK = "ok"


def redis() -> Redis:
    return Redis.from_url(settings.REDIS_URL, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS)


def database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError) as error:
        log_unusable_database(error)
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
    return seconds_since(WORKERS_KEY)


def sweeper_seconds() -> dict[str, float]:
    """Return the seconds since the last successful sweep of each sweeper, keyed by its name. Raises RedisError."""
    return seconds_since(SWEEPERS_KEY)


def seconds_since(key: str) -> dict[str, float]:
    with redis() as client:
        now, found = seconds_of(client.time()), client.hgetall(key)
    return {name.decode(): max(0.0, now - float(at)) for name, at in found.items()}


def worker_versions() -> dict[str, str]:
    """Return the evaluator's version of each worker that sends heartbeats, keyed by its name. Raises RedisError."""
    alive = [name for name, age in worker_seconds().items() if age < WORKER_SECONDS]
    with redis() as client:
        found = client.hgetall(VERSIONS_KEY)
    return {name: found.get(name.encode(), UNKNOWN.encode()).decode() for name in alive}


def note_evaluator() -> None:
    """Record the evaluator's version of a web part that is being started. Raises RedisError."""
    with redis() as client:
        client.set(EVALUATOR_KEY, __version__)


def evaluator_of_web() -> str:
    """Return the evaluator's version of the web part that was started last, or "" if unknown. Raises RedisError."""
    with redis() as client:
        return (client.get(EVALUATOR_KEY) or b"").decode()


def workers_of_other_versions() -> set[str]:
    """Return the names of workers that take no jobs, because the web part has another evaluator. Raises RedisError."""
    wanted = evaluator_of_web()
    return {name for name, version in worker_versions().items() if wanted and version not in (wanted, UNKNOWN)}


def stopped_workers() -> set[str]:
    """Return the names of workers that take no jobs because they cannot read the stored files. Raises RedisError."""
    with redis() as client:
        return {name.decode() for name in client.hgetall(STOPPED_KEY)}


def note_sweep(name: str) -> None:
    """Record that the sweeper with this name has cleaned up, and forget those that crashed long ago. Raises RedisError.

    Otherwise, workers and sweepers that will never come back would be reported as lost forever.
    """
    with redis() as client:
        client.hset(SWEEPERS_KEY, name, seconds_of(client.time()))
    ages = worker_seconds() | sweeper_seconds()
    if lost := [one for one, age in ages.items() if age > FORGOTTEN_SECONDS]:
        forget(*lost)


def forget(*names: str) -> None:
    """Remove the named workers and sweepers from all lists. Raises RedisError."""
    with redis() as client:
        for key in (WORKERS_KEY, STOPPED_KEY, VERSIONS_KEY, SWEEPERS_KEY):
            client.hdel(key, *names)


def seconds_of(time: tuple[int, int]) -> float:
    return time[0] + time[1] / 1e6


def worker(name: str = "") -> str:
    """Return `ok` if the worker with this name sends heartbeats and takes jobs, otherwise the problem.

    If no name is given, return `ok` if any worker sends heartbeats and takes jobs.
    """
    try:
        found, stopped, other = worker_seconds(), stopped_workers(), workers_of_other_versions()
    except (RedisError, ValueError):
        return "unknown while the broker does not respond"
    alive = {one for one, age in found.items() if name in ("", one) and age < WORKER_SECONDS}
    if not alive:
        return f"no heartbeat for {WORKER_SECONDS} s"
    if alive <= other:
        return "takes no jobs, because the web part has another version of the evaluator"
    return "takes no jobs, because it cannot read the stored files" if alive <= stopped | other else OK


def sweeper(name: str = "") -> str:
    """Return `ok` if the sweeper with this name, or any sweeper, has cleaned up lately, otherwise the problem."""
    try:
        found = sweeper_seconds()
    except (RedisError, ValueError):
        return "unknown while the broker does not respond"
    limit = max(SWEEPER_SECONDS, 3 * settings.SWEEP_SECONDS)
    is_alive = any(age < limit for one, age in found.items() if name in ("", one))
    return OK if is_alive else f"no successful sweep for {limit} s"


# The checks of everything that the web process needs. The broker and the workers are left out, because pages and
# uploads work without them.
WEB_NEEDS: dict[str, Callable[[], str]] = {"database": database, "storage": storage}


def web() -> dict[str, str]:
    """Check everything that the web process needs. Return `ok` or the problem for each check, keyed by name."""
    return {name: check() for name, check in WEB_NEEDS.items()}
