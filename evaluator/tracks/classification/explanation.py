"""Explains a classification score with a table of confused classes, and with a row for each verified label."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.submission import SubmissionTable
from evaluator.report import MatchTable, SplitReport
from evaluator.request import Progress
from evaluator.tracks.classification.entries import Entries
from evaluator.tracks.classification.scorer import SCORER
from evaluator.tracks.classification.truth import ClassificationTruth
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
    return explained(truth, entries, outcome)


def explained(truth: ClassificationTruth, entries: Entries, outcome: Outcome) -> Outcome:
    """Return the outcome of a submission, with the tables and rows that :func:`explain` adds."""
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
    starts = np.flatnonzero(np.diff(entries.images, prepend=-1))
    image = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(entries.images)))
    absent = np.where(entries.present, -np.inf, entries.confidences)
    highest = np.maximum.reduceat(absent, starts)[image] if len(starts) else absent
    exceeded = np.flatnonzero(entries.present & (entries.confidences < highest))
    # Of several absent classes with the highest confidence, the first is returned.
    firsts = np.flatnonzero(absent == highest)
    chosen = firsts[np.searchsorted(image[firsts], image[exceeded])]
    return entries.labels[exceeded], entries.labels[chosen]


def _rows(truth: ClassificationTruth, entries: Entries) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each verified label.

    The cells are the usage of the image (such as public), the image, the class, the confidence, and 1 if the label is
    verified as present or 0 if it is verified as absent.
    """
    columns = entries.images.tolist(), entries.labels.tolist(), entries.confidences.tolist(), entries.present.tolist()
    for image, label, confidence, is_present in zip(*columns, strict=True):
        yield USAGE_NAMES[truth.usage[image]], truth.images[image], truth.labels[label], confidence, int(is_present)
