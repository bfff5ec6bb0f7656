"""The pure functions that rank teams."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.leaderboards.ranking import Candidate, best_of_each_team, competition_ranks, finalists, in_order, ranked

START = datetime(2026, 1, 1, tzinfo=UTC)


def one(number: int, score: float, *, team: int = 0, minute: int | None = None, **fields: Any) -> Candidate:
    team = team or number
    return Candidate(
        submission_id=UUID(int=number),
        team_id=team,
        team=fields.pop("name", f"Team {team}"),
        score=score,
        submitted_at=START + timedelta(minutes=number if minute is None else minute),
        **fields,
    )


def numbers(candidates: list[Candidate]) -> list[int]:
    return [candidate.submission_id.int for candidate in candidates]


@pytest.mark.parametrize(
    ("scores", "ranks"),
    [
        ([], []),  # no teams
        ([0.5], [1]),
        ([0.9, 0.8, 0.7], [1, 2, 3]),
        ([0.9, 0.9, 0.7], [1, 1, 3]),  # equal scores share a rank and the next rank is skipped
        ([0.9, 0.7, 0.7, 0.7, 0.1], [1, 2, 2, 2, 5]),
        ([0.0, -0.0], [1, 1]),  # both zeros are the same number
        ([0.3, 0.1 + 0.2 - 5e-17], [1, 1]),  # equal as float64
        ([0.1 + 0.2, 0.3], [1, 2]),  # differ in the last bit: not equal
    ],
)
def test_competition_ranks(scores: list[float], ranks: list[int]) -> None:
    assert competition_ranks(scores) == ranks


def test_equal_scores_are_listed_earlier_first_then_by_team_name() -> None:
    late = one(1, 0.5, minute=9, name="A")
    second = one(2, 0.5, minute=3, name="C")
    first = one(3, 0.5, minute=3, name="B")
    assert in_order([late, second, first]) == [first, second, late]


def test_a_team_is_ranked_by_its_best_not_by_all_it_sent() -> None:
    board = ranked(best_of_each_team([one(1, 0.9, team=1), one(2, 0.8, team=1), one(3, 0.7, team=2)]))
    assert [(rank, entry.team_id) for rank, entry in board] == [(1, 1), (2, 2)]


def test_the_earliest_of_a_teams_equal_bests_is_its_entry() -> None:
    assert numbers(best_of_each_team([one(5, 0.9, team=1, minute=8), one(6, 0.9, team=1, minute=2)])) == [6]


def test_a_baseline_is_shown_in_place_without_a_rank() -> None:
    board = ranked(best_of_each_team([one(1, 0.9), one(2, 0.8, baseline=True), one(3, 0.7)]))
    assert [rank for rank, _ in board] == [1, None, 2]


def test_equals_around_a_baseline_share_their_rank() -> None:
    board = ranked(best_of_each_team([one(1, 0.8), one(2, 0.8, baseline=True), one(3, 0.8), one(4, 0.1)]))
    assert [rank for rank, _ in board] == [1, None, 1, 3]


def test_chosen_finals_count_and_better_ones_do_not() -> None:
    own = [one(1, 0.9, team=1), one(2, 0.5, team=1, final=True), one(3, 0.4, team=1, final=True)]
    assert numbers(finalists(own, finals=2)) == [2, 3]


def test_without_a_choice_the_best_public_ones_count() -> None:
    own = [
        one(1, 0.9, team=1, public_score=0.1),
        one(2, 0.5, team=1, public_score=0.8),
        one(3, 0.4, team=1, public_score=0.7),
        one(4, 0.95, team=1, public_score=None),
    ]
    assert numbers(finalists(own, finals=2)) == [2, 3]


def test_of_equal_public_scores_the_earliest_counts() -> None:
    own = [one(number, 0.5, team=1, public_score=0.7) for number in (3, 1, 2)]
    assert numbers(finalists(own, finals=1)) == [1]


def test_one_teams_choice_is_not_anothers() -> None:
    candidates = [one(1, 0.9, team=1, final=True), one(2, 0.8, team=2, public_score=0.5), one(3, 0.7, team=1)]
    assert numbers(finalists(candidates, finals=1)) == [1, 2]


def test_every_submission_of_a_baseline_counts() -> None:
    own = [one(number, 0.1 * number, team=1, baseline=True, public_score=0.1) for number in (1, 2, 3)]
    assert numbers(finalists(own, finals=1)) == [1, 2, 3]


candidate_lists = st.lists(
    st.tuples(st.integers(1, 6), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.integers(0, 3), st.booleans()), max_size=25
)


@given(candidate_lists, st.randoms())
def test_a_board_does_not_depend_on_the_order_of_its_rows(
    rows: list[tuple[int, float, int, bool]], random: Any
) -> None:
    candidates = [
        one(number, score, team=team, minute=minute, final=final, public_score=1 - score)
        for number, (team, score, minute, final) in enumerate(rows, start=1)
    ]
    shuffled = random.sample(candidates, len(candidates))
    assert ranked(best_of_each_team(finalists(shuffled, finals=2))) == ranked(
        best_of_each_team(finalists(candidates, finals=2))
    )


@given(candidate_lists)
def test_a_rank_is_one_more_than_the_number_of_better_teams(rows: list[tuple[int, float, int, bool]]) -> None:
    candidates = [
        one(number, score, team=team, minute=minute, baseline=team == 6)
        for number, (team, score, minute, _) in enumerate(rows, start=1)
    ]
    best = {c.team_id: max(o.score for o in candidates if o.team_id == c.team_id) for c in candidates if not c.baseline}
    for rank, entry in ranked(best_of_each_team(candidates)):
        if not entry.baseline:
            assert rank == 1 + sum(other > best[entry.team_id] for other in best.values())
