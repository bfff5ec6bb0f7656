"""A tie group ends before a team whose interval of paired differences to the first team does not contain zero."""

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

from server.challenges.models import Phase
from server.leaderboards.queries import board
from server.leaderboards.ties import are_tied, paired_interval, vectors_of, with_ties
from server.submissions.feedback import score_access
from server.submissions.models import Evaluation, Submission
from server.submissions.signals import announce
from tests.conftest import Make
from tests.server.conftest import Scored

ANONYMOUS = AnonymousUser()
NAN = float("nan")


def ties(phase: Phase, start: int = 0, stop: int = 100) -> list[bool | None]:
    return [row.tied for row in with_ties(board(phase, split="public", viewer=ANONYMOUS), start, stop)]


def around(mean: float, *, spread: float, seed: int) -> list[float]:
    random = Random(seed)
    return [mean + random.uniform(-spread, spread) for _ in range(200)]


@pytest.mark.parametrize("seed", range(3))
def test_interval_is_that_of_numpy(seed: int) -> None:
    one, other = around(0.5, spread=0.1, seed=seed), around(0.4, spread=0.1, seed=seed + 100)
    differences = np.array(one) - np.array(other)
    assert paired_interval(one, other) == pytest.approx(tuple(np.percentile(differences, [2.5, 97.5])), abs=1e-15)


def test_draws_on_which_one_is_undefined_are_left_out() -> None:
    assert paired_interval([0.5, NAN, 0.5], [0.25, 0.25, NAN]) == (0.25, 0.25)
    assert paired_interval([NAN], [0.5]) is None


def test_a_team_that_leads_on_nearly_all_draws_is_not_tied(phase: Phase, replicated: Callable[..., Submission]) -> None:
    lower = around(0.5, spread=0.1, seed=1)
    replicated(phase, lower)
    replicated(phase, [value + 0.001 for value in lower])  # although their own intervals overlap
    assert ties(phase) == [False, False]


def test_a_team_that_leads_only_on_some_draws_is_tied(phase: Phase, replicated: Callable[..., Submission]) -> None:
    replicated(phase, around(0.5, spread=0.1, seed=1))
    replicated(phase, around(0.51, spread=0.1, seed=2))
    assert ties(phase) == [False, True]


def test_a_chain_of_ties_does_not_join_teams_that_differ(phase: Phase, replicated: Callable[..., Submission]) -> None:
    """Each team is tied with the one above it, but the third differs from the first, and the fifth from the third."""
    common = around(0.5, spread=0.1, seed=1)
    for step in range(5):
        noise = around(-0.015 * step, spread=0.016, seed=step + 2)
        replicated(phase, [value + own for value, own in zip(common, noise, strict=True)])
    rows = board(phase, split="public", viewer=ANONYMOUS).rows
    vectors = vectors_of((row.evaluation_id for row in rows), split="public")
    chain = [vectors[row.evaluation_id] for row in rows]
    access = score_access(phase, viewer=ANONYMOUS, now=datetime.now(UTC))
    assert all(are_tied(one, other, access=access) for one, other in pairwise(chain))
    assert ties(phase) == [False, True, False, True, False]


def test_groups_begin_anew_on_each_page(phase: Phase, scored: Scored, replicated: Callable[..., Submission]) -> None:
    for number in range(99):
        scored(phase, 0.9 + number / 1000)
    for mean, seed in ((0.5, 1), (0.49, 2), (0.48, 3)):
        replicated(phase, around(mean, spread=0.1, seed=seed))
    assert ties(phase, 99, 102) == [None, False, True]
    assert ties(phase, 101, 102) == [True]


def test_each_is_compared_with_the_first_of_its_group(phase: Phase, replicated: Callable[..., Submission]) -> None:
    for mean, seed in ((0.9, 1), (0.89, 2), (0.5, 3), (0.2, 4), (0.19, 5)):
        replicated(phase, around(mean, spread=0.1, seed=seed))
    assert ties(phase) == [False, True, False, False, True]
    assert ties(phase, 1, 3) == [True, False]
    assert ties(phase, 4, 5) == [True]


def test_equal_files_are_tied(phase: Phase, replicated: Callable[..., Submission]) -> None:
    for _ in range(2):
        replicated(phase, [0.25, 0.5])
    assert ties(phase) == [False, True]


def test_without_replicates_it_is_not_known(
    phase: Phase, scored: Scored, replicated: Callable[..., Submission]
) -> None:
    """Such teams are neither tied nor different, because they were not compared."""
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
    rows = with_ties(board(phase, split="public", viewer=ANONYMOUS), 0, 3)
    assert [row.baseline for row in rows] == [False, True, False]
    assert [row.tied for row in rows] == [False, None, True]
    assert [row.joined for row in rows] == [False, True, True]


def test_a_baseline_between_two_different_teams_joins_neither(
    phase: Phase, make: Make, replicated: Callable[..., Submission]
) -> None:
    nobody = make.team(phase.challenge, is_baseline=True)
    lower = around(0.3, spread=0.01, seed=1)
    replicated(phase, [value + 0.3 for value in lower])
    replicated(phase, [value + 0.1 for value in lower], team=nobody)
    replicated(phase, lower)
    rows = with_ties(board(phase, split="public", viewer=ANONYMOUS), 0, 3)
    assert [row.tied for row in rows] == [False, None, False]
    assert not any(row.joined for row in rows)


def test_a_tie_reaches_past_baselines_from_page_to_page(
    phase: Phase, make: Make, replicated: Callable[..., Submission]
) -> None:
    """The rows are a team, two baselines and a team. A page may begin and end at any of them."""
    replicated(phase, [0.25, 0.75])
    for value in (0.49, 0.48):
        replicated(phase, [value, value], team=make.team(phase.challenge, is_baseline=True))
    replicated(phase, [0.75, 0.19])
    whole = with_ties(board(phase, split="public", viewer=ANONYMOUS), 0, 4)
    assert [row.joined for row in whole] == [False, True, True, True]
    for start in range(4):
        for stop in range(start + 1, 5):
            part = with_ties(board(phase, split="public", viewer=ANONYMOUS), start, stop)
            assert part == whole[start:stop], (start, stop)


def test_under_a_ladder_no_teams_are_compared_until_the_end(make: Make, replicated: Callable[..., Submission]) -> None:
    now = datetime.now(UTC)
    phase = make.phase(feedback="ladder", closes_at=now + timedelta(days=1))
    for values in ([0.25, 0.5], [0.3, 0.44]):
        submission = replicated(phase, values)
        Evaluation.objects.filter(submission=submission).update(published=F("pk"))
        announce(phase, [submission.team_id])
    assert ties(phase) == [None, None]
    organizer = with_ties(board(phase, split="public", viewer=make.user(is_staff=True)), 0, 2)
    assert [row.tied for row in organizer] == [False, True]
    Phase.objects.update(closes_at=now - timedelta(seconds=1))
    phase.refresh_from_db()
    assert ties(phase) == [False, True]


def test_a_tie_follows_the_interval_as_it_is_shown(
    phase: Phase, make: Make, replicated: Callable[..., Submission]
) -> None:
    """The interval of the difference is 0.0001 to 0.2. It is shown rounded outward, so that it contains zero."""
    replicated(phase, [0.5001, 0.7] * 100)
    replicated(phase, [0.5, 0.5] * 100)
    assert ties(phase) == [False, True]
    organizer = with_ties(board(phase, split="public", viewer=make.user(is_staff=True)), 0, 2)
    assert [row.tied for row in organizer] == [False, False]


@pytest.mark.parametrize("other", [{"seed": 1}, {"values": [0.5, 0.25, 0.375]}])
def test_other_draws_cannot_be_paired(
    phase: Phase, replicated: Callable[..., Submission], other: dict[str, Any]
) -> None:
    replicated(phase, [0.25, 0.5])
    replicated(phase, **{"values": [0.5, 0.25], **other})
    assert ties(phase) == [False, None]


def test_any_number_of_rows_takes_the_same_queries(
    phase: Phase, replicated: Callable[..., Submission], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        replicated(phase, [number / 10, number / 10])
    lines = board(phase, split="public", viewer=ANONYMOUS)
    with django_assert_num_queries(3):  # entries, their metrics, their replicates
        with_ties(lines, 0, 5)
