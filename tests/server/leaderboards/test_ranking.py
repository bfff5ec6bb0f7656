"""Tests the pure functions that rank teams."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.ranking import competition_ranks, ranks
from server.leaderboards.ranking import Candidate, entry_of, finalists

Teams = dict[int, list[Candidate]]


def one(number: int, score: float, *, minute: int | None = None, **fields: Any) -> Candidate:
    return Candidate(number, score, received=(number if minute is None else minute, number), **fields)


def board(teams: Teams, *, kind: str = "public", finals: int = 2) -> list[tuple[int | None, int, Candidate]]:
    """Rank the given teams. Return (rank, team, entry) for every team that has an entry, in leaderboard order."""
    entries = [(team, entry_of(own, kind=kind, finals=finals)) for team, own in teams.items()]
    ordered = sorted(
        ((team, entry) for team, entry in entries if entry),
        key=lambda pair: (-pair[1].score, pair[1].received[0], pair[0]),
    )
    lines = ranks([(entry.score, entry.baseline) for _, entry in ordered])
    return [(rank, team, entry) for rank, (team, entry) in zip(lines, ordered, strict=True)]


def numbers(candidates: list[Candidate]) -> list[int]:
    return [candidate.evaluation_id for candidate in candidates]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], []),
        ([0.5], [1]),
        ([0.9, 0.8, 0.7], [1, 2, 3]),
        ([0.9, 0.9, 0.7], [1, 1, 3]),
        ([0.9, 0.7, 0.7, 0.7, 0.1], [1, 2, 2, 2, 5]),
        ([0.0, -0.0], [1, 1]),  # Zero and negative zero are equal.
        ([0.3, 0.1 + 0.2 - 5e-17], [1, 1]),  # After rounding to float64, these two numbers are equal.
        ([0.1 + 0.2, 0.3], [1, 2]),  # The sum of 0.1 and 0.2 differs from 0.3 in the last bit.
    ],
)
def test_equal_scores_share_a_rank_and_the_next_rank_is_skipped(scores: list[float], expected: list[int]) -> None:
    assert competition_ranks(scores) == expected


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), max_size=20), st.data())
def test_the_ranks_on_a_page_are_those_of_the_whole_leaderboard(scores: list[float], data: Any) -> None:
    scores = sorted(scores, reverse=True)
    start = data.draw(st.integers(0, len(scores)))
    page = scores[start:]
    better = sum(score > page[0] for score in scores) if page else 0
    assert competition_ranks(page, better=better, before=start) == competition_ranks(scores)[start:]


def test_a_team_is_ranked_by_its_best_submission() -> None:
    lines = board({1: [one(1, 0.9), one(2, 0.8)], 2: [one(3, 0.7)]})
    assert [(rank, team) for rank, team, _ in lines] == [(1, 1), (2, 2)]


def test_among_equally_good_submissions_of_a_team_the_earliest_is_its_entry() -> None:
    own = [one(5, 0.9, minute=8), one(6, 0.9, minute=2)]
    assert entry_of(own, kind="public", finals=2) == own[1]


def test_a_team_without_a_candidate_has_no_entry() -> None:
    assert entry_of([], kind="private", finals=2) is None


def test_ladder_feedback_lists_the_best_published_submission() -> None:
    own = [one(1, 0.9, visible=False), one(2, 0.8), one(3, 0.7)]
    assert entry_of(own, kind="published", finals=2) == own[1]
    assert entry_of(own[:1], kind="published", finals=2) is None


def test_a_baseline_is_shown_in_place_without_a_rank() -> None:
    lines = board({1: [one(1, 0.9)], 2: [one(2, 0.8, baseline=True)], 3: [one(3, 0.7)]})
    assert [rank for rank, *_ in lines] == [1, None, 2]


def test_teams_with_equal_scores_around_a_baseline_share_their_rank() -> None:
    lines = board({1: [one(1, 0.8)], 2: [one(2, 0.8, baseline=True)], 3: [one(3, 0.8)], 4: [one(4, 0.1)]})
    assert [rank for rank, *_ in lines] == [1, None, 1, 3]


def test_chosen_submissions_count_and_better_ones_do_not() -> None:
    own = [one(1, 0.9), one(2, 0.5, final=True), one(3, 0.4, final=True)]
    assert numbers(finalists(own, finals=2)) == [2, 3]


def test_of_more_chosen_submissions_than_allowed_the_best_public_ones_count() -> None:
    own = [
        one(1, 0.9, public_score=0.1, final=True),
        one(2, 0.5, public_score=0.8, final=True),
        one(3, 0.4, public_score=0.9),
        one(4, 0.3, public_score=0.7, final=True),
    ]
    assert numbers(finalists(own, finals=2)) == [2, 4]
    assert numbers(finalists(own, finals=1)) == [2]


def test_without_a_choice_the_best_public_submissions_count() -> None:
    own = [
        one(1, 0.9, public_score=0.1),
        one(2, 0.5, public_score=0.8),
        one(3, 0.4, public_score=0.7),
        one(4, 0.95, public_score=None),
    ]
    assert numbers(finalists(own, finals=2)) == [2, 3]


def test_among_equal_public_scores_the_earliest_submission_counts() -> None:
    own = [one(number, 0.5, public_score=0.7) for number in (3, 1, 2)]
    assert numbers(finalists(own, finals=1)) == [1]


def test_the_choice_of_a_team_does_not_affect_other_teams() -> None:
    teams = {1: [one(1, 0.7, final=True), one(3, 0.9)], 2: [one(2, 0.8, public_score=0.5)]}
    assert numbers([entry for *_, entry in board(teams, kind="private", finals=1)]) == [2, 1]


def test_every_submission_of_a_baseline_counts() -> None:
    own = [one(number, 0.1 * number, baseline=True, public_score=0.1) for number in (1, 2, 3)]
    assert numbers(finalists(own, finals=1)) == [1, 2, 3]


candidate_lists = st.lists(
    st.tuples(st.integers(1, 6), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.integers(0, 3), st.booleans()), max_size=25
)


def by_team(rows: list[tuple[int, Candidate]]) -> Teams:
    return {team: [one for of, one in rows if of == team] for team in {team for team, _ in rows}}


@given(candidate_lists, st.randoms())
def test_a_leaderboard_does_not_depend_on_the_order_of_its_rows(
    rows: list[tuple[int, float, int, bool]], random: Any
) -> None:
    candidates = [
        (team, one(number, score, minute=minute, final=final, public_score=1 - score))
        for number, (team, score, minute, final) in enumerate(rows, start=1)
    ]
    shuffled = random.sample(candidates, len(candidates))
    assert board(by_team(shuffled), kind="private") == board(by_team(candidates), kind="private")


@given(candidate_lists)
def test_a_rank_is_one_more_than_the_number_of_better_teams(rows: list[tuple[int, float, int, bool]]) -> None:
    teams = by_team(
        [
            (team, one(number, score, minute=minute, baseline=team == 6))
            for number, (team, score, minute, _) in enumerate(rows, start=1)
        ]
    )
    best = {team: max(one.score for one in own) for team, own in teams.items() if team != 6}
    for rank, team, entry in board(teams):
        if not entry.baseline:
            assert rank == 1 + sum(other > best[team] for other in best.values())
