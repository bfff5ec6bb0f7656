"""The pure functions that rank teams."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.leaderboards.ranking import Candidate, competition_ranks, entry_of, finalists, in_order, ranks

START = datetime(2026, 1, 1, tzinfo=UTC)


def one(number: int, score: float, *, team: int = 0, minute: int | None = None, **fields: Any) -> Candidate:
    team = team or number
    return Candidate(
        submission_id=UUID(int=number),
        team_id=team,
        score=score,
        submitted_at=START + timedelta(minutes=number if minute is None else minute),
        **fields,
    )


def board(candidates: list[Candidate], *, kind: str = "public", finals: int = 2) -> list[tuple[int | None, Candidate]]:
    """Rank the entries of all teams."""
    of_teams = [[one for one in candidates if one.team_id == team] for team in {one.team_id for one in candidates}]
    entries = in_order(filter(None, (entry_of(own, kind=kind, finals=finals) for own in of_teams)))
    return list(zip(ranks([(entry.score, entry.baseline) for entry in entries]), entries, strict=True))


def numbers(candidates: list[Candidate]) -> list[int]:
    return [candidate.submission_id.int for candidate in candidates]


@pytest.mark.parametrize(
    ("scores", "expected"),
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
def test_competition_ranks(scores: list[float], expected: list[int]) -> None:
    assert competition_ranks(scores) == expected


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), max_size=20), st.data())
def test_the_ranks_of_a_page_are_those_of_the_whole(scores: list[float], data: Any) -> None:
    scores = sorted(scores, reverse=True)
    start = data.draw(st.integers(0, len(scores)))
    page = scores[start:]
    better = sum(score > page[0] for score in scores) if page else 0
    assert competition_ranks(page, better=better, before=start) == competition_ranks(scores)[start:]


def test_equal_scores_are_listed_earlier_first_then_by_team() -> None:
    late = one(1, 0.5, minute=9, team=1)
    second = one(2, 0.5, minute=3, team=3)
    first = one(3, 0.5, minute=3, team=2)
    assert in_order([late, second, first]) == [first, second, late]


def test_a_team_is_ranked_by_its_best_not_by_all_it_sent() -> None:
    lines = board([one(1, 0.9, team=1), one(2, 0.8, team=1), one(3, 0.7, team=2)])
    assert [(rank, entry.team_id) for rank, entry in lines] == [(1, 1), (2, 2)]


def test_the_earliest_of_a_teams_equal_bests_is_its_entry() -> None:
    own = [one(5, 0.9, team=1, minute=8), one(6, 0.9, team=1, minute=2)]
    assert entry_of(own, kind="public", finals=2) == own[1]


def test_a_team_without_a_candidate_has_no_entry() -> None:
    assert entry_of([], kind="private", finals=2) is None


def test_a_ladder_lists_the_best_of_what_is_published() -> None:
    own = [one(1, 0.9, team=1, visible=False), one(2, 0.8, team=1), one(3, 0.7, team=1)]
    assert entry_of(own, kind="published", finals=2) == own[1]
    assert entry_of(own[:1], kind="published", finals=2) is None


def test_a_baseline_is_shown_in_place_without_a_rank() -> None:
    assert [rank for rank, _ in board([one(1, 0.9), one(2, 0.8, baseline=True), one(3, 0.7)])] == [1, None, 2]


def test_equals_around_a_baseline_share_their_rank() -> None:
    lines = board([one(1, 0.8), one(2, 0.8, baseline=True), one(3, 0.8), one(4, 0.1)])
    assert [rank for rank, _ in lines] == [1, None, 1, 3]


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
    candidates = [one(1, 0.7, team=1, final=True), one(2, 0.8, team=2, public_score=0.5), one(3, 0.9, team=1)]
    assert numbers([entry for _, entry in board(candidates, kind="private", finals=1)]) == [2, 1]


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
    assert board(shuffled, kind="private") == board(candidates, kind="private")


@given(candidate_lists)
def test_a_rank_is_one_more_than_the_number_of_better_teams(rows: list[tuple[int, float, int, bool]]) -> None:
    candidates = [
        one(number, score, team=team, minute=minute, baseline=team == 6)
        for number, (team, score, minute, _) in enumerate(rows, start=1)
    ]
    best = {c.team_id: max(o.score for o in candidates if o.team_id == c.team_id) for c in candidates if not c.baseline}
    for rank, entry in board(candidates):
        if not entry.baseline:
            assert rank == 1 + sum(other > best[entry.team_id] for other in best.values())
