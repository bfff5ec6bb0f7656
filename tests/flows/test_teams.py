"""Random changes to teams never yield additional quota, and simultaneous changes never exceed a team's limits.

The tests run on SQLite and on PostgreSQL.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.flows.test_quota_race import postgres, race

__all__ = ["postgres"]

pytestmark = pytest.mark.processes


def assert_nothing_is_wrong(seen: dict[str, Any], vendor: str) -> None:
    assert (seen["vendor"], seen["wrong"]) == (vendor, [])
    assert min(seen["done"][event] for event in ("accept", "leave", "confirm", "reject", "submit")) > 0


@pytest.mark.embedded
def test_changes_of_teams_gain_no_quota_on_sqlite(tmp_path: Path) -> None:
    assert_nothing_is_wrong(race("play_teams.py", tmp_path, TEAM_EVALUATIONS_AT_ONCE="100", EVENTS="1500"), "sqlite")


@pytest.mark.services
def test_changes_of_teams_gain_no_quota_on_postgresql(tmp_path: Path, postgres: str) -> None:
    seen = race("play_teams.py", tmp_path, DATABASE_URL=postgres, TEAM_EVALUATIONS_AT_ONCE="100", EVENTS="1500")
    assert_nothing_is_wrong(seen, "postgresql")


def assert_races_are_decided(seen: dict[str, Any], vendor: str) -> None:
    assert seen["vendor"] == vendor
    # Including the captain, the team has three members, which is the limit.
    assert seen["full"] == {"done": 2, "change_refused": 6}
    assert seen["same_link"] == {"done": 1, "not_found": 5}
    assert seen["sizes"] == [3, 2]
    assert seen["two_teams"]["done"] + seen["two_teams"].get("change_refused", 0) == 4
    assert seen["teams_of_one_person"] == 1
    assert seen["ring_largest"] <= 3
    assert seen["ring_captains"] == [1]


@pytest.mark.embedded
def test_people_who_join_and_merge_at_once_exceed_no_limit_on_sqlite(tmp_path: Path) -> None:
    assert_races_are_decided(race("race_teams.py", tmp_path), "sqlite")


@pytest.mark.services
def test_people_who_join_and_merge_at_once_exceed_no_limit_on_postgresql(tmp_path: Path, postgres: str) -> None:
    assert_races_are_decided(race("race_teams.py", tmp_path, DATABASE_URL=postgres), "postgresql")
