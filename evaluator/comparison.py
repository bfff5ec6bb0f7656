"""Compares two submissions, and tests whether their scores differ significantly."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from evaluator.digits import Interval, sign_of
from evaluator.metrics.bootstrap import paired_interval
from evaluator.problems import InvalidParameters
from evaluator.report import ClassRow, Report, SplitReport

A_BETTER, TIED, B_BETTER = "a_better", "tied", "b_better"
VERDICTS = {-1: A_BETTER, 0: TIED, 1: B_BETTER}


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two submissions according to one metric.

    Attributes
    ----------
    a, b : float or None
        The scores of the two submissions; None if undefined.
    difference : float or None
        b − a.
    interval : (low, high) or None
        95% confidence interval of the difference, from bootstrap replicates in which both submissions have
        the same image weights. It contains the difference.
    verdict : str or None
        ``b_better`` if the whole interval is above 0, ``a_better`` if it is below 0. Otherwise ``tied``: the difference
        is not significant.
    """

    a: float | None
    b: float | None
    difference: float | None
    interval: Interval | None
    verdict: str | None


@dataclass(frozen=True, slots=True)
class SplitComparison:
    """The comparison of two submissions on one split.

    ``classes`` has a row with ``a``, ``b`` and ``difference`` for each class whose score is defined for both
    submissions. The rows are sorted by descending difference. ``won``, ``lost`` and ``even`` are the numbers of classes
    in which submission b is better, worse and equal.
    """

    headline: str
    metrics: Mapping[str, Difference]
    classes: list[ClassRow]
    won: int
    lost: int
    even: int


def compare(a: Report, b: Report, class_metric: str) -> dict[str, SplitComparison]:
    """Compare two scored submissions on every split.

    Parameters
    ----------
    a, b : Report
        The reports of the two submissions, with bootstrap replicates drawn from the same seed.
    class_metric : str
        The column to compare in the table of classes; ignored if the track has no such table.

    Raises
    ------
    InvalidParameters
        If the signatures of the reports differ, or if a report has no bootstrap replicates. A signature identifies how
        a score was computed.
    """
    if a.signature != b.signature:
        raise InvalidParameters(f"the signatures differ: {a.signature} and {b.signature}")
    return {name: _compared(part, b.splits[name], class_metric) for name, part in a.splits.items()}


def as_dict(splits: Mapping[str, SplitComparison]) -> dict[str, Any]:
    """Return the comparisons of all splits as a JSON-serializable dict."""
    return {name: asdict(part) for name, part in splits.items()}


def _compared(a: SplitReport, b: SplitReport, class_metric: str) -> SplitComparison:
    if not a.replicates or not b.replicates:
        raise InvalidParameters("a submission was scored without replicates, which a comparison requires")
    metrics = {name: _difference(a, b, name) for name in a.metrics}
    theirs = {row["label"]: row[class_metric] for row in b.classes}
    rows: list[ClassRow] = []
    for row in a.classes:
        ours, other = row[class_metric], theirs[row["label"]]
        if isinstance(ours, float) and isinstance(other, float):
            rows.append({"label": row["label"], "name": row["name"], "a": ours, "b": other, "difference": other - ours})
    gains = [float(row["difference"] or 0.0) for row in rows]
    order = sorted(range(len(rows)), key=lambda index: -gains[index])
    return SplitComparison(
        a.headline,
        metrics,
        [rows[index] for index in order],
        won=sum(gain > 0 for gain in gains),
        lost=sum(gain < 0 for gain in gains),
        even=sum(gain == 0 for gain in gains),
    )


def _difference(a: SplitReport, b: SplitReport, name: str) -> Difference:
    ours, theirs = a.metrics[name], b.metrics[name]
    if ours is None or theirs is None:
        return Difference(ours, theirs, None, None, None)
    interval = paired_interval(b.replicates[name] - a.replicates[name], theirs - ours)
    if interval is None:
        return Difference(ours, theirs, None, None, None)
    return Difference(ours, theirs, theirs - ours, interval, VERDICTS[sign_of(interval)])
