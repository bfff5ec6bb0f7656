"""Computes reports, curves and statistics from the confidences of the verified labels."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import CLASSIFICATION
from evaluator.files.submission import SubmissionTable
from evaluator.metrics.average_precision import average_precisions, indices_by_group, stepwise_average_precision
from evaluator.metrics.bootstrap import Areas, MeanAveragePrecision, Numbers, Weights
from evaluator.metrics.matching import contains
from evaluator.metrics.resampling import HIT, MISS, CurveSteps, ImageGroups, ImageRows
from evaluator.report import ClassRow, CurveRow, SplitReport, finite
from evaluator.tracks.classification.truth import ClassificationTruth
from evaluator.tracks.interface import Engine
from evaluator.tracks.shared.curves.rows import curve_row

MISSING_CONFIDENCE = 0.0


def confidences_of(highest: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the confidence of each verified label, given the highest confidence that was predicted for it.

    ``highest`` contains -inf for labels without a prediction, which get MISSING_CONFIDENCE.
    """
    # Adding zero turns -0.0 into 0.0. Otherwise, the result could depend on the order of the predictions.
    return np.where(np.isneginf(highest), MISSING_CONFIDENCE, highest) + 0.0


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of precision/recall curves: one entry for each verified label of each image.

    Attributes
    ----------
    images, labels : int64 arrays of shape (N,)
    confidences : float64 array of shape (N,)
        The highest confidence predicted for the label; MISSING_CONFIDENCE if there is none.
    present : bool array of shape (N,)
        Whether the label is verified as present.
    """

    images: NDArray[np.int64]
    labels: NDArray[np.int64]
    confidences: NDArray[np.float64]
    present: NDArray[np.bool_]

    @classmethod
    def of(cls, truth: ClassificationTruth, table: SubmissionTable) -> "Entries":
        """Return the entries of the precision/recall curves of a submission."""
        codes = table.codes("LabelName")
        known = codes >= 0
        keys = (table.codes("image") * len(truth.labels) + codes)[known]
        verified = contains(truth.verified, keys)
        highest = np.full(len(truth.verified), -np.inf)
        confidences = table.numbers("Score")[known][verified, 0]
        np.maximum.at(highest, np.searchsorted(truth.verified, keys[verified]), confidences)
        return cls.with_confidences(truth, confidences_of(highest))

    @classmethod
    def with_confidences(cls, truth: ClassificationTruth, confidences: NDArray[np.float64]) -> "Entries":
        """Return the entries of a submission, given the confidence of each verified label; shape (V,)."""
        return cls(*truth.images_and_labels(truth.verified), confidences, truth.present)

    def __getitem__(self, chosen: NDArray[np.bool_]) -> "Entries":
        """Return the entries of precision/recall curves that a Boolean mask of shape (N,) selects."""
        arrays = self.images[chosen], self.labels[chosen], self.confidences[chosen], self.present[chosen]
        return Entries(*arrays)

    def average_precisions(self, positives: Numbers) -> Numbers:
        """Return the average precision of each class, given the number of positives of each class; shape (classes,)."""
        hits = self.present.astype(np.float64)
        return average_precisions(self.labels, self.confidences, hits, positives, stepwise_average_precision)


@dataclass(frozen=True, slots=True)
class ClassificationStatistics:
    """The present labels and the precision/recall curves of a split, prepared for computing bootstrap replicates."""

    positives: ImageGroups
    curves: CurveSteps

    def metrics(self, weights: Weights, engine: Engine) -> Mapping[str, Numbers]:
        """Return the value of every metric in each bootstrap replicate."""

        def areas(positives: Numbers) -> Numbers:
            return engine.average_precisions(weights, self.curves, positives, 1.0)

        return MeanAveragePrecision.of(engine.sums(weights, self.positives), areas).metrics()


def split_report(truth: ClassificationTruth, entries: Entries, split: str) -> SplitReport:
    """Return the score report for a split."""
    entries = entries[truth.splits[split][entries.images]]
    classes = len(truth.labels)
    images = np.bincount(entries.labels, minlength=classes)
    positives = np.bincount(entries.labels[entries.present], minlength=classes)
    return report_of(truth, split, images, positives, entries.average_precisions)


def report_of(
    truth: ClassificationTruth, split: str, images: NDArray[np.int64], positives: NDArray[np.int64], areas: Areas
) -> SplitReport:
    """Return the score report for a split.

    Parameters
    ----------
    images, positives : int64 arrays of shape (classes,)
        Number of images of the split in which each class is verified, and in which it is verified as present.
    areas : callable
        Takes the positives as float64 array, and returns the average precision of each class, NaN without positives.
    """
    numbers = MeanAveragePrecision.of(positives.astype(np.float64), areas)
    rows: list[ClassRow] = [
        {
            "label": truth.labels[label],
            "name": truth.names[label],
            "ap": finite(numbers.average_precisions[label]),
            "truths": int(positives[label]),
            "images": int(images[label]),
        }
        for label in truth.shown_labels(split)
    ]
    metrics = {name: finite(float(value)) for name, value in numbers.metrics().items()}
    return SplitReport(CLASSIFICATION.headline, metrics, rows)


def curves(truth: ClassificationTruth, entries: Entries, split: str) -> list[CurveRow]:
    """Return the precision/recall curves of the classes that are listed in the report of a split."""
    entries = entries[truth.splits[split][entries.images]]
    members = list(indices_by_group(entries.labels, len(truth.labels)))
    rows = []
    for label in truth.shown_labels(split):
        named: CurveRow = {"label": truth.labels[label], "name": truth.names[label], "curve": "ap"}
        confidences, hits = entries.confidences[members[label]], entries.present[members[label]].astype(np.float64)
        rows.append(curve_row(named, confidences, hits, float(hits.sum()), interpolated=False))
    return rows


def statistics(truth: ClassificationTruth, entries: Entries, image_rows: ImageRows) -> ClassificationStatistics:
    """Return the statistics of a split, from which bootstrap replicates are computed.

    ``image_rows`` maps each image to its row in the matrix of bootstrap weights.
    """
    rows, classes = image_rows[entries.images], len(truth.labels)
    kinds = np.where(entries.present, HIT, MISS).astype(np.uint8)
    return ClassificationStatistics(
        ImageGroups.of(entries.labels[entries.present], rows[entries.present], classes),
        CurveSteps.of(entries.labels, entries.confidences, kinds, rows, classes, envelope=False),
    )
