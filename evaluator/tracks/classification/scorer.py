"""Scores image-level classification of Open Images.

For each class, the images in which it is verified as present or as absent are ranked by confidence.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import CLASSIFICATION
from evaluator.files.folder import TruthFolder
from evaluator.files.source import Source
from evaluator.files.submission import SubmissionTable, read_submission
from evaluator.metrics.average_precision import average_precisions, indices_by_group, stepwise_average_precision
from evaluator.metrics.bootstrap import MeanAveragePrecision, Numbers, Weights
from evaluator.metrics.matching import contains
from evaluator.metrics.resampling import HIT, MISS, CurveSteps, ImageGroups, ImageRows
from evaluator.report import ClassRow, CurveRow, SplitReport, finite
from evaluator.request import Progress
from evaluator.texts import counted
from evaluator.tracks.checking import checked, distinct_keys, usage_of
from evaluator.tracks.interface import Engine, Outcome, Scorer, TruthCompiler
from evaluator.tracks.shared.curves.rows import curve_row
from evaluator.tracks.shared.label_truth import VerifiedTruth
from evaluator.tracks.shared.labels import Labelling
from evaluator.tracks.shared.parameters import TrackParameters
from evaluator.tracks.shared.submissions import csv_text, empty_strings, notice_predictions, vocabularies_of
from evaluator.truth import StoredArray, Truth

MISSING_CONFIDENCE = 0.0


class ClassificationTruth(VerifiedTruth):
    """The ground truth: the labels that annotators verified as present or as absent in each image."""

    present = StoredArray[np.bool_]()
    """Whether each verified label is present; shape (V,). A label verified as both present and absent is present."""


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
        highest[np.isneginf(highest)] = MISSING_CONFIDENCE
        return cls(*truth.images_and_labels(truth.verified), highest, truth.present)

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
    positives = np.bincount(entries.labels, entries.present.astype(np.float64), classes)
    numbers = MeanAveragePrecision.of(positives.astype(np.float64), entries.average_precisions)
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


def _warn_of_certain_classes(
    folder: TruthFolder, present: NDArray[np.int64], absent: NDArray[np.int64], classes: int
) -> None:
    """Warn about classes that are never verified as absent, because their AP does not depend on the submission."""
    classes = max(classes, 1)
    certain = np.setdiff1d(present % classes, np.setdiff1d(absent, present) % classes)
    if len(certain):
        are, their = ("is", "its") if len(certain) == 1 else ("are", "their")
        classes_are = f"{counted(len(certain), 'class', 'classes')} {are}"
        message = f"{classes_are} not verified as absent in any image; {their} AP is 1 for every submission"
        folder.faults.warn("truth_only_present", "image_labels.csv", message)


class ClassificationScorer(
    Scorer[ClassificationTruth, TrackParameters, SubmissionTable], TruthCompiler[TrackParameters]
):
    """Scores submissions to the classification track of Open Images."""

    track = CLASSIFICATION

    def truth_of(self, prepared: Truth) -> ClassificationTruth:
        """Return a prepared ground truth as an instance of this track's ground truth class."""
        return ClassificationTruth.of(prepared)

    def parameters_of(self, resolved: Mapping[str, Any]) -> TrackParameters:
        """Return an empty object, because the track has no parameters."""
        return TrackParameters()

    def compile_truth(self, folder: TruthFolder, parameters: TrackParameters) -> ClassificationTruth:
        """Check a ground truth folder and compile it.

        Raises
        ------
        InvalidTruth
            If the ground truth folder has faults.
        """
        tables = {"image_labels.csv": folder.table("image_labels.csv")}
        labelling = Labelling.of(folder, tables, expand=True)
        usage = usage_of(folder, labelling.images)
        folder.faults.check()
        classes = len(labelling.labels)
        present, absent = (
            distinct_keys(*labelling.verified_as(present=is_present), classes) for is_present in (True, False)
        )
        verified = np.union1d(present, absent)
        arrays: dict[str, NDArray[Any]] = {
            "verified": verified,
            "present": contains(present, verified),
            **labelling.listed_arrays,
            "usage": usage,
        }
        _warn_of_certain_classes(folder, present, absent, classes)
        flags, texts = labelling.flags(folder), labelling.texts
        return checked(folder.faults, ClassificationTruth(folder.track.name, folder.sha256, {}, flags, texts, arrays))

    def read(self, source: Source, truth: ClassificationTruth | None, parameters: TrackParameters) -> SubmissionTable:
        """Read a submission, and add notices about predictions that are probably mistakes."""
        table = read_submission(source, CLASSIFICATION.form, vocabularies_of(truth))
        if not source.findings.total:
            confidences = table.numbers("Score")[:, 0]
            notice_predictions(source.findings, truth, confidences, [], [table.codes("LabelName")])
            if not len(confidences):
                message = "the file has no predictions, so it gets the score of random guessing"
                source.findings.notice("no_predictions", message, 1)
        return table

    def evaluate(
        self, truth: ClassificationTruth, table: SubmissionTable, parameters: TrackParameters, progress: Progress
    ) -> Outcome:
        """Score the confidences in a submission on every split."""
        progress("scoring", 0.0)
        entries = Entries.of(truth, table)
        reports = truth.for_each_split(lambda split: split_report(truth, entries, split))
        return Outcome(reports, partial(statistics, truth, entries), partial(curves, truth, entries))

    def template(self, truth: ClassificationTruth) -> str:
        """Return the template submission, which has an empty prediction string for every image."""
        return empty_strings(CLASSIFICATION, truth)

    def ceiling(self, truth: ClassificationTruth, parameters: TrackParameters) -> str:
        """Return the best possible submission: every label that is present, with confidence 1."""
        images, labels = truth.images_and_labels(truth.verified[truth.present])
        pairs = zip(images.tolist(), labels.tolist(), strict=True)
        rows = ((truth.images[image], truth.labels[label], 1) for image, label in pairs)
        return csv_text(CLASSIFICATION.form.long_header, rows)


SCORER = ClassificationScorer()
