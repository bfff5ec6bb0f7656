"""The result of a scoring: numbers by split, finite or undefined, and nothing else."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from evaluator.problems import Notice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Number = float | int | None
STREAMED, READABLE = "streamed", "readable"
SMALL = "a small file"
ClassRow = dict[str, str | Number]
CurveRow = dict[str, str | float | list[float] | None]
Tables = Mapping[str, list[ClassRow]]


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
    replicates : mapping of str to float64 array of shape (N,)
        Each metric in each replicate, NaN where it is undefined there; no part of :meth:`as_dict`.
    tables : mapping of str to list of rows
        What the track declares, and what else a protocol reports or somebody has asked for; in :meth:`as_dict` beside
        the classes.
    """

    headline: str
    metrics: Mapping[str, float | None]
    classes: list[ClassRow] = field(default_factory=list)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    replicates: Mapping[str, "NDArray[np.float64]"] = field(default_factory=dict, compare=False, repr=False)
    tables: Tables = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a value that is not finite."""
        rows = [self.metrics, *self.classes, *(row for table in self.tables.values() for row in table)]
        values = [cell for row in rows for cell in row.values()]
        if any(isinstance(value, float) and not isfinite(value) for value in values):
            raise ValueError("a report holds finite numbers and None only")

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "headline": self.headline,
            "metrics": dict(self.metrics),
            "intervals": {name: list(ends) for name, ends in self.intervals.items()},
            "classes": self.classes,
            **self.tables,
        }


@dataclass(frozen=True, slots=True)
class MatchTable:
    """What became of each prediction and of each object that was missed: column names, and a way to walk the rows."""

    columns: tuple[str, ...] = ()
    rows: Callable[[], Iterator[tuple[Any, ...]]] = lambda: iter(())


@dataclass(frozen=True, slots=True)
class Report:
    """A scoring of one submission: what was measured and how (the signature).

    ``truth_notices`` depend on what is annotated: they are for those who hold the truth, and no part of
    :meth:`as_dict`, which may be shown to participants.
    ``way`` tells by which of two implementations, ``streamed`` or ``readable: …`` and why; the numbers are the same.
    ``curves`` (by split) and ``matches`` are there where they were asked for, and no part of :meth:`as_dict`.
    """

    track: str
    signature: str
    parameters: Mapping[str, Any]
    splits: Mapping[str, SplitReport]
    notices: list[Notice] = field(default_factory=list)
    way: str = STREAMED
    curves: Mapping[str, list[CurveRow]] = field(default_factory=dict, compare=False, repr=False)
    matches: MatchTable = field(default_factory=MatchTable, compare=False, repr=False)
    truth_notices: list[Notice] = field(default_factory=list)

    def for_holder(self) -> "Report":
        """Return the report with all notices, for somebody who holds the truth."""
        return replace(self, notices=[*self.notices, *self.truth_notices], truth_notices=[])

    def as_dict(self) -> dict[str, Any]:
        """Return what a server keeps; of :meth:`for_holder` the object that ``podium score --json`` prints."""
        return {
            "track": self.track,
            "signature": self.signature,
            "parameters": dict(self.parameters),
            "splits": {name: split.as_dict() for name, split in self.splits.items()},
            "notices": [{"code": n.code, "message": n.message, "count": n.count} for n in self.notices],
        }
