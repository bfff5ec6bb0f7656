"""Coverage of rank intervals on simulated leaderboards with known true ranks; `make bench` runs more simulations."""

import pytest

from tests.evaluator.simulated_ranks import ALL_EQUAL, Share, shares, ten_teams

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


def test_few_tie_groups_end_before_a_team_that_is_as_good_as_the_first(three_equal: dict[str, Share]) -> None:
    """A group ends after one comparison of two teams, so this can happen: three of the ten teams are equally good."""
    assert 0 < three_equal["split"].value <= 0.1
