"""Two submissions against one truth: how far apart they are, and whether that is more than chance."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from evaluator.metrics.bootstrap import Interval, paired_interval
from evaluator.problems import InvalidParameters
from evaluator.report import ClassRow, Report, SplitReport

A_BETTER, TIED, B_BETTER = "a_better", "tied", "b_better"


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric of two submissions.

    Attributes
    ----------
    a, b : float or None
        The two scores, None where undefined.
    difference : float or None
        b − a.
    interval : (low, high) or None
        95 % interval of the difference, from replicates that share their draws.
    verdict : str or None
        ``b_better`` where the whole interval is above 0, ``a_better`` where it is below, else ``tied``: the two cannot
        be told apart.
    """

    a: float | None
    b: float | None
    difference: float | None
    interval: Interval | None
    verdict: str | None


@dataclass(frozen=True, slots=True)
class SplitComparison:
    """One split of two submissions.

    ``classes`` are those that both define, with ``a``, ``b`` and ``difference``, the largest gain of b first; of them b
    has ``won``, ``lost`` and ``even``.
    """

    headline: str
    metrics: Mapping[str, Difference]
    classes: list[ClassRow]
    won: int
    lost: int
    even: int


def compare(a: Report, b: Report, class_metric: str) -> dict[str, SplitComparison]:
    """Compare two scored submissions split by split.

    Parameters
    ----------
    a, b : Report
        With replicates of one seed.
    class_metric : str
        Column of the class rows by which a class is won; of no use where a track has none.

    Raises
    ------
    InvalidParameters
        Where the two were not scored in the same way, or without replicates.
    """
    if a.signature != b.signature:
        raise InvalidParameters(f"scored in two ways: {a.signature} and {b.signature}")
    return {name: _compared(part, b.splits[name], class_metric) for name, part in a.splits.items()}


def as_dict(splits: Mapping[str, SplitComparison]) -> dict[str, Any]:
    """Return plain data for JSON."""
    return {name: asdict(part) for name, part in splits.items()}


def _compared(a: SplitReport, b: SplitReport, class_metric: str) -> SplitComparison:
    if not a.replicates or not b.replicates:
        raise InvalidParameters("scored without replicates; there is no telling chance from skill")
    metrics = {name: _difference(a, b, name) for name in a.metrics}
    theirs = {row["label"]: row[class_metric] for row in b.classes}
    rows: list[ClassRow] = []
    for row in a.classes:
        ours, other = row[class_metric], theirs[row["label"]]
        if isinstance(ours, float) and isinstance(other, float):
            rows.append({"label": row["label"], "name": row["name"], "a": ours, "b": other, "difference": other - ours})
    gains = [float(row["difference"] or 0.0) for row in rows]
    order = sorted(range(len(rows)), key=lambda place: -gains[place])
    return SplitComparison(
        a.headline,
        metrics,
        [rows[place] for place in order],
        won=sum(gain > 0 for gain in gains),
        lost=sum(gain < 0 for gain in gains),
        even=sum(gain == 0 for gain in gains),
    )


def _difference(a: SplitReport, b: SplitReport, name: str) -> Difference:
    ours, theirs = a.metrics[name], b.metrics[name]
    interval = paired_interval(b.replicates[name] - a.replicates[name])
    if ours is None or theirs is None or interval is None:
        return Difference(ours, theirs, None, None, None)
    verdict = B_BETTER if interval[0] > 0 else A_BETTER if interval[1] < 0 else TIED
    return Difference(ours, theirs, theirs - ours, interval, verdict)
