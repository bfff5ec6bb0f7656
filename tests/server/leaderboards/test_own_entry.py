"""Tests the percentile of the viewer's own team, and the gap between its score and that of the next higher rank."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from server.challenges.models import Phase, Team
from server.clock import database_now
from server.leaderboards.models import ComparedEntry
from server.leaderboards.own_entry import NEAREST, NextRank, OwnEntry, own_entry
from server.leaderboards.queries import board
from server.submissions.models import Submission
from tests.conftest import Make, compare_boards
from tests.server.conftest import Scored, refresh_boards
from tests.server.leaderboards.random_history import ANYBODY
from worker.comparisons.verification import wrong_comparisons


def own(phase: Phase, team: Team) -> OwnEntry:
    found = board(phase, split="public", viewer=ANYBODY)
    row = found.row_of(team.pk)
    assert row is not None
    return own_entry(found, row)


def test_the_next_rank_is_that_of_the_nearest_higher_score(phase: Phase, make: Make, scored: Scored) -> None:
    teams = [make.team(phase.challenge) for _ in range(5)]
    for team, score in zip(teams, (0.875, 0.75, 0.75, 0.5, 0.5), strict=True):
        scored(phase, score, team=team)
    assert [own(phase, team).next_rank for team in teams] == [
        None,
        *[NextRank(1, 0.125, None)] * 2,
        *[NextRank(2, 0.25, None)] * 2,
    ]
    assert [own(phase, team).percentile for team in teams] == [100, 80, 80, 40, 40]
    assert [own(phase, team).top_percent for team in teams] == [20, 40, 40, 80, 80]


@pytest.mark.parametrize("count", [NEAREST - 1, NEAREST, NEAREST + 1])
def test_the_next_rank_is_right_however_many_teams_share_it(
    phase: Phase, make: Make, scored: Scored, count: int
) -> None:
    team, now = make.team(phase.challenge), database_now()
    for score in (0.875, *[0.75] * count):
        scored(phase, score, at=now - timedelta(hours=4))
    scored(phase, 0.5, team=team, at=now - timedelta(hours=4))
    past = board(phase, split="public", at=now - timedelta(hours=2), viewer=ANYBODY)
    row = past.row_of(team.pk)
    assert row is not None
    assert (own_entry(past, row).next_rank, own(phase, team).next_rank) == (NextRank(2, 0.25, None),) * 2


def test_a_baseline_has_no_next_rank_and_is_not_the_next_rank_of_a_team(
    phase: Phase, make: Make, scored: Scored
) -> None:
    baseline, team = make.team(phase.challenge, is_baseline=True), make.team(phase.challenge)
    scored(phase, 0.75, team=baseline)
    scored(phase, 0.5, team=team)
    assert (own(phase, baseline).next_rank, own(phase, baseline).percentile) == (None, None)
    assert own(phase, team).next_rank is None


@pytest.mark.parametrize(
    ("values", "may_be_luck"),
    [
        # The team's score is lower than the first team's in both bootstrap replicates, so the gap is not due to chance.
        ([0.25, 0.5], False),
        # The team's score is higher than the first team's in one bootstrap replicate, so the gap may be due to chance.
        ([0.25, 0.75], True),
    ],
)
def test_whether_the_gap_may_be_due_to_chance_is_known_after_a_comparison(
    phase: Phase, make: Make, replicated: Callable[..., Submission], values: list[float], may_be_luck: bool
) -> None:
    team = make.team(phase.challenge)
    replicated(phase, [0.5, 0.625])
    replicated(phase, values, team=team)
    assert own(phase, team).next_rank == NextRank(1, 0.5625 - sum(values) / 2, None)
    compare_boards()
    assert own(phase, team).next_rank == NextRank(1, 0.5625 - sum(values) / 2, may_be_luck)
    assert not list(wrong_comparisons(phase))
    ComparedEntry.objects.filter(next_up__isnull=False).update(next_up_tied=not may_be_luck)
    assert list(wrong_comparisons(phase))


def test_a_comparison_with_a_different_entry_is_not_used(
    phase: Phase, make: Make, replicated: Callable[..., Submission], scored: Scored
) -> None:
    team = make.team(phase.challenge)
    replicated(phase, [0.75, 0.75])
    replicated(phase, [0.25, 0.25], team=team)
    compare_boards()
    scored(phase, 0.5)
    assert own(phase, team).next_rank == NextRank(2, 0.25, None)


@pytest.mark.phase(feedback="rounded", feedback_decimals=1)
def test_the_gap_is_the_difference_of_the_shown_scores(phase: Phase, make: Make, scored: Scored) -> None:
    team = make.team(phase.challenge)
    scored(phase, 0.5625)
    scored(phase, 0.4375, team=team)
    assert own(phase, team).next_rank == NextRank(1, 0.2, None)


@pytest.mark.phase(feedback="ladder")
def test_ladder_feedback_shows_no_next_rank(phase: Phase, make: Make, scored: Scored) -> None:
    team = make.team(phase.challenge)
    for one in (scored(phase, 0.75), scored(phase, 0.5, team=team)):
        evaluation = one.evaluations.get()
        evaluation.published = evaluation
        evaluation.save()
    refresh_boards()
    found = own(phase, team)
    assert (found.row.rank, found.percentile, found.next_rank) == (2, 50, None)


def test_a_leaderboard_of_an_earlier_time_has_its_own_next_rank(
    phase: Phase, make: Make, replicated: Callable[..., Submission]
) -> None:
    team, now = make.team(phase.challenge), database_now()
    replicated(phase, [0.75, 0.75], at=now - timedelta(hours=4))
    replicated(phase, [0.25, 0.25], team=team, at=now - timedelta(hours=4))
    replicated(phase, [0.5, 0.5], at=now - timedelta(hours=1))
    compare_boards()
    past = board(phase, split="public", at=now - timedelta(hours=2), viewer=ANYBODY)
    row = past.row_of(team.pk)
    assert row is not None
    assert own_entry(past, row).next_rank == NextRank(1, 0.5, None)
    assert own(phase, team).next_rank == NextRank(2, 0.25, False)
