"""Tests confidence intervals for ranks: which teams get a simultaneous or an individual interval, and who sees them."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser

from evaluator.metrics.bootstrap import Numbers
from evaluator.metrics.rank_intervals import individual_rank_intervals, top_rank_intervals
from server.challenges.models import Phase
from server.leaderboards.models import ComparedEntry
from server.leaderboards.queries import BoardRow, board
from server.leaderboards.standings import standing
from server.submissions.models import Score, Submission
from server.submissions.signals import announce
from tests.conftest import Make, compare_boards
from tests.server.conftest import Scored
from worker.comparisons import comparing, rank_sets
from worker.comparisons.board_rows import BoardRows, Line

Ends = tuple[int, int]


def around(mean: float, *, spread: float = 0.01, seed: int) -> list[float]:
    """Return random bootstrap replicates of a score, with a mean of exactly `mean`."""
    random = Random(seed)
    values = [random.gauss(0, spread) for _ in range(200)]
    return [value - sum(values) / len(values) + mean for value in values]


def rows(phase: Phase) -> list[BoardRow]:
    return board(phase, split="public", viewer=AnonymousUser()).rows


def ends(phase: Phase) -> list[Ends | None]:
    compare_boards()
    return [row.rank_interval and (row.rank_interval.low, row.rank_interval.high) for row in rows(phase)]


def individual(phase: Phase) -> list[bool | None]:
    return [row.rank_interval and row.rank_interval.individual for row in rows(phase)]


@pytest.fixture
def first_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute simultaneous rank intervals for the first two teams of a leaderboard instead of the first 100."""
    for module in (comparing, rank_sets):
        monkeypatch.setattr(module, "TOP", 2)
    monkeypatch.setattr(
        rank_sets, "top_rank_intervals", lambda *args, **options: top_rank_intervals(*args, 2, **options)
    )


def test_teams_that_are_far_apart_have_one_rank_each(phase: Phase, replicated: Callable[..., Submission]) -> None:
    for number in range(3):
        replicated(phase, around(0.2 + number / 5, seed=number))
    assert ends(phase) == [(1, 1), (2, 2), (3, 3)]
    assert individual(phase) == [False] * 3


def test_teams_that_are_close_share_ranks(phase: Phase, replicated: Callable[..., Submission]) -> None:
    for mean, seed in ((0.5, 1), (0.501, 2), (0.2, 3)):
        replicated(phase, around(mean, seed=seed))
    assert ends(phase) == [(1, 2), (1, 2), (3, 3)]


def test_a_baseline_takes_no_rank(phase: Phase, make: Make, replicated: Callable[..., Submission]) -> None:
    replicated(phase, around(0.5, seed=1))
    replicated(phase, around(0.4, seed=2), team=make.team(phase.challenge, is_baseline=True))
    replicated(phase, around(0.3, seed=3))
    assert ends(phase) == [(1, 1), None, (2, 2)]


def test_equal_scores_share_their_ranks(phase: Phase, replicated: Callable[..., Submission]) -> None:
    for number in range(2):
        submission = replicated(phase, around(0.3 + number / 5, seed=number))
        Score.objects.filter(evaluation__submission=submission).update(value=0.5)
        announce(phase, [submission.team_id])
    assert ends(phase) == [(1, 2), (1, 2)]


def test_without_a_standard_error_scores_are_compared_exactly(
    phase: Phase, replicated: Callable[..., Submission]
) -> None:
    for value in (0.5, 0.5, 0.49999):
        replicated(phase, [value] * 30)
    assert ends(phase) == [(1, 2), (1, 2), (3, 3)]


def test_a_team_without_replicates_could_have_any_rank(
    phase: Phase, scored: Scored, replicated: Callable[..., Submission]
) -> None:
    replicated(phase, around(0.5, seed=1))
    replicated(phase, around(0.3, seed=2))
    scored(phase, 0.9)
    assert ends(phase) == [None, (1, 2), (2, 3)]


def test_rounded_scores_widen_the_intervals(make: Make, replicated: Callable[..., Submission]) -> None:
    phase = make.phase(feedback="rounded", feedback_decimals=2)
    for mean, seed in ((0.5, 1), (0.509, 2), (0.3, 3)):
        replicated(phase, around(mean, spread=1e-4, seed=seed))
    assert ends(phase) == [(1, 2), (1, 2), (3, 3)]
    phase.feedback_decimals = 3
    phase.save()
    assert ends(phase) == [(1, 1), (2, 2), (3, 3)]


@pytest.mark.usefixtures("first_two")
def test_a_team_further_down_gets_an_individual_interval_with_its_time(
    phase: Phase, replicated: Callable[..., Submission]
) -> None:
    for mean, seed in ((0.9, 1), (0.8, 2), (0.5, 3), (0.499, 4)):
        replicated(phase, around(mean, seed=seed))
    assert ends(phase) == [(1, 1), (2, 2), (3, 4), (3, 4)]
    assert individual(phase) == [False, False, True, True]
    before = list(ComparedEntry.objects.filter(is_individual=True).order_by("pk").values_list("pk", "ranked_at"))
    replicated(phase, around(0.3, seed=5))
    assert ends(phase)[2:] == [(3, 4), (3, 4), (5, 5)]
    after = list(ComparedEntry.objects.filter(is_individual=True).order_by("pk").values_list("pk", "ranked_at"))
    assert after[: len(before)] == before, "the intervals of the other teams are those of their last score"


@pytest.mark.usefixtures("first_two")
def test_an_individual_interval_is_computed_again_when_it_no_longer_contains_the_rank(
    phase: Phase, replicated: Callable[..., Submission]
) -> None:
    for mean, seed in ((0.9, 1), (0.8, 2), (0.5, 3)):
        replicated(phase, around(mean, seed=seed))
    assert ends(phase)[2] == (3, 3)
    replicated(phase, around(0.7, seed=4))
    assert rows(phase)[3].rank_interval is None
    assert ends(phase) == [(1, 1), (2, 2), (3, 3), (4, 4)]


@pytest.mark.usefixtures("first_two")
def test_a_team_that_drops_out_of_the_first_ones_gets_an_individual_interval(
    phase: Phase, replicated: Callable[..., Submission]
) -> None:
    replicated(phase, around(0.5, seed=1))
    replicated(phase, around(0.3, seed=2))
    compare_boards()
    assert individual(phase) == [False, False]
    replicated(phase, around(0.9, seed=3))
    compare_boards()
    assert individual(phase) == [False, False, True]


@pytest.mark.usefixtures("first_two")
def test_a_comparison_computes_a_limited_number_of_individual_intervals(
    phase: Phase, replicated: Callable[..., Submission], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later comparison jobs compute the remaining intervals, so that each job takes little time."""
    monkeypatch.setattr(rank_sets, "AT_ONCE", 2)
    counts = []
    compute = rank_sets.individual_among
    monkeypatch.setattr(
        rank_sets,
        "individual_among",
        lambda rows, some, chosen: (counts.append(len(some)), compute(rows, some, chosen))[1],
    )
    for seed in range(7):
        replicated(phase, around(0.5 - seed / 1000, seed=seed))
    compare_boards()
    assert counts == [2, 2, 1]
    assert None not in ends(phase)


def test_a_leaderboard_of_an_earlier_time_has_no_rank_intervals(
    phase: Phase, replicated: Callable[..., Submission]
) -> None:
    replicated(phase, around(0.5, seed=1))
    assert ends(phase) == [(1, 1)]
    past = board(phase, split="public", viewer=AnonymousUser(), at=datetime.now(UTC) - timedelta(milliseconds=1))
    assert [row.rank_interval for row in past.rows] == [None]


def test_a_submission_has_the_rank_interval_of_its_entry(phase: Phase, replicated: Callable[..., Submission]) -> None:
    for mean, seed in ((0.5, 1), (0.501, 2)):
        own = replicated(phase, around(mean, seed=seed))
    compare_boards()
    found = standing(Submission.objects.get(pk=own.pk), now=datetime.now(UTC))
    assert found.rank_interval is not None
    assert (found.rank, found.rank_interval.low, found.rank_interval.high) == (1, 1, 2)


class Simulated(BoardRows):
    """A leaderboard whose bootstrap replicates are in memory instead of in the database.

    For each call of `replicates`, the list `read` contains the number of teams whose replicates were requested.
    """

    def __init__(self, scores: Numbers, vectors: Numbers, unknown: Sequence[int] = ()) -> None:
        deviations = vectors.std(axis=1) * 1.96
        lines = [
            Line(row, row, score, score - width, score + width, False, row)
            for row, (score, width) in enumerate(zip(scores.tolist(), deviations.tolist(), strict=True))
        ]
        draws = {row: (0, vectors.shape[1]) for row in range(len(lines)) if row not in unknown}
        super().__init__("public", None, lines, draws)
        object.__setattr__(self, "vectors", vectors)
        object.__setattr__(self, "read", [])

    def replicates(self, teams: Sequence[int]) -> Numbers:
        self.read.append(len(teams))
        return self.vectors[list(teams)].copy()


def simulated(seed: int, *, teams: int = 600, unknown: Sequence[int] = ()) -> Simulated:
    rng = np.random.default_rng(seed)
    scores = np.sort(rng.beta(5, 5, teams))[::-1]
    errors = rng.uniform(0.002, 0.006, (teams, 1))
    return Simulated(scores, scores[:, None] + rng.normal(0, 1, (teams, 400)) * errors, unknown)


@pytest.mark.parametrize("seed", range(3))
def test_the_first_intervals_are_those_of_the_whole_leaderboard(seed: int) -> None:
    """The bootstrap replicates of teams with much lower scores are not read, and this does not change any interval."""
    board = simulated(seed)
    assert rank_sets.top_intervals(board) == top_rank_intervals(board.scores, board.vectors)
    assert max(board.read) < 450


@pytest.mark.parametrize("seed", range(3))
def test_individual_intervals_are_those_of_the_whole_leaderboard(seed: int) -> None:
    board = simulated(seed)
    due = range(100, 600)
    found = rank_sets.individual_intervals(board, due)
    assert len(found) == 100 or max(found) < 599
    assert [*found.values()] == individual_rank_intervals(board.scores, board.vectors, found)
    assert max(board.read) < 500


def test_unknown_teams_widen_the_intervals_of_a_part_like_those_of_the_whole() -> None:
    board = simulated(7, unknown=(3, 250, 599))
    board.vectors[[3, 250, 599]] = np.nan
    assert rank_sets.top_intervals(board) == top_rank_intervals(board.scores, board.vectors)
    found = rank_sets.individual_intervals(board, range(300, 320))
    assert [*found.values()] == individual_rank_intervals(board.scores, board.vectors, found)


def test_all_teams_are_read_if_the_critical_value_is_high() -> None:
    """Each team's score is an outlier in one bootstrap replicate, so the intervals' critical value is high."""
    board = simulated(1)
    board.vectors[:, :] = board.scores[:, None] + np.random.default_rng(1).normal(0, 1e-5, board.vectors.shape)
    board.vectors[np.arange(600), np.arange(600) % 400] += 0.05
    assert rank_sets.top_intervals(board) == top_rank_intervals(board.scores, board.vectors)
    assert board.read[-1] == 600
