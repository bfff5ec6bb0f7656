"""Parallel uploads cannot take one last slot, parallel workers not one submission, and nobody waits for ever."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings

from tests.flows.running import NOT_INHERITED

pytestmark = pytest.mark.processes

TOLD = os.environ.get("DATABASE_URL", "")
SERVER = TOLD if TOLD.startswith("postgres") else "postgres://postgres@127.0.0.1:5432/postgres"


def race(program: str, home: Path, **environment: str) -> dict[str, Any]:
    kept = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    where = {"PODIUM_HOME": str(home), "PYTHONPATH": str(settings.BASE_DIR), "REDIS_URL": "unix:///nowhere/redis.sock"}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name(program))],
        env={**kept, **where, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.fixture
def postgres() -> Iterator[str]:
    """The URL of a database of this test's own; a machine without PostgreSQL skips, the one that guards may not."""
    name = f"podium_race_{uuid.uuid4().hex[:12]}"
    try:
        connection = psycopg.connect(SERVER, autocommit=True, connect_timeout=3)
    except psycopg.OperationalError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"no PostgreSQL at {SERVER}: {error}")
        pytest.skip(f"NOT TESTED on PostgreSQL: there is none at {SERVER}; DATABASE_URL says where")
    with connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    yield SERVER.rsplit("/", 1)[0] + f"/{name}"
    with psycopg.connect(SERVER, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def assert_fair(seen: dict[str, Any]) -> None:
    assert seen["answers"] == {"taken": 5, "quota_exhausted": 11}
    assert (seen["rows"], seen["charged"], seen["left"]) == (5, 5, 0)
    assert seen["claims"] == {"True": 1, "False": 7}


def test_parallel_uploads_share_the_quota_on_sqlite(tmp_path):
    seen = race("race_quota.py", tmp_path)
    assert seen["vendor"] == "sqlite"
    assert_fair(seen)


@pytest.mark.services
def test_parallel_uploads_share_the_quota_on_postgresql(tmp_path, postgres):
    seen = race("race_quota.py", tmp_path, DATABASE_URL=postgres)
    assert seen["vendor"] == "postgresql"
    assert_fair(seen)


@pytest.mark.services
def test_uploads_changes_and_cancels_of_a_team_do_not_lock_each_other_out(tmp_path, postgres):
    seen = race("race_locks.py", tmp_path, DATABASE_URL=postgres)
    assert seen == {"taken": 12, "changed": 12, "cancelled": 12, "noted": 12}
