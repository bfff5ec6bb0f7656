"""Tests the difference between a team's score now and a week ago, and the interval that a worker computes for it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from server.challenges.models import Phase, Team
from server.clock import database_now
from server.leaderboards.earlier_ranks import with_changes
from server.leaderboards.models import ComparedEntry, Comparison
from server.leaderboards.queries import BoardRow, board
from server.submissions.models import Score, Submission
from server.submissions.signals import announce
from tests.conftest import Make, compare_boards
from tests.server.conftest import refresh_boards
from tests.server.leaderboards.random_history import ANYBODY
from worker.comparisons import gains as gains_module
from worker.comparisons.verification import wrong_comparisons

NOW = datetime.now(UTC)
DAY = timedelta(days=1)

pytestmark = pytest.mark.phase(challenge={"opens_at": NOW - 30 * DAY, "closes_at": NOW + DAY})


@pytest.fixture
def teams(phase: Phase, make: Make, replicated: Callable[..., Submission]) -> list[Team]:
    """Create two teams whose first entries are 20 days old. The first team has improved since then."""
    found = [make.team(phase.challenge) for _ in range(2)]
    replicated(phase, [0.25, 0.5], team=found[0], at=NOW - 20 * DAY)
    replicated(phase, [0.125, 0.125], team=found[1], at=NOW - 20 * DAY)
    replicated(phase, [0.5, 0.625], team=found[0], at=NOW - DAY)
    return found


def rows(phase: Phase) -> list[BoardRow]:
    found = board(phase, split="public", viewer=ANYBODY)
    return with_changes(found, found.rows)


def test_a_changed_score_has_the_interval_of_the_paired_difference(phase: Phase, teams: list[Team]) -> None:
    assert [row.gain for row in rows(phase)] == [None, None]
    compare_boards()
    changed, same = rows(phase)
    assert changed.gain is not None
    assert changed.earlier is not None
    assert changed.score - (changed.earlier.score or 0) == 0.1875
    assert 0.12 < changed.gain.interval[0] < changed.gain.interval[1] < 0.26
    assert same.gain is None
    assert not list(wrong_comparisons(phase))


def test_the_interval_of_a_changed_score_contains_the_change(phase: Phase, teams: list[Team]) -> None:
    """The replicates of the new score exceed those of the earlier score by 0.125 to 0.25, but the score by 0.375."""
    best = Submission.objects.filter(team=teams[0]).latest("received_at")
    Score.objects.filter(evaluation__submission=best).update(value=0.75)
    announce(phase, [teams[0].pk])
    compare_boards()
    gain = rows(phase)[0].gain
    assert gain is not None
    assert gain.interval[0] < 0.14
    assert gain.interval[1] >= 0.375


@pytest.mark.phase(feedback="rounded", feedback_decimals=1)
def test_the_interval_is_rounded_outward_as_the_phase_rounds(phase: Phase, teams: list[Team]) -> None:
    compare_boards()
    gain = rows(phase)[0].gain
    assert gain is not None
    assert gain.interval == (0.1, 0.3)


@pytest.mark.phase(feedback="rounded", feedback_decimals=1)
def test_the_interval_of_a_gain_does_not_reveal_that_one_image_is_better(
    phase: Phase, make: Make, replicated: Callable[..., Submission]
) -> None:
    team = make.team(phase.challenge)
    replicated(phase, [0.3125, 0.3125], team=team, at=NOW - 20 * DAY)
    replicated(phase, [0.3125, 0.328125], team=team, at=NOW - DAY)
    compare_boards()
    (row,) = rows(phase)
    assert row.gain is not None
    assert row.gain.interval == (-0.1, 0.1)


@pytest.mark.phase(feedback="ladder")
def test_under_ladder_feedback_nothing_is_compared_with_a_week_ago(phase: Phase, teams: list[Team]) -> None:
    refresh_boards()
    compare_boards()
    assert set(ComparedEntry.objects.values_list("earlier", "gain_low")) == {(None, None)}


def test_without_replicates_of_equal_draws_the_interval_is_unknown(
    phase: Phase, make: Make, replicated: Callable[..., Submission]
) -> None:
    team = make.team(phase.challenge)
    replicated(phase, [0.25, 0.5], team=team, at=NOW - 20 * DAY)
    replicated(phase, [0.5, 0.75], team=team, at=NOW - DAY, seed=1)
    compare_boards()
    assert [row.gain for row in rows(phase)] == [None]
    assert set(ComparedEntry.objects.values_list("gain_low", flat=True)) == {None}


def test_the_next_day_the_public_leaderboard_is_compared_again(phase: Phase, teams: list[Team]) -> None:
    compare_boards()
    assert not Comparison.objects.due(database_now() + timedelta(minutes=1)).exists()
    due = Comparison.objects.due(database_now() + DAY)
    assert [one.board.kind for one in due] == ["public"]


def test_an_interval_of_another_week_is_not_shown(phase: Phase, teams: list[Team]) -> None:
    compare_boards()
    ComparedEntry.objects.filter(gain_low__isnull=False).update(earlier=0)
    assert [row.gain for row in rows(phase)] == [None, None]


def test_many_differences_take_several_comparisons(
    phase: Phase, teams: list[Team], make: Make, replicated: Callable[..., Submission], monkeypatch: Any
) -> None:
    monkeypatch.setattr(gains_module, "AT_ONCE", 1)
    replicated(phase, [0.25, 0.75], team=teams[1], at=NOW - DAY)
    compare_boards()
    assert all(row.gain for row in rows(phase))
