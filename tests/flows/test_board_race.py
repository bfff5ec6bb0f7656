"""When several threads change a leaderboard at the same time, no change is lost and no deadlock occurs."""

from pathlib import Path
from typing import Any

import pytest

from tests.flows.test_quota_race import postgres, race

__all__ = ["postgres"]

pytestmark = pytest.mark.processes


def assert_nothing_is_lost(seen: dict[str, Any]) -> None:
    assert seen["writers"] == ["done"] * 8
    assert seen["wrong"] == []
    done = seen["done"]
    assert min(seen["scored"], seen["versions"], seen["compared"], done["rerun"], done["choose"], done["compare"]) > 0


@pytest.mark.embedded
def test_simultaneous_writers_lose_no_change_to_a_leaderboard_on_sqlite(tmp_path: Path) -> None:
    seen = race("race_entries.py", tmp_path, TEAM_EVALUATIONS_AT_ONCE="100")
    assert seen["vendor"] == "sqlite"
    assert_nothing_is_lost(seen)


@pytest.mark.services
def test_simultaneous_writers_lose_no_change_to_a_leaderboard_on_postgresql(tmp_path: Path, postgres: str) -> None:
    seen = race("race_entries.py", tmp_path, DATABASE_URL=postgres, TEAM_EVALUATIONS_AT_ONCE="100")
    assert seen["vendor"] == "postgresql"
    assert_nothing_is_lost(seen)


@pytest.mark.services
def test_the_history_of_a_leaderboard_is_correct_on_postgresql(tmp_path: Path, postgres: str) -> None:
    seen = race("play_history.py", tmp_path, DATABASE_URL=postgres, TEAM_EVALUATIONS_AT_ONCE="100")
    assert (seen["vendor"], seen["wrong"]) == ("postgresql", [])
    assert min(seen["done"][deed] for deed in ("record", "rerun", "choose", "disqualify", "apply_rescoring")) > 0
