"""The numbers that explain a score of relationships on one split, and the tables and columns that show them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.errors import RELATIONSHIP_KINDS
from evaluator.report import SplitReport
from evaluator.tracks.relationships.truth import RelationshipsTruth
from evaluator.tracks.shared.report_tables import ErrorFigures, by_class, by_kind, error_sums, with_columns, with_rates

Counts = NDArray[np.integer[Any] | np.float64]


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers that explain a score on one split.

    Attributes
    ----------
    errors : ErrorFigures
        The errors by relation. All relations that are not in the ground truth count as one additional relation.
    true, predicted : arrays of shape (R,), where R is at least the number of relations
        Number of true positives and of scored pairs of each relation.
    ignored, missed : arrays of shape (R,)
        Number of pairs that are not scored although their labels are in the ground truth, and number of triplets that
        were not matched.
    """

    errors: ErrorFigures
    true: Counts
    predicted: Counts
    ignored: Counts
    missed: Counts

    def explained(self, truth: RelationshipsTruth, report: SplitReport, split: str) -> SplitReport:
        """Return the score report for the split, with the tables and columns of its explanation added."""
        rows, metric = truth.shown_relations(split), "mAP_relationships"
        true, predicted, positives = (
            counts[rows].astype(float) for counts in (self.true, self.predicted, truth.positives(split))
        )
        # Relations without a row in the table have no triplets on the split, but the averages count their predictions.
        others = self.predicted.sum() - predicted.sum()
        report = with_rates(report, np.append(true, 0.0), np.append(predicted, others), np.append(positives, 0.0))
        columns = {
            "ignored": self.ignored,
            "missed": self.missed,
            **by_class(self.errors, RELATIONSHIP_KINDS),
        }
        tables = {
            **report.tables,
            "errors": by_kind(self.errors, RELATIONSHIP_KINDS, metric),
            "error_sums": error_sums(self.errors, RELATIONSHIP_KINDS, metric),
        }
        return replace(report, classes=with_columns(report.classes, truth.relations, columns), tables=tables)
