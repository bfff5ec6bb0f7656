"""Coverage of rank intervals on simulated leaderboards with known true ranks; `make bench` runs more simulations."""

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


def test_the_ranks_of_equal_teams_are_in_each_other_s_intervals(three_equal: dict[str, Share]) -> None:
    assert three_equal["together"].value >= 0.935


def test_intervals_of_equal_teams_are_correct_in_95_of_100_simulations(all_equal: dict[str, Share]) -> None:
    """An interval is correct if it contains the ranks of all teams, because all are equally good.

    With 200 simulations, the standard error of a share of 0.95 is 0.015.
    """
    assert 0.90 <= all_equal["covered"].value <= 0.985


@pytest.mark.parametrize("teams", [2, 10])
@pytest.mark.parametrize("gap", [0.1, 0.3, 1.0, 2.0, 3.0])
def test_teams_at_small_distances_are_rarely_put_in_the_wrong_order(gap: float, teams: int) -> None:
    """Distinguished pairs are removed in both directions, and an interval is wrong if a pair is in the wrong order."""
    numbers = range(EQUAL_SIMULATIONS)
    found = shares(spaced_teams(number, gap=gap, teams=teams, replicates=REPLICATES) for number in numbers)
    assert found["covered"].value >= 0.935


def test_few_tie_groups_are_ended_by_a_team_that_is_as_good_as_the_first(three_equal: dict[str, Share]) -> None:
    """A group is ended by a test of one pair, and three of the ten teams are equally good."""
    assert 0 < three_equal["split"].value <= 0.1
