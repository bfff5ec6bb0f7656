"""Report options that are used by several test modules."""

from pathlib import Path

from evaluator.request import Bootstrap, ReportOptions, TruthOptions

HALVES = TruthOptions(split=(0.4, 1))


def with_intervals(replicates: int, seed: int = 0, draws: Path | None = None) -> ReportOptions:
    return ReportOptions(bootstrap=Bootstrap(replicates, seed, draws))
