"""Creates a PostgreSQL database for a test. If no server is found, the test is skipped; in CI it fails."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from tests.migrated_database import migrated_template

TOLD = os.environ.get("DATABASE_URL", "")
SERVER = TOLD if TOLD.startswith("postgres") else "postgres://postgres@127.0.0.1:5432/postgres"


@contextmanager
def own_database(*, migrated: bool = True) -> Iterator[str]:
    """Create a database, yield its URL, and drop it afterwards.

    The database has the tables of all migrations or, if `migrated` is false, no tables.
    """
    name = f"podium_test_{uuid.uuid4().hex[:12]}"
    try:
        connection = psycopg.connect(SERVER, autocommit=True, connect_timeout=3)
    except psycopg.OperationalError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"no PostgreSQL at {SERVER}: {error}")
        pytest.skip(f"NOT TESTED on PostgreSQL: no server at {SERVER}; set DATABASE_URL to the address of one")
    with connection:
        template = migrated_template(SERVER) if migrated else "template1"
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    url = SERVER.rsplit("/", 1)[0] + f"/{name}"
    try:
        if migrated:
            with psycopg.connect(url) as connection:
                connection.execute("UPDATE runtime_installation SET key = %s", [uuid.uuid4().hex])
        yield url
    finally:
        with psycopg.connect(SERVER, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
