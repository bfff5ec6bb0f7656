"""Defines the rows of BENCHMARKS.md, and where the benchmarks keep their files.

A row compares two measurements of the same run. A section (`tests/benchmarks/sections`) yields its rows one by one.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeVar

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "bench"
GOLDEN = ROOT.parent / "shared" / "golden"
# Number of rounds of a benchmark. In each round, the two programs to compare run one directly after the other, so that
# the load of the machine affects both equally.
ROUNDS = 5

Measured = TypeVar("Measured")


class Row(NamedTuple):
    """A row of the benchmark table.

    `behind` contains the measurements from which the value was computed, such as times in seconds.
    """

    name: str
    required: str
    target: str
    measured: str
    behind: str


class Goal(NamedTuple):
    """What a row measures, the value that is required, and the target.

    If `least` is true, the measured value must be at least as large as these values. Otherwise, it must be at most as
    large.
    """

    name: str
    required: float
    target: float
    least: bool = False

    def met_by(self, found: float, behind: str) -> Row:
        """Return the table row for a measured value."""
        return self.row(f"{found:,.2f}" if found < 100 else f"{found:,.0f}", behind)

    def not_run(self, reason: str) -> Row:
        return self.row("NOT RUN", reason)

    def row(self, measured: str, behind: str) -> Row:
        sign = ">=" if self.least else "<="
        return Row(self.name, f"{sign} {self.required:,g}", f"{sign} {self.target:,g}", measured, behind)


Section = Callable[[], Iterator[Row]]


def alternating(*measurements: Callable[[], Measured], rounds: int = ROUNDS) -> list[list[Measured]]:
    """Run all measurements once in each round, and return the results of each measurement."""
    taken = [[measure() for measure in measurements] for _ in range(rounds)]
    return [list(results) for results in zip(*taken, strict=True)]


def ratio(ones: Sequence[float], others: Sequence[float]) -> float:
    """Return the median of the quotients ``ones[i] / others[i]``. Both values are from the same round."""
    return median(one / other for one, other in zip(ones, others, strict=True))
