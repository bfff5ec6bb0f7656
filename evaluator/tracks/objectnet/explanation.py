"""Explains an ObjectNet score with tables of confused classes, and with a row for each image."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.submission import SubmissionTable
from evaluator.report import MatchTable, SplitReport
from evaluator.request import Progress
from evaluator.tracks.interface import Outcome
from evaluator.tracks.objectnet.scorer import GUESSES, NO_GUESS, SCORER
from evaluator.tracks.objectnet.truth import CLASSES, ObjectNetParameters, ObjectNetTruth
from evaluator.tracks.shared.confusions import NOTHING, confused, counted, matrix
from evaluator.truth import USAGES

LABELS = [str(code) for code in range(CLASSES)]
USAGE_NAMES = {code: name for name, code in USAGES.items()}
TYPES = {"Truth": int, "Prediction": int}
COLUMNS = ("Usage", "file", "Truth", "Prediction", "Outcome")


def explain(
    truth: ObjectNetTruth, table: SubmissionTable, parameters: ObjectNetParameters, progress: Progress
) -> Outcome:
    """Score the guesses, and return the outcome with tables based on the first guesses and a row for each image.

    The tables are ``class_errors``, which counts wrong guesses by pair of classes, and ``confusion``, the confusion
    matrix of the classes that are confused most often. Images without a first guess have no ``prediction``.
    """
    outcome = SCORER.evaluate(truth, table, parameters, progress)
    guesses = np.full(len(truth.images), NOTHING, np.int64)
    first = table.codes(GUESSES[0])
    guesses[table.codes("image")] = np.where(first == NO_GUESS, NOTHING, first)
    splits = {name: _explained(truth, guesses, report, name) for name, report in outcome.splits.items()}
    return replace(outcome, splits=splits, matches=MatchTable(COLUMNS, partial(_rows, truth, guesses), TYPES))


def _explained(truth: ObjectNetTruth, guesses: NDArray[np.int64], report: SplitReport, split: str) -> SplitReport:
    chosen = truth.splits[split] & (truth.answers >= 0)
    counts = counted(truth.answers[chosen].astype(np.int64), guesses[chosen])
    tables = {"class_errors": confused(counts, LABELS), "confusion": matrix(counts, LABELS)}
    return replace(report, tables={**report.tables, **tables})


def _rows(truth: ObjectNetTruth, guesses: NDArray[np.int64]) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each image with a known class: image usage (such as public), file, class, guess, outcome."""
    columns = truth.usage.tolist(), truth.images, truth.answers.tolist(), guesses.tolist()
    for usage, image, answer, guess in zip(*columns, strict=True):
        if answer >= 0:
            outcome = "missed" if guess == NOTHING else "true_positive" if guess == answer else "false_positive"
            yield USAGE_NAMES[usage], image, answer, "" if guess == NOTHING else guess, outcome
