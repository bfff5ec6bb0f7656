"""Explains a classification score with a table of confused classes, and with a row for each verified label."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.submission import SubmissionTable
from evaluator.report import MatchTable, SplitReport
from evaluator.request import Progress
from evaluator.tracks.classification.scorer import SCORER, ClassificationTruth, Entries
from evaluator.tracks.interface import Outcome
from evaluator.tracks.shared.confusions import confused, counted
from evaluator.tracks.shared.parameters import TrackParameters
from evaluator.truth import USAGES

USAGE_NAMES = {code: name for name, code in USAGES.items()}
TYPES = {"Score": float, "Present": int}
COLUMNS = ("Usage", "ImageID", "LabelName", "Score", "Present")


def explain(
    truth: ClassificationTruth, table: SubmissionTable, parameters: TrackParameters, progress: Progress
) -> Outcome:
    """Score a submission. The outcome includes a table of confused classes, and a row for each verified label.

    The table ``class_errors`` counts the images in which a class that is verified as absent has a higher confidence
    than a class that is verified as present. For each present class, only the absent class with the highest confidence
    is counted.
    """
    outcome, entries = SCORER.evaluate(truth, table, parameters, progress), Entries.of(truth, table)
    splits = {name: _explained(truth, entries, report, name) for name, report in outcome.splits.items()}
    return replace(outcome, splits=splits, matches=MatchTable(COLUMNS, partial(_rows, truth, entries), TYPES))


def _explained(truth: ClassificationTruth, entries: Entries, report: SplitReport, split: str) -> SplitReport:
    actual, predicted = _confusions(entries[truth.splits[split][entries.images]])
    tables = {"class_errors": confused(counted(actual, predicted), truth.labels)}
    return replace(report, tables={**report.tables, **tables})


def _confusions(entries: Entries) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return pairs of a present class and an absent class with a higher confidence in the same image.

    The result is two arrays, with the present and the absent class of each pair. If several absent classes of an image
    have a higher confidence, the class with the highest confidence is returned. The pairs of an image are adjacent.
    """
    borders = np.flatnonzero(np.diff(entries.images, prepend=-1, append=-1))
    actual, predicted = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for start, end in pairwise(borders.tolist()):
        confidences, labels = entries.confidences[start:end], entries.labels[start:end]
        is_present = entries.present[start:end]
        if is_present.all():
            continue
        highest = np.argmax(np.where(is_present, -np.inf, confidences))
        exceeded = labels[is_present & (confidences < confidences[highest])]
        actual.append(exceeded)
        predicted.append(np.full(len(exceeded), labels[highest]))
    return np.concatenate(actual), np.concatenate(predicted)


def _rows(truth: ClassificationTruth, entries: Entries) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each verified label.

    The cells are the usage of the image (such as public), the image, the class, the confidence, and 1 if the label is
    verified as present or 0 if it is verified as absent.
    """
    columns = entries.images.tolist(), entries.labels.tolist(), entries.confidences.tolist(), entries.present.tolist()
    for image, label, confidence, is_present in zip(*columns, strict=True):
        yield USAGE_NAMES[truth.usage[image]], truth.images[image], truth.labels[label], confidence, int(is_present)
