"""Scores tracks with one answer per image.

The submission is a table with one row per image, and the first ground truth file is a table with the same columns. The
module of the track defines a function that compares the two tables, and assigns ``OneAnswerScorer(TRACK, function)`` to
``SCORER``.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import Column, Track
from evaluator.files.folder import TruthFolder, coded
from evaluator.files.notices import notice_nothing_to_score
from evaluator.files.source import Source
from evaluator.files.submission import SubmissionTable, read_submission
from evaluator.metrics.weighted_means import weighted_mean
from evaluator.report import SplitReport, finite
from evaluator.request import Progress
from evaluator.tracks.checking import checked, image_names, usage_of
from evaluator.tracks.interface import Outcome, Scorer, TruthCompiler
from evaluator.tracks.shared.label_truth import LabelTruth
from evaluator.tracks.shared.submissions import csv_text, vocabularies_of
from evaluator.truth import Truth

Answers = Mapping[str, NDArray[Any]]
Measure = Callable[[Answers, Answers, Mapping[str, Any]], Mapping[str, NDArray[Any]]]
"""A function that takes the columns of the ground truth, the columns of the submission, and the parameters, and returns
the values of each metric in [0, 1], shape (images,). Columns are dicts that map names to arrays of shape (images,),
which contain label codes or float64 numbers. The metric is the mean of its values. An image without a row counts as
0."""


class OneAnswerTruth(LabelTruth):
    """The ground truth: the correct answer for each image, in one or more columns."""

    @property
    def labels_listed(self) -> bool:
        """False, because a track with one answer per image has no list of labels."""
        return False

    def answers(self, columns: Sequence[Column]) -> Answers:
        """Return the correct answers, by column, as arrays of label codes or float64 numbers of shape (images,)."""
        return {column.name: self.arrays[_key(column)] for column in columns}


def _key(column: Column) -> str:
    """Return the name under which a prepared ground truth stores a column."""
    return f"answer {column.name}"


def _by_image(truth: Truth, table: SubmissionTable, column: Column) -> NDArray[Any]:
    """Return a column of a submission in the order of the images in the ground truth.

    An image without a row has the value -1 in a column of label codes, and NaN in a column of numbers.
    """
    values = table.numbers(column.name)[:, 0] if column.kind == "number" else table.codes(column.name)
    by_image = np.full(len(truth.images), np.nan if column.kind == "number" else -1, values.dtype)
    by_image[table.codes("image")] = values
    return by_image


class OneAnswerScorer(Scorer[OneAnswerTruth, Mapping[str, Any], SubmissionTable], TruthCompiler[Mapping[str, Any]]):
    """Scores submissions to a track with one answer per image.

    Parameters
    ----------
    track : Track
    measure : callable
        A function that compares the answers with the ground truth, and returns every metric for each image.
    """

    def __init__(self, track: Track, measure: Measure) -> None:
        self.track = track
        self.measure = measure

    def truth_of(self, prepared: Truth) -> OneAnswerTruth:
        """Return a prepared ground truth as :class:`OneAnswerTruth`."""
        return OneAnswerTruth.of(prepared)

    def parameters_of(self, resolved: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the mapping of parameters unchanged."""
        return resolved

    def compile_truth(self, folder: TruthFolder, parameters: Mapping[str, Any]) -> OneAnswerTruth:
        """Check a ground truth folder and compile it.

        Raises
        ------
        InvalidTruth
            If the ground truth folder has faults.
        """
        table = folder.table(folder.track.truth[0].name)
        images = {image: code for code, image in enumerate(image_names(folder, {table.file: table}))}
        codes = coded(table.texts("ImageID"), images)
        rows = np.bincount(codes[codes >= 0], minlength=len(images))
        table.mark("ImageID", np.isin(codes, np.flatnonzero(rows > 1)), "truth_bad_value", "has more than one row")
        for image, code in images.items():
            if not rows[code]:
                folder.faults.add("truth_bad_value", table.file, f"image {image} has no row", column="ImageID")
        columns = folder.track.form.predicted
        labels = sorted({text for column in columns if column.kind != "number" for text in table.texts(column.name)})
        index = {label: code for code, label in enumerate(labels)}
        values = {
            each.name: table.numbers(each.name)[:, 0] if each.kind == "number" else coded(table.texts(each.name), index)
            for each in columns
        }
        usage = usage_of(folder, images)
        folder.faults.check()
        order = np.argsort(codes)
        arrays = {"usage": usage} | {_key(each): values[each.name][order] for each in columns}
        flags = {"images_listed": "images.csv" in folder}
        texts = {"images": list(images), "labels": labels}
        return checked(folder.faults, OneAnswerTruth(folder.track.name, folder.sha256, {}, flags, texts, arrays))

    def read(self, source: Source, truth: OneAnswerTruth | None, parameters: Mapping[str, Any]) -> SubmissionTable:
        """Read a submission as a table. Defects and notices are added to the findings of ``source``."""
        table = read_submission(source, self.track.form, vocabularies_of(truth))
        if not source.findings.total:
            answers = len(table.codes("image"))
            notice_nothing_to_score(source.findings, answers, answers)
        return table

    def evaluate(
        self, truth: OneAnswerTruth, table: SubmissionTable, parameters: Mapping[str, Any], progress: Progress
    ) -> Outcome:
        """Compute the metric values of each image, and average them over the images of each split."""
        progress("scoring", 0.0)
        columns = self.track.form.predicted
        answers = {column.name: _by_image(truth, table, column) for column in columns}
        measured = self.measure(truth.answers(columns), answers, parameters)
        answered = np.bincount(table.codes("image"), minlength=len(truth.images)) > 0
        values = {metric.name: np.where(answered, measured[metric.name], 0.0) for metric in self.track.metrics}

        def split_report(split: str) -> SplitReport:
            weights = truth.splits[split].astype(np.float64)
            means = {name: finite(weighted_mean(each, weights)) for name, each in values.items()}
            return SplitReport(self.track.headline, means)

        return Outcome(truth.for_each_split(split_report))

    def template(self, truth: OneAnswerTruth) -> str:
        """Return a submission with a row for every image: the first label in label columns and 0 in number columns."""
        # If the ground truth contains no labels, the cells of label columns are empty.
        label = next(iter(truth.labels), "")
        guess = ["0" if column.kind == "number" else label for column in self.track.form.predicted]
        return csv_text(self.track.form.long_header, ((image, *guess) for image in truth.images))

    def ceiling(self, truth: OneAnswerTruth, parameters: Mapping[str, Any]) -> str:
        """Return the best possible submission, in which every answer is taken from the ground truth."""
        columns, cells = self.track.form.predicted, []
        answers = truth.answers(columns)
        for column in columns:
            values = answers[column.name].tolist()
            cells.append(values if column.kind == "number" else [truth.labels[value] for value in values])
        return csv_text(self.track.form.long_header, zip(truth.images, *cells, strict=True))
