"""Defines the report on a submission: its scores on each split, as finite numbers, or None if undefined."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from math import isfinite
from typing import TYPE_CHECKING, Any

from evaluator.problems import Notice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Number = float | int | None
ClassRow = dict[str, str | Number]
CurveRow = dict[str, str | float | list[float] | None]
Tables = Mapping[str, list[ClassRow]]


class ReferenceNeeded(Enum):
    """The reasons for scoring with the reference implementation instead of compiled kernels, as shown to users."""

    NO_FAST_PATH = ""
    SMALL_FILE = "a small file"
    OTHER_LIMITS = "limits that differ from the defaults"
    ACROSS_CLASSES = "matches across classes"
    OVERFULL_IMAGE = "an image with more than 10,000 predictions"
    DAMAGED_GZIP = "a gzip file that is damaged or too large"
    ENDLESS_HEADER = "an incomplete header line"
    UNDECODABLE_HEADER = "a header that is not UTF-8"
    DEFECTIVE_HEADER = "a header with a defect"
    STRING_BEFORE_IMAGE = "a column of prediction strings before the image column"
    LONG_LINE = "a line that is too long"
    NOT_PLAIN = "quotes, blank lines or other special syntax"
    NEGATIVE_CONFIDENCE = "negative confidences"
    TOO_MANY_PREDICTIONS = "more predictions than allowed"
    TOO_MANY_IMAGES = "more images than allowed"
    REPEATED_IMAGE = "an image with two rows"
    MISSING_IMAGES = "missing images"


def finite(value: float) -> float | None:
    """Return ``value``, or None if it is NaN or infinite.

    >>> finite(float("nan")) is None
    True
    """
    return float(value) if isfinite(value) else None


@dataclass(frozen=True, slots=True)
class SplitReport:
    """The scores and tables of a submission on one split.

    Attributes
    ----------
    headline : str
        Name of the metric by which leaderboards are sorted.
    metrics : mapping of str to float in [0, 1], or None if undefined
    classes : list of rows
        A row for each class, relation or phrase type: ``label``, ``name``, and the columns that the track declares.
    intervals : mapping of str to (low, high)
        95% confidence intervals of the metrics, if bootstrap replicates were drawn.
    replicates : mapping of str to float64 array of shape (N,)
        Values of each metric in all bootstrap replicates, NaN if undefined. They are not in :meth:`as_dict`.
    tables : mapping of str to list of rows
        The tables that the track declares, and those that an evaluation protocol or an explanation of the score adds.
        In the result of :meth:`as_dict`, the name of each table is a key.
    """

    headline: str
    metrics: Mapping[str, float | None]
    classes: list[ClassRow] = field(default_factory=list)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    replicates: Mapping[str, "NDArray[np.float64]"] = field(default_factory=dict, compare=False, repr=False)
    tables: Tables = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise ValueError if a value in the report is NaN or infinite."""
        rows = [self.metrics, *self.classes, *(row for table in self.tables.values() for row in table)]
        numbers = [cell for row in rows for cell in row.values() if isinstance(cell, float)]
        if not all(map(isfinite, numbers)):
            raise ValueError("a report can only contain finite numbers and None")

    def as_dict(self) -> dict[str, Any]:
        """Return the scores and tables of the split as a JSON-serializable dict."""
        return {
            "headline": self.headline,
            "metrics": dict(self.metrics),
            "intervals": {name: list(ends) for name, ends in self.intervals.items()},
            "classes": self.classes,
            **self.tables,
        }


@dataclass(frozen=True, slots=True)
class MatchTable:
    """A table of the outcome of each prediction and of each missed object.

    Attributes
    ----------
    columns : tuple of str
    rows : callable
        Returns an iterator over the rows, each of which is a tuple of cells. An empty cell is an empty string. To save
        memory, each row is created only when it is read. This may require reading the submission again.
    types : mapping of str to type
        The type (int or float) of the cells of each column that contains numbers. All other cells are strings.
    """

    columns: tuple[str, ...] = ()
    rows: Callable[[], Iterator[tuple[Any, ...]]] = lambda: iter(())
    types: Mapping[str, type] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """The scores of one submission, and how they were computed.

    Attributes
    ----------
    track : str
    signature : str
        Identifies how the scores were computed; see :func:`evaluator.signature.compose`.
    parameters : mapping
    splits : mapping of str to SplitReport
    notices : list of Notice
    reference : ReferenceNeeded or None
        The reason why the reference implementation scored the submission, or None if compiled kernels did.
        The scores are the same.
    curves : mapping of str to list of rows
        Precision/recall curves by split, if requested. They are not in :meth:`as_dict`.
    matches : MatchTable
        The outcome of each prediction and each missed object, if requested. It is not in :meth:`as_dict`.
    truth_notices : list of Notice
        Notices that depend on the annotations. They are for organizers. Participants may see the result of
        :meth:`as_dict`, so it does not contain them.
    """

    track: str
    signature: str
    parameters: Mapping[str, Any]
    splits: Mapping[str, SplitReport]
    notices: list[Notice] = field(default_factory=list)
    reference: ReferenceNeeded | None = None
    curves: Mapping[str, list[CurveRow]] = field(default_factory=dict, compare=False, repr=False)
    matches: MatchTable = field(default_factory=MatchTable, compare=False, repr=False)
    truth_notices: list[Notice] = field(default_factory=list)

    @property
    def way(self) -> str:
        """The implementation that scored the submission: "fast path", or "reference implementation" and the reason."""
        if self.reference is None:
            return "fast path"
        reason = f": {self.reference.value}" if self.reference.value else ""
        return f"reference implementation{reason}"

    def for_organizer(self) -> "Report":
        """Return the report for organizers, including notices that depend on the annotations."""
        return replace(self, notices=[*self.notices, *self.truth_notices], truth_notices=[])

    def as_dict(self) -> dict[str, Any]:
        """Return the report for participants as a JSON-serializable dict.

        It does not contain the notices that only organizers may see. To include them, call :meth:`for_organizer` first.
        """
        return {
            "track": self.track,
            "signature": self.signature,
            "parameters": dict(self.parameters),
            "splits": {name: split.as_dict() for name, split in self.splits.items()},
            "notices": [{"code": n.code, "message": n.message, "count": n.count} for n in self.notices],
        }
