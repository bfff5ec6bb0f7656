"""Tests tie groups: teams with consecutive ranks whose scores do not differ significantly from that of the first team.

Two scores differ significantly if the confidence interval of their paired difference does not contain zero.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser
from django.db.models import F
from pytest_django import DjangoAssertNumQueries

from server.challenges.models import Phase, Team
from server.leaderboards.differences import difference_between, vectors_of
from server.leaderboards.queries import BoardRow, board
from server.submissions.models import Evaluation, Score, Submission
from server.submissions.signals import announce
from tests.conftest import Make, compare_boards
from tests.server.conftest import Scored

ANONYMOUS = AnonymousUser()
NAN = float("nan")


def compared(phase: Phase, start: int = 0, stop: int = 100, *, viewer: Any = ANONYMOUS) -> list[BoardRow]:
    """Compute ties and confidence intervals for ranks on all leaderboards, and return rows of the public one."""
    compare_boards()
    return board(phase, split="public", viewer=viewer).page(start, stop)


def ties(phase: Phase, start: int = 0, stop: int = 100) -> list[bool | None]:
    return [row.tied for row in compared(phase, start, stop)]


def around(mean: float, *, spread: float, seed: int) -> list[float]:
    random = Random(seed)
    return [mean + random.uniform(-spread, spread) for _ in range(200)]


def centred(mean: float, *, seed: int) -> list[float]:
    """Return random bootstrap replicates of a score, with a mean of exactly `mean`."""
    values = around(0, spread=0.1, seed=seed)
    return [value - sum(values) / len(values) + mean for value in values]


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_has_the_percentiles_that_numpy_computes(seed: int) -> None:
    one, other = around(0.5, spread=0.1, seed=seed), around(0.4, spread=0.1, seed=seed + 100)
    differences = np.array(one) - np.array(other)
    assert difference_between((7, one), (7, other), 0.1) == pytest.approx(
        tuple(np.percentile(differences, [2.5, 97.5])), abs=1e-15
    )


def test_draws_for_which_one_of_the_scores_is_undefined_are_left_out() -> None:
    assert difference_between((7, [0.5, NAN, 0.5]), (7, [0.25, 0.25, NAN]), 0.25) == (0.25, 0.25)
    assert difference_between((7, [NAN]), (7, [0.5]), 0.25) is None


def test_a_team_that_leads_on_nearly_all_draws_is_not_tied(phase: Phase, replicated: Callable[..., Submission]) -> None:
    lower = around(0.5, spread=0.1, seed=1)
    replicated(phase, lower)
    # Although the intervals of the two scores overlap, the second team is better in every bootstrap replicate.
    replicated(phase, [value + 0.001 for value in lower])
    assert ties(phase) == [False, False]


def test_a_team_that_leads_only_on_some_draws_is_tied(phase: Phase, replicated: Callable[..., Submission]) -> None:
    replicated(phase, around(0.5, spread=0.1, seed=1))
    replicated(phase, around(0.51, spread=0.1, seed=2))
    assert ties(phase) == [False, True]


def test_a_chain_of_ties_does_not_join_teams_that_differ(phase: Phase, replicated: Callable[..., Submission]) -> None:
    """Each team is tied with the team above it, but the third team differs from the first, and the fifth from the
    third.
    """
    common = around(0.5, spread=0.1, seed=1)
    for step in range(5):
        noise = around(-0.015 * step, spread=0.016, seed=step + 2)
        replicated(phase, [value + own for value, own in zip(common, noise, strict=True)])
    rows = board(phase, split="public", viewer=ANONYMOUS).rows
    vectors = vectors_of((row.evaluation_id for row in rows), split="public")
    chain = [(vectors[row.evaluation_id], row.score) for row in rows]
    ends = [
        difference_between(first, second, score - next_score)
        for (first, score), (second, next_score) in pairwise(chain)
    ]
    assert all(end is not None and end[0] <= 0 <= end[1] for end in ends)
    assert ties(phase) == [False, True, False, True, False]


def test_a_group_continues_on_the_next_page(
    phase: Phase, scored: Scored, replicated: Callable[..., Submission]
) -> None:
    for number in range(98):
        scored(phase, 0.9 + number / 1000)
    for mean, seed in ((0.5, 1), (0.49, 2), (0.48, 3)):
        replicated(phase, around(mean, spread=0.1, seed=seed))
    assert ties(phase, 98, 101) == [None, True, True]
    assert ties(phase, 100, 200) == [True]


def test_each_team_is_compared_with_the_first_team_of_its_group(
    phase: Phase, replicated: Callable[..., Submission]
) -> None:
    for mean, seed in ((0.9, 1), (0.89, 2), (0.5, 3), (0.2, 4), (0.19, 5)):
        replicated(phase, around(mean, spread=0.1, seed=seed))
    assert ties(phase) == [False, True, False, False, True]
    assert ties(phase, 1, 3) == [True, False]
    assert ties(phase, 4, 5) == [True]


def test_equal_files_are_tied(phase: Phase, replicated: Callable[..., Submission]) -> None:
    for _ in range(2):
        replicated(phase, [0.25, 0.5])
    assert ties(phase) == [False, True]


def test_without_replicates_ties_are_unknown(
    phase: Phase, scored: Scored, replicated: Callable[..., Submission]
) -> None:
    """A team without bootstrap replicates cannot be compared, so it is unknown whether the team is tied."""
    replicated(phase, [0.25, 0.5])
    scored(phase, 0.375)
    assert ties(phase) == [False, None]
    replicated(phase, [0.2, 0.3])
    assert ties(phase) == [False, None, None]


def test_a_baseline_between_two_tied_teams_does_not_hide_their_tie(
    phase: Phase, make: Make, replicated: Callable[..., Submission]
) -> None:
    nobody = make.team(phase.challenge, is_baseline=True)
    replicated(phase, around(0.52, spread=0.1, seed=1))
    replicated(phase, [0.51, 0.51], team=nobody)
    replicated(phase, around(0.5, spread=0.1, seed=2))
    rows = compared(phase, 0, 3)
    assert [row.baseline for row in rows] == [False, True, False]
    assert [row.tied for row in rows] == [False, None, True]
    assert [row.joined for row in rows] == [False, True, True]


def test_a_baseline_between_two_different_teams_is_in_neither_group(
    phase: Phase, make: Make, replicated: Callable[..., Submission]
) -> None:
    nobody = make.team(phase.challenge, is_baseline=True)
    lower = around(0.3, spread=0.01, seed=1)
    replicated(phase, [value + 0.3 for value in lower])
    replicated(phase, [value + 0.1 for value in lower], team=nobody)
    replicated(phase, lower)
    rows = compared(phase, 0, 3)
    assert [row.tied for row in rows] == [False, None, False]
    assert not any(row.joined for row in rows)


def test_a_tie_can_span_baselines_and_pages(phase: Phase, make: Make, replicated: Callable[..., Submission]) -> None:
    """The leaderboard has a team, two baselines and a second team. A page may begin or end at any of these rows."""
    replicated(phase, [0.25, 0.75])
    for value in (0.49, 0.48):
        replicated(phase, [value, value], team=make.team(phase.challenge, is_baseline=True))
    replicated(phase, [0.75, 0.19])
    whole = compared(phase, 0, 4)
    assert [row.joined for row in whole] == [False, True, True, True]
    for start in range(4):
        for stop in range(start + 1, 5):
            part = compared(phase, start, stop)
            assert part == whole[start:stop], (start, stop)


def test_under_ladder_feedback_no_teams_are_compared_until_the_end(
    make: Make, replicated: Callable[..., Submission]
) -> None:
    now = datetime.now(UTC)
    phase = make.phase(feedback="ladder", closes_at=now + timedelta(days=1))
    for values in ([0.25, 0.5], [0.3, 0.44]):
        submission = replicated(phase, values)
        Evaluation.objects.filter(submission=submission).update(published=F("pk"))
        announce(phase, [submission.team_id])
    assert ties(phase) == [None, None]
    organizer = compared(phase, 0, 2, viewer=make.user(is_staff=True))
    assert [row.tied for row in organizer] == [False, True]
    Phase.objects.update(closes_at=now - timedelta(seconds=1))
    phase.refresh_from_db()
    assert ties(phase) == [False, True]


def test_ties_are_determined_by_the_interval_that_participants_see(
    phase: Phase, make: Make, replicated: Callable[..., Submission]
) -> None:
    """The interval of the difference is 0.0001 to 0.2. After outward rounding, the shown interval contains zero.

    Organizers see exact intervals, but the same tie groups.
    """
    replicated(phase, [0.5001, 0.7] * 100)
    replicated(phase, [0.5, 0.5] * 100)
    assert ties(phase) == [False, True]
    assert [row.tied for row in compared(phase, viewer=make.user(is_staff=True))] == [False, True]


def test_equal_scores_are_tied_regardless_of_their_replicates(
    phase: Phase, replicated: Callable[..., Submission]
) -> None:
    for values in ([0.5, 0.7], [0.3, 0.5]):
        submission = replicated(phase, values)
        Score.objects.filter(evaluation__submission=submission).update(value=0.5)
        announce(phase, [submission.team_id])
    assert ties(phase) == [False, True]


def test_a_team_that_is_worse_in_every_replicate_but_scores_higher_is_tied(
    phase: Phase, replicated: Callable[..., Submission]
) -> None:
    """The interval of the difference contains the difference, so it cannot show that the lower score is better."""
    first = replicated(phase, [0.3, 0.5])
    Score.objects.filter(evaluation__submission=first).update(value=0.9)
    announce(phase, [first.team_id])
    replicated(phase, [0.5, 0.7])
    assert ties(phase) == [False, True]


def test_without_a_standard_error_scores_are_compared_exactly(
    phase: Phase, replicated: Callable[..., Submission]
) -> None:
    for value in (0.5, 0.5, 0.49999):
        replicated(phase, [value] * 30)
    assert ties(phase) == [False, True, False]


@pytest.mark.parametrize("other", [{"seed": 1}, {"values": [0.5, 0.25, 0.375]}])
def test_replicates_of_different_draws_cannot_be_paired(
    phase: Phase, replicated: Callable[..., Submission], other: dict[str, Any]
) -> None:
    replicated(phase, [0.25, 0.5])
    replicated(phase, **{"values": [0.5, 0.25], **other})
    assert ties(phase) == [False, None]


def test_the_number_of_queries_does_not_depend_on_the_number_of_rows(
    phase: Phase, replicated: Callable[..., Submission], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        replicated(phase, [number / 10, number / 10])
    lines = board(phase, split="public", viewer=ANONYMOUS)
    with django_assert_num_queries(2):  # One query reads the entries of the leaderboard, and one reads their metrics.
        lines.page(0, 5)


def test_a_team_above_that_is_not_compared_yet_leaves_ties_unknown(
    phase: Phase, replicated: Callable[..., Submission]
) -> None:
    """Until the next comparison, it is unknown whether the rows below a changed row are tied with the changed row."""
    for mean, seed in ((0.5, 1), (0.49, 2), (0.48, 3), (0.1, 4)):
        replicated(phase, centred(mean, seed=seed))
    assert ties(phase) == [False, True, True, False]
    replicated(phase, centred(0.495, seed=5))
    between = [row.tied for row in board(phase, split="public", viewer=ANONYMOUS).rows]
    assert between == [False, None, None, True, False]
    assert ties(phase) == [False, True, True, True, False]


def test_after_the_first_team_of_a_group_has_left_its_ties_are_unknown(
    phase: Phase, replicated: Callable[..., Submission]
) -> None:
    first = replicated(phase, centred(0.5, seed=1))
    for mean, seed in ((0.49, 2), (0.48, 3)):
        replicated(phase, centred(mean, seed=seed))
    best = replicated(phase, centred(0.9, seed=4))
    assert ties(phase) == [False, False, True, True]
    Team.objects.filter(pk=first.team_id).update(disqualified_at=datetime.now(UTC), disqualification_reason="why")
    announce(phase, [first.team_id])
    between = board(phase, split="public", viewer=ANONYMOUS).rows
    assert (between[0].team_id, [row.tied for row in between]) == (best.team_id, [False, None, True])
    assert ties(phase) == [False, False, True]


def test_a_leaderboard_of_an_earlier_time_has_no_ties(phase: Phase, replicated: Callable[..., Submission]) -> None:
    """Ties are stored only for the current entries of a leaderboard."""
    for seed in (1, 2):
        replicated(phase, around(0.5, spread=0.1, seed=seed))
    assert ties(phase) == [False, True]
    past = board(phase, split="public", viewer=ANONYMOUS, at=datetime.now(UTC) - timedelta(milliseconds=1))
    assert past.past is not None
    assert [row.tied for row in past.rows] == [None, None]
    assert not any(row.joined for row in past.rows)
