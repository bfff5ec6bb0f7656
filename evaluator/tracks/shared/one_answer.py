"""Tracks with one answer an image: two tables of the same columns, and a metric that compares them.

Such a track declares a table that holds one row an image, and as its first truth file one with the same columns. Its
module then is the metric and ``CONTEST = contest(TRACK, metric)``.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import Column, Track
from evaluator.files.folder import TruthFolder, coded
from evaluator.files.source import Source
from evaluator.files.submission import Table, Vocabulary, read_table
from evaluator.metrics.shares import share
from evaluator.report import SplitReport, finite
from evaluator.tracks.checking import checked, image_names
from evaluator.tracks.interface import Contest, Outcome, Progress, csv_text, on_every_split
from evaluator.tracks.shared.usage import usage_of
from evaluator.truth import Truth

Answers = Mapping[str, NDArray[Any]]
Measure = Callable[[Answers, Answers, Mapping[str, Any]], Mapping[str, NDArray[Any]]]
"""Takes the truth's columns, the submission's and the parameters. A column has the shape (images,): codes of labels, or
float64. Returns each metric image by image, in [0, 1]; its mean is the score. An image without a row counts as 0."""


def contest(track: Track, measure: Measure) -> Contest:
    """Return the contest of a track that is declared as this module wants it."""
    return Contest(
        track,
        compiler=__name__,
        read=partial(_read, track),
        evaluate=partial(_evaluate, track, measure),
        blank=partial(_blank, track),
        ceiling=partial(_ceiling, track),
    )


def compile_truth(folder: TruthFolder, parameters: Mapping[str, Any]) -> Truth:
    """Return the prepared truth: one array of shape (images,) for each column of the form.

    Raises
    ------
    InvalidTruth
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
    arrays = {"usage": usage} | {f"answer {name}": each[order] for name, each in values.items()}
    flags = {"images_listed": "images.csv" in folder}
    texts = {"images": list(images), "labels": labels}
    return checked(folder.faults, Truth(folder.track.name, folder.sha256, {}, flags, texts, arrays))


def _read(track: Track, source: Source, truth: Truth | None, parameters: Mapping[str, Any]) -> Table:
    if truth is None:
        return read_table(source, track.form, {})
    vocabularies = {
        "image": Vocabulary(truth.image_codes, closed=truth.flags["images_listed"]),
        "label": Vocabulary(truth.label_codes, closed=False),
    }
    return read_table(source, track.form, vocabularies)


def _evaluate(
    track: Track, measure: Measure, truth: Truth, table: Table, parameters: Mapping[str, Any], progress: Progress
) -> Outcome:
    progress("scoring", 0.0)
    images = table.codes("image")
    answers = {column.name: _by_image(truth, table, images, column) for column in track.form.predicted}
    right = {column.name: truth.arrays[f"answer {column.name}"] for column in track.form.predicted}
    answered = np.bincount(images, minlength=len(truth.texts["images"])) > 0
    measured = measure(right, answers, parameters)
    values = {metric.name: np.where(answered, measured[metric.name], 0.0) for metric in track.metrics}

    def fold(split: str) -> SplitReport:
        weights = truth.splits[split].astype(np.float64)
        return SplitReport(track.headline, {name: finite(share(each, weights)) for name, each in values.items()})

    return Outcome(on_every_split(truth, fold))


def _by_image(truth: Truth, table: Table, images: NDArray[np.int64], column: Column) -> NDArray[Any]:
    """Return a column in the order of the truth's images: -1 or NaN for those that have no row."""
    values = table.numbers(column.name)[:, 0] if column.kind == "number" else table.codes(column.name)
    spread = np.full(len(truth.texts["images"]), np.nan if column.kind == "number" else -1, values.dtype)
    spread[images] = values
    return spread


def _blank(track: Track, truth: Truth) -> str:
    label = next(iter(truth.texts["labels"]), "")  # of an empty truth there is none
    guess = ["0" if column.kind == "number" else label for column in track.form.predicted]
    return csv_text(track.form.long_header, ((image, *guess) for image in truth.texts["images"]))


def _ceiling(track: Track, truth: Truth, parameters: Mapping[str, Any]) -> str:
    labels, answers = truth.texts["labels"], []
    for column in track.form.predicted:
        values = truth.arrays[f"answer {column.name}"].tolist()
        answers.append(values if column.kind == "number" else [labels[value] for value in values])
    return csv_text(track.form.long_header, zip(truth.texts["images"], *answers, strict=True))
