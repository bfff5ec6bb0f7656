"""The rows of the section Ranks: how often rank intervals are correct, and the time to compute them."""

from collections.abc import Iterator
from statistics import median
from time import process_time

from evaluator.metrics.rank_intervals import top_rank_intervals
from tests.benchmarks.rows import ROUNDS, Goal, Row
from tests.evaluator.simulated_ranks import ALL_EQUAL, Share, many_teams, shares, ten_teams

REPLICATES, SIMULATIONS, BOARDS, LARGE = 1_000, 1_000, 100, 2_000


def rank_intervals() -> Iterator[Row]:
    """Report how often rank intervals contain all true ranks, and the time to compute them for a large leaderboard."""
    for name, found in coverages().items():
        behind = f"± {found['covered'].error:.3f} of {found['covered'].boards:,} simulations; "
        behind += f"equal teams in each other's interval {found['together']}; tie groups split wrongly {found['split']}"
        goal = Goal(f"rank intervals, {name}: share right", 0.935, 0.95, least=True)
        yield goal.met_by(found["covered"].value, behind)
    goal = Goal(f"rank intervals of the top 100 of {LARGE:,}, 1,000 replicates: CPU s", 5, 3)
    yield goal.met_by(seconds_of_a_large_board(), "without reading them")


def coverages() -> dict[str, dict[str, Share]]:
    """Return how often rank intervals and tie groups are correct, for each kind of simulation.

    Teams of a tie group do not differ significantly from the first team of the group.
    """
    numbers = range(SIMULATIONS)
    return {
        "10 teams, 3 of them equal": shares(ten_teams(number, replicates=REPLICATES) for number in numbers),
        "10 equal teams": shares(ten_teams(number, replicates=REPLICATES, truths=ALL_EQUAL) for number in numbers),
        f"top 100 of {LARGE:,} teams": shares(
            many_teams(number, teams=LARGE, replicates=REPLICATES) for number in range(BOARDS)
        ),
    }


def seconds_of_a_large_board() -> float:
    """Return the median CPU time in seconds for computing the rank intervals of a large leaderboard."""
    board, taken = many_teams(0, teams=LARGE, replicates=REPLICATES), []
    for _ in range(ROUNDS):
        before = process_time()
        top_rank_intervals(board.scores, board.replicates)
        taken.append(process_time() - before)
    return median(taken)
