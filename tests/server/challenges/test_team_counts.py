"""The numbers of teams in the list of challenges leave out baselines and merged teams, and may be half a minute old."""

import pytest
from django.core.cache import caches

from server.challenges.models import Phase, Team
from server.challenges.team_counts import team_counts
from server.clock import database_now
from tests.conftest import Make

pytestmark = pytest.mark.django_db


def test_baselines_and_merged_teams_are_not_counted(phase: Phase, make: Make) -> None:
    other, first, second, third = make.phase(), *(make.team(phase.challenge) for _ in range(3))
    Team.objects.filter(pk=second.pk).update(is_baseline=True)
    Team.objects.filter(pk=third.pk).update(merged_into=first, merged_at=database_now())
    assert team_counts([phase.challenge_id, other.challenge_id])[phase.challenge_id] == 1
    assert team_counts([]) == {}


def test_a_number_is_counted_again_when_it_is_no_longer_in_the_cache(phase: Phase, make: Make) -> None:
    key = phase.challenge_id
    assert team_counts([key]) == {key: 0}
    make.team(phase.challenge)
    assert team_counts([key]) == {key: 0}
    caches["status"].clear()
    assert team_counts([key]) == {key: 1}
