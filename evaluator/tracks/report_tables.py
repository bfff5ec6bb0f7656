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

    The false positives of all kinds together are those of the score, the misses are the objects that were not found.
    """
    score = evidence.mean_average_precision
    return [
        {
            "kind": kind,
            "false_positives": evidence.false_positives(code),
            "misses": evidence.misses(code),
            f"delta_{metric}": finite(evidence.without(code).mean_average_precision - score),
        }
        for code, kind in enumerate(kinds)
    ]


def by_class(evidence: Evidence, kinds: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """Return for each kind that a false positive can have its number in each class, by the name of a column."""
    count = len(evidence.truths)
    return {
        f"fp_{kind}": np.bincount(evidence.curves[evidence.kinds == code], minlength=count)
        for code, kind in enumerate(kinds)
        if kind != "missed"
    }


def with_columns(
    classes: Sequence[ClassRow], labels: Sequence[str], columns: Mapping[str, NDArray[np.integer[Any]]]
) -> list[ClassRow]:
    """Return class rows with further columns, given as arrays of shape (labels,)."""
    codes = {label: code for code, label in enumerate(labels)}
    return [
        {**row, **{name: int(counts[codes[str(row["label"])]]) for name, counts in columns.items()}} for row in classes
    ]
