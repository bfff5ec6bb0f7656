"""After random changes to teams, no team exceeds its quota, and the quota ledger and the leaderboards are correct."""

import pytest

from server.leaderboards.services.verification import verify
from tests.server.teams.random_teams import RandomTeams

EVENTS, CHECKED = 300, 20

pytestmark = pytest.mark.usefixtures("inline_queue", "db", "own_folders")


def test_no_sequence_of_team_events_gains_quota_or_damages_a_leaderboard() -> None:
    world = RandomTeams(seed=1)
    for number in range(1, EVENTS + 1):
        event = world.happen()
        assert list(world.wrong()) == [], event
        if number % CHECKED == 0 or event.startswith("confirm"):
            assert [one for phase in world.phases for one in verify(phase)] == [], event
    assert {"accept", "leave", "confirm", "reject", "choose"} <= set(world.done)
    assert world.done["submit quota_exhausted"] > 0
