"""The result of a scoring: numbers by split, finite or undefined, and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from evaluator.problems import Notice

Number = float | int | None
STREAMED, READABLE = "streamed", "readable"
SMALL = "a small file"
ClassRow = dict[str, str | Number]


def finite(value: float) -> float | None:
    """Return ``value``, or None where it is not a number: NaN stops here.

    >>> finite(float("nan")) is None
    True
    """
    return float(value) if isfinite(value) else None


@dataclass(frozen=True, slots=True)
class SplitReport:
    """Scores on one split.

    Attributes
    ----------
    headline : str
        Name of the metric a leaderboard sorts by.
    metrics : mapping of str to float in [0, 1], or None where undefined
    classes : list of rows
        ``label``, ``name``, and the track's own columns.
    intervals : mapping of str to (low, high)
        95 % intervals, where replicates were drawn.
    """

    headline: str
    metrics: Mapping[str, float | None]
    classes: list[ClassRow] = field(default_factory=list)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a value that is not finite."""
        values = [*self.metrics.values(), *(cell for row in self.classes for cell in row.values())]
        if any(isinstance(value, float) and not isfinite(value) for value in values):
            raise ValueError("a report holds finite numbers and None only")

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "headline": self.headline,
            "metrics": dict(self.metrics),
            "intervals": {name: list(ends) for name, ends in self.intervals.items()},
            "classes": self.classes,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """A scoring of one submission: what was measured and how (the signature).

    ``way`` tells by which of two implementations, ``streamed`` or ``readable: …`` and why; the numbers are the same.
    """

    track: str
    signature: str
    parameters: Mapping[str, Any]
    splits: Mapping[str, SplitReport]
    notices: list[Notice] = field(default_factory=list)
    way: str = STREAMED

    def as_dict(self) -> dict[str, Any]:
        """Return the object that ``podium score --json`` prints."""
        return {
            "track": self.track,
            "signature": self.signature,
            "parameters": dict(self.parameters),
            "splits": {name: split.as_dict() for name, split in self.splits.items()},
            "notices": [{"code": n.code, "message": n.message, "count": n.count} for n in self.notices],
        }
