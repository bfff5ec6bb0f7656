"""Measures the coverage of rank intervals on simulated leaderboards whose true ranks are known.

`make bench` runs more simulations.
"""

import pytest

from tests.evaluator.simulated_ranks import ALL_EQUAL, Share, shares, spaced_teams, ten_teams

SIMULATIONS, EQUAL_SIMULATIONS, REPLICATES = 100, 200, 256


@pytest.fixture(scope="module")
def three_equal() -> dict[str, Share]:
    return shares(ten_teams(number, replicates=REPLICATES) for number in range(SIMULATIONS))


@pytest.fixture(scope="module")
def all_equal() -> dict[str, Share]:
    return shares(ten_teams(number, replicates=REPLICATES, truths=ALL_EQUAL) for number in range(EQUAL_SIMULATIONS))


def test_all_intervals_of_a_leaderboard_are_correct_at_once(three_equal: dict[str, Share]) -> None:
    assert three_equal["covered"].value >= 0.935


def test_the_ranks_of_equal_teams_are_in_each_others_intervals(three_equal: dict[str, Share]) -> None:
    assert three_equal["together"].value >= 0.935


def test_intervals_of_equal_teams_are_correct_in_95_of_100_simulations(all_equal: dict[str, Share]) -> None:
    """All teams are equally good, so an interval is correct only if it contains every rank.

    With 200 simulations, the standard error of a proportion of 0.95 is 0.015.
    """
    assert 0.90 <= all_equal["covered"].value <= 0.985


@pytest.mark.parametrize("teams", [2, 10])
@pytest.mark.parametrize("gap", [0.1, 0.3, 1.0, 2.0, 3.0])
def test_teams_with_similar_scores_are_rarely_put_in_the_wrong_order(gap: float, teams: int) -> None:
    """Teams have equally spaced true scores, so an interval is wrong only if two teams are put in the wrong order."""
    numbers = range(EQUAL_SIMULATIONS)
    found = shares(spaced_teams(number, gap=gap, teams=teams, replicates=REPLICATES) for number in numbers)
    assert found["covered"].value >= 0.935


def test_few_tie_groups_end_before_a_team_that_is_as_good_as_the_first(three_equal: dict[str, Share]) -> None:
    """A tie group ends before the first team that differs significantly from the first team of the group.

    Three of the ten teams are equally good, so a group must not end between two of these three.
    """
    assert 0 < three_equal["split"].value <= 0.1
