"""Gives each service its own PostgreSQL database and Redis over TCP if `tests.services` runs the tests.

Otherwise, the service uses SQLite and its private Redis. A server that the test itself has configured is kept.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.flows.postgres import own_database
from tests.flows.redis_server import own_redis

REQUESTED = "TEST_SERVICES" in os.environ


@contextmanager
def own_servers(home: Path, environment: Mapping[str, str], *, migrated: bool) -> Iterator[dict[str, str]]:
    """Start the requested servers whose URLs are not in `environment`, and yield the settings with their URLs."""
    found: dict[str, str] = {}
    with ExitStack() as stack:
        if REQUESTED and "DATABASE_URL" not in environment:
            found["DATABASE_URL"] = stack.enter_context(own_database(migrated=migrated))
        if REQUESTED and "REDIS_URL" not in environment:
            found["REDIS_URL"] = stack.enter_context(own_redis(home / "redis"))
        yield found
