"""Scores image-level classification of Open Images.

For each class, the images in which it is verified as present or as absent are ranked by confidence.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from evaluator.catalog import CLASSIFICATION
from evaluator.files.notices import notice_no_predictions
from evaluator.files.source import Source
from evaluator.files.submission import SubmissionTable, read_submission
from evaluator.request import Progress
from evaluator.tracks.classification.entries import Entries, curves, split_report, statistics
from evaluator.tracks.classification.truth import ClassificationTruth
from evaluator.tracks.interface import Outcome, Scorer
from evaluator.tracks.shared.parameters import TrackParameters
from evaluator.tracks.shared.submissions import csv_text, empty_strings, notice_predictions, vocabularies_of
from evaluator.truth import Truth


class ClassificationScorer(Scorer[ClassificationTruth, TrackParameters, SubmissionTable]):
    """Scores submissions to the classification track of Open Images."""

    track = CLASSIFICATION

    def truth_of(self, prepared: Truth) -> ClassificationTruth:
        """Return a prepared ground truth as an instance of this track's ground truth class."""
        return ClassificationTruth.of(prepared)

    def parameters_of(self, resolved: Mapping[str, Any]) -> TrackParameters:
        """Return an empty object, because the track has no parameters."""
        return TrackParameters()

    def read(self, source: Source, truth: ClassificationTruth | None, parameters: TrackParameters) -> SubmissionTable:
        """Read a submission, and add notices about predictions that are probably mistakes."""
        table = read_submission(source, CLASSIFICATION.form, vocabularies_of(truth))
        if not source.findings.total:
            confidences = table.numbers("Score")[:, 0]
            notice_predictions(source.findings, truth, confidences, [], [table.codes("LabelName")])
            notice_no_predictions(source.findings, len(confidences))
        return table

    def evaluate(
        self, truth: ClassificationTruth, table: SubmissionTable, parameters: TrackParameters, progress: Progress
    ) -> Outcome:
        """Score the confidences in a submission on every split."""
        progress("scoring", 0.0)
        entries = Entries.of(truth, table)
        reports = truth.for_each_split(partial(split_report, truth, entries))
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
