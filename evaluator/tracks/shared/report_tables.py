"""Rates and errors as tables: of a split, and of each class."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.errors import Evidence
from evaluator.metrics.rates import Counts, averages, rates
from evaluator.report import ClassRow, SplitReport, finite


def with_rates(report: SplitReport, true: Counts, predicted: Counts, support: Counts) -> SplitReport:
    """Return the report of a split, its class rows with precision, recall, F1 and support, and with their averages.

    Parameters
    ----------
    true, predicted, support : float64 arrays of shape (class rows,)
        As for :func:`evaluator.metrics.rates.rates`.
    """
    found = rates(true, predicted, support)
    columns = {"precision": found.precision, "recall": found.recall, "f1": found.f1, "support": support}
    classes = [
        {**row, **{name: finite(values[place]) for name, values in columns.items()}}
        for place, row in enumerate(report.classes)
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


def by_kind(evidence: Evidence, kinds: Sequence[str], metric: str) -> list[ClassRow]:
    """Return for each kind how many false positives and misses it explains, and what the metric would gain without.

    The false positives of all kinds together are those of the score, the misses are the objects that were not found, a
    group by its weight.
    """
    return [
        {
            "kind": kind,
            "false_positives": evidence.false_positives(code),
            "misses": plain(evidence.misses(code)),
            f"delta_{metric}": finite(evidence.gain_without(code)),
        }
        for code, kind in enumerate(kinds)
    ]


def error_sums(evidence: Evidence, kinds: Sequence[str], metric: str) -> list[ClassRow]:
    """Return what the metric would gain without any false positive, and what without any miss."""
    codes = range(len(kinds))
    return [
        {
            "kind": "all_false_positives",
            "false_positives": sum(map(evidence.false_positives, codes)),
            "misses": 0,
            f"delta_{metric}": finite(evidence.gain_without_false_positives()),
        },
        {
            "kind": "all_misses",
            "false_positives": 0,
            "misses": plain(sum(map(evidence.misses, codes))),
            f"delta_{metric}": finite(evidence.gain_without_misses()),
        },
    ]


def plain(count: float) -> float | int:
    """Return a count as a whole number where it is one; with groups of weight 0.3 it may be none.

    >>> plain(2.0), plain(1.3)
    (2, 1.3)
    """
    return int(count) if count == int(count) else count


def by_class(evidence: Evidence, kinds: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """Return for each kind that a false positive can have its number in each class, by the name of a column."""
    count = len(evidence.truths)
    return {
        f"fp_{kind}": np.bincount(evidence.curves[evidence.kinds == code], minlength=count)
        for code, kind in enumerate(kinds)
        if kind != "missed"
    }


def with_columns(
    classes: Sequence[ClassRow], labels: Sequence[str], columns: Mapping[str, NDArray[Any]]
) -> list[ClassRow]:
    """Return class rows with further columns, given as arrays of shape (labels,)."""
    codes = {label: code for code, label in enumerate(labels)}
    return [
        {**row, **{name: plain(float(counts[codes[str(row["label"])]])) for name, counts in columns.items()}}
        for row in classes
    ]
