"""The rows of the section Recording: the cost of recording a score, compared with an earlier version of Podium."""

from collections.abc import Iterator

from tests.benchmarks.earlier import multiples
from tests.benchmarks.rows import FOLDER, Goal, Row

# Number of runs of each version of the service. The current version and an earlier one run alternately.
PAIRS = 7


def recordings() -> Iterator[Row]:
    """Measure how long it takes to record scores for teams with 50 earlier submissions in a phase of 2,000 teams."""
    for name, (multiple, milliseconds) in multiples(FOLDER, PAIRS).items():
        goal = Goal(f"recording a score, {name}: CPU / CPU before entries of leaderboards were kept", 1.5, 1.5)
        yield goal.met_by(multiple, f"{milliseconds:.1f} ms, median of {PAIRS} pairs")
