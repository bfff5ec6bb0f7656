"""The numbers that explain a detection score on one split, and the tables and columns that show them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.errors import DETECTION_KINDS
from evaluator.report import ClassRow, SplitReport
from evaluator.tracks.shared import report_tables
from evaluator.tracks.shared.label_truth import ObjectTruth
from evaluator.tracks.shared.report_tables import ErrorFigures, by_class, by_kind, error_sums, with_columns


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers that explain a score on one split.

    Attributes
    ----------
    errors : ErrorFigures
    predicted : float64 array of shape (classes,)
        Number of scored detections in each class, plus the group-of weight for each matched group.
    by_outcome : mapping of str to arrays of shape (classes,)
        Further columns of the class rows: the numbers of ignored detections, detections that match a group-of box
        (``group_found``), other detections in group-of boxes (``absorbed``), and missed objects (``missed``). Each
        detection is counted in at most one of these columns. The misses are the positives minus the true positives; a
        missed group-of box contributes its weight.
    tables : mapping of str to rows
        ``class_errors``, ``slices`` and, with the official Open Images rules, ``ablation``.
    """

    errors: ErrorFigures
    predicted: NDArray[np.float64]
    by_outcome: Mapping[str, NDArray[Any]]
    tables: Mapping[str, list[ClassRow]]

    def explained(self, truth: ObjectTruth, report: SplitReport) -> SplitReport:
        """Return the score report for the split, with the tables and columns of its explanation added."""
        report = with_rates(truth, report, self.predicted)
        columns = {**self.by_outcome, **by_class(self.errors, DETECTION_KINDS)}
        tables = {
            **report.tables,
            "errors": by_kind(self.errors, DETECTION_KINDS, "mAP"),
            "error_sums": error_sums(self.errors, DETECTION_KINDS, "mAP"),
            **self.tables,
        }
        return replace(report, classes=with_columns(report.classes, truth.labels, columns), tables=tables)


def with_rates(truth: ObjectTruth, report: SplitReport, predicted: NDArray[np.float64]) -> SplitReport:
    """Return the report of a split with precision, recall and F1 for each class, and with their averages.

    ``predicted`` is as in :class:`Figures`.
    """
    codes = [truth.label_codes[str(row["label"])] for row in report.classes]
    true, support = (np.array([row[name] for row in report.classes], float) for name in ("true_positives", "truths"))
    return report_tables.with_rates(report, true, predicted[codes], support)
