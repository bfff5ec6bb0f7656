"""If organizers change how many final submissions a team can choose, the periodic sweeper updates the leaderboards."""

from datetime import timedelta
from typing import Any

import pytest

from server.challenges.models import Phase, Team
from server.clock import database_now
from server.leaderboards.models import Entry
from server.leaderboards.services.verification import verify
from server.leaderboards.standings import standing
from server.submissions.services.sweeping import sweep
from tests.conftest import Make
from tests.server.conftest import Scored

pytestmark = [pytest.mark.phase(finals=2), pytest.mark.usefixtures("inline_queue")]


@pytest.fixture
def team(phase: Phase, make: Make, scored: Scored) -> Team:
    """Create a team whose submissions with higher public scores have lower private scores."""
    team = make.team(phase.challenge)
    for score in (0.9, 0.8, 0.7):
        scored(phase, score, private=1 - score, team=team)
    return team


def private() -> Any:
    return Entry.objects.filter(board__kind="private").order_by("pk")


def change_finals(phase: Phase, number: int) -> None:
    phase.finals = number
    phase.save(update_fields=["finals"])


@pytest.mark.parametrize(("number", "score"), [(1, 1 - 0.9), (3, 1 - 0.7)])
def test_the_sweeper_applies_a_changed_number_of_final_submissions(
    phase: Phase, team: Team, number: int, score: float
) -> None:
    (before,) = private().present()
    change_finals(phase, number)
    assert list(private().present()) == [before]
    assert list(verify(phase)) == []
    sweep(files=False)
    assert [entry.score for entry in private().present()] == [score]
    assert private().get(pk=before.pk).valid_until == private().present().get().valid_from
    assert [terms.finals for terms in phase.board_terms.order_by("pk")][-2:] == [2, number]
    assert list(verify(phase)) == []


def test_a_lower_number_also_limits_teams_that_selected_more_submissions_before(
    phase: Phase, make: Make, scored: Scored
) -> None:
    team = make.team(phase.challenge)
    _, worse = (scored(phase, score, private=1 - score, team=team, final=True) for score in (0.8, 0.7))
    scored(phase, 0.9, private=0.05, team=team)
    assert [entry.score for entry in private().present()] == [1 - 0.7]
    change_finals(phase, 1)
    sweep(files=False)
    assert [entry.score for entry in private().present()] == [1 - 0.8]
    assert list(verify(phase)) == []
    over = database_now() + timedelta(days=2)
    phase.closes_at = over - timedelta(days=1)
    phase.save(update_fields=["closes_at"])
    assert "more final submissions than are allowed now" in standing(worse, now=over).why_not


def test_scores_that_are_recorded_before_the_sweep_have_entries_of_the_previous_number(
    phase: Phase, team: Team, scored: Scored
) -> None:
    change_finals(phase, 1)
    scored(phase, 0.85, private=0.95, team=team)
    assert [entry.score for entry in private().present()] == [0.95]
    assert list(verify(phase)) == []
    sweep(files=False)
    assert [entry.score for entry in private().present()] == [1 - 0.9]


def test_all_entries_change_at_the_same_moment(phase: Phase, make: Make, scored: Scored) -> None:
    for _ in range(3):
        team = make.team(phase.challenge)
        for score in (0.9, 0.8):
            scored(phase, score, private=1 - score, team=team)
    change_finals(phase, 1)
    sweep(files=False)
    assert private().present().values("valid_from").distinct().count() == 1
    assert private().present().filter(valid_from__gt=database_now() - timedelta(minutes=1)).count() == 3


def test_a_sweep_without_a_change_writes_no_new_row_of_settings(phase: Phase, team: Team) -> None:
    terms = phase.board_terms.count()
    sweep(files=False)
    change_finals(phase, 2)
    sweep(files=False)
    assert phase.board_terms.count() == terms
