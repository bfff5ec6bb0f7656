"""Computes the tables of a report: precision, recall and F1, and numbers of errors, for a split and each class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.average_precision import mean_defined
from evaluator.metrics.rates import Counts, averages, rates
from evaluator.report import ClassRow, SplitReport, finite


class ErrorFigures(Protocol):
    """The numbers of errors of each kind on a split; see :class:`evaluator.metrics.errors.CurveErrors`."""

    def false_positives(self, kind: int) -> NDArray[np.int64]:
        """Return the number of false positives of the given kind in each class, shape (classes,)."""

    def misses(self, kind: int) -> float:
        """Return the number of objects that were missed because of the given kind of error.

        The number may be fractional, because a missed group-of box adds its weight instead of 1.
        """

    def gain_without(self, kind: int) -> float:
        """Return how much the mean average precision would rise if all errors of the given kind were fixed."""

    def gain_without_false_positives(self) -> float:
        """Return how much the mean average precision would rise if there were no false positives."""

    def gain_without_misses(self) -> float:
        """Return how much the mean average precision would rise if no object were missed."""


@dataclass(frozen=True, slots=True)
class ErrorNumbers:
    """The numbers in the tables of errors of a split, computed in advance; see :class:`ErrorFigures`.

    Attributes
    ----------
    false : int64 array of shape (kinds, classes)
        Number of false positives of each kind of error.
    missed : sequence of float
        Weight of the objects that were missed because of errors of each kind.
    now : float64 array of shape (classes,)
        Average precision of each class in the submission as scored.
    fixed : float64 array of shape (kinds + 2, classes)
        Average precision of each class if all errors of one kind were fixed, with one row per kind. The last two rows
        are for the submission without false positives, and without missed objects.
    """

    false: NDArray[np.int64]
    missed: Sequence[float]
    now: NDArray[np.float64]
    fixed: NDArray[np.float64]

    def false_positives(self, kind: int) -> NDArray[np.int64]:
        """Return the number of false positives of the given kind in each class, shape (classes,)."""
        return np.asarray(self.false[kind])

    def misses(self, kind: int) -> float:
        """Return the sum of the weights of the objects that were missed because of errors of the given kind."""
        return self.missed[kind]

    def gain_without(self, kind: int) -> float:
        """Return how much the mean average precision would rise if all errors of the given kind were fixed."""
        fixed = np.where(np.isnan(self.fixed[kind]), self.now, self.fixed[kind])
        return mean_defined(fixed) - mean_defined(self.now)

    def gain_without_false_positives(self) -> float:
        """Return how much the mean average precision would rise if there were no false positives."""
        return self.gain_without(len(self.false))

    def gain_without_misses(self) -> float:
        """Return how much the mean average precision would rise if no object were missed."""
        return self.gain_without(len(self.false) + 1)


def with_rates(report: SplitReport, true: Counts, predicted: Counts, support: Counts) -> SplitReport:
    """Return the report of a split with precision, recall, F1 and support for each class, and a table of averages.

    Parameters
    ----------
    true, predicted, support : float64 arrays
        The counts for each row of the report's class table, as in :func:`evaluator.metrics.rates.rates`. Further
        elements are classes without a row, which only the averages count.
    """
    found = rates(true, predicted, support)
    columns = {"precision": found.precision, "recall": found.recall, "f1": found.f1, "support": support}
    classes = [
        {**row, **{name: finite(values[index]) for name, values in columns.items()}}
        for index, row in enumerate(report.classes)
    ]
    table: list[ClassRow] = [
        {
            "average": kind,
            "precision": finite(precision),
            "recall": finite(recall),
            "f1": finite(f1),
            "support": float(support.sum()),
        }
        for kind, (precision, recall, f1) in averages(true, predicted, support).items()
    ]
    return replace(report, classes=classes, tables={**report.tables, "averages": table})


def by_kind(errors: ErrorFigures, kinds: Sequence[str], metric: str) -> list[ClassRow]:
    """Return a row for each kind of error: numbers of false positives and of misses, and the gain if they were fixed.

    The gain is the increase in ``metric``. The false positives of all kinds add up to the false positives of the
    submission, and the misses add up to the objects that were not found. A missed group-of box adds its weight instead
    of 1.
    """
    return [
        {
            "kind": kind,
            "false_positives": int(errors.false_positives(code).sum()),
            "misses": as_count(errors.misses(code)),
            f"delta_{metric}": finite(errors.gain_without(code)),
        }
        for code, kind in enumerate(kinds)
    ]


def error_sums(errors: ErrorFigures, kinds: Sequence[str], metric: str) -> list[ClassRow]:
    """Return two rows that sum over all kinds of errors: one for all false positives, one for all missed objects.

    Each row also contains how much ``metric`` would rise without these errors.
    """
    codes = range(len(kinds))
    return [
        {
            "kind": "all_false_positives",
            "false_positives": sum(int(errors.false_positives(code).sum()) for code in codes),
            "misses": 0,
            f"delta_{metric}": finite(errors.gain_without_false_positives()),
        },
        {
            "kind": "all_misses",
            "false_positives": 0,
            "misses": as_count(sum(map(errors.misses, codes))),
            f"delta_{metric}": finite(errors.gain_without_misses()),
        },
    ]


def as_count(count: float) -> float | int:
    """Return a count as an int if it is whole. The weight of a group-of box, such as 0.3, can make it fractional.

    >>> as_count(2.0), as_count(1.3)
    (2, 1.3)
    """
    return int(count) if count == int(count) else count


def by_class(errors: ErrorFigures, kinds: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """Return the columns of the class table with the number of false positives of each kind, each of shape (classes,).

    The kind ``missed`` has no column, because a missed object is not a false positive.
    """
    return {f"fp_{kind}": errors.false_positives(code) for code, kind in enumerate(kinds) if kind != "missed"}


def with_columns(
    classes: Sequence[ClassRow], labels: Sequence[str], columns: Mapping[str, NDArray[Any]]
) -> list[ClassRow]:
    """Return the rows of a class table with additional columns. Each column has one value for each of ``labels``."""
    codes = {label: code for code, label in enumerate(labels)}
    return [
        {
            **row,
            **{name: as_count(float(counts[codes[str(row["label"])]])) for name, counts in columns.items()},
        }
        for row in classes
    ]
