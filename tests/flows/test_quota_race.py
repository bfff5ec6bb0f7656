"""Parallel uploads cannot exceed the quota, and parallel workers never claim the same submission.

No deadlock occurs.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from tests.flows.postgres import own_database
from tests.flows.running import NOT_INHERITED
from tests.migrated_database import copy_file

pytestmark = pytest.mark.processes


def race(program: str, home: Path, **environment: str) -> dict[str, Any]:
    kept = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    where = {"PODIUM_HOME": str(home), "PYTHONPATH": str(settings.BASE_DIR), "REDIS_URL": "unix:///nowhere/redis.sock"}
    if "DATABASE_URL" not in environment:
        copy_file(home)
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
    with own_database() as url:
        yield url


def assert_fair(seen: dict[str, Any]) -> None:
    assert seen["answers"] == {"taken": 5, "quota_exhausted": 11}
    assert (seen["rows"], seen["charged"], seen["left"]) == (5, 5, 0)
    assert seen["claims"] == {"True": 1, "False": 7}


@pytest.mark.embedded
def test_parallel_uploads_share_the_quota_on_sqlite(tmp_path: Path) -> None:
    seen = race("race_quota.py", tmp_path)
    assert seen["vendor"] == "sqlite"
    assert_fair(seen)


@pytest.mark.services
def test_parallel_uploads_share_the_quota_on_postgresql(tmp_path: Path, postgres: str) -> None:
    seen = race("race_quota.py", tmp_path, DATABASE_URL=postgres)
    assert seen["vendor"] == "postgresql"
    assert_fair(seen)


@pytest.mark.services
def test_concurrent_uploads_changes_cancellations_and_comparisons_of_a_team_cause_no_deadlock(
    tmp_path: Path, postgres: str
) -> None:
    seen = race("race_locks.py", tmp_path, DATABASE_URL=postgres, TEAM_EVALUATIONS_AT_ONCE="100")
    assert seen == {"taken": 12, "changed": 12, "cancelled": 12, "noted": 12, "compared": 12}


@pytest.mark.services
def test_concurrent_imports_and_submissions_to_their_phases_cause_no_deadlock(tmp_path: Path, postgres: str) -> None:
    seen = race("race_import.py", tmp_path, DATABASE_URL=postgres, TEAM_EVALUATIONS_AT_ONCE="100")
    assert seen == {"imported": 4, "taken": 20, "ended": 80, "cancelled": 40}


@pytest.mark.services
def test_saving_a_phase_in_the_admin_keeps_what_a_service_writes_meanwhile(tmp_path, postgres):
    seen = race("race_admin.py", tmp_path, DATABASE_URL=postgres)
    assert seen == {"status": 302, "signature": "rescored", "quota": 7}
