"""Scores ObjectNet submissions, which have five guesses for each image."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import OBJECTNET
from evaluator.files.notices import notice_nothing_to_score
from evaluator.files.source import Source
from evaluator.files.submission import SubmissionTable, Vocabulary, read_submission
from evaluator.metrics.bootstrap import Numbers, mean_over_classes
from evaluator.report import ClassRow, SplitReport, finite
from evaluator.request import Progress
from evaluator.tracks.interface import Outcome, Scorer
from evaluator.tracks.objectnet.truth import CLASS_IDS, CLASSES, CONTROLS, Control, ObjectNetParameters, ObjectNetTruth
from evaluator.tracks.shared.submissions import csv_text
from evaluator.tracks.shared.trials import TrialCounts, Trials
from evaluator.truth import Truth

NO_GUESS = CLASSES
GUESSES = tuple(column.name for column in OBJECTNET.form.columns if column.kind == "label")


def trials_of(truth: ObjectNetTruth, table: SubmissionTable, top_k: int) -> Trials:
    """Return one trial for each image whose class is known, grouped by class.

    A trial is the classification of an image. It meets the criterion ``top1`` if the first guess is correct, and the
    criterion ``top5`` if one of the first ``top_k`` guesses is correct.
    """
    guesses = np.full((len(truth.images), len(GUESSES)), NO_GUESS, np.int64)
    guesses[table.codes("image")] = np.stack([table.codes(name) for name in GUESSES], axis=1)
    images = np.flatnonzero(truth.answers >= 0)
    answers = truth.answers[images]
    # Whether each of the five guesses is correct, for the N images whose class is known; shape (N, 5).
    right = guesses[images] == answers[:, None]
    return Trials(images, {"top1": right[:, 0], "top5": right[:, :top_k].any(axis=1)}, answers, CLASSES)


def metrics(counts: TrialCounts) -> dict[str, Numbers]:
    """Return every metric of the track: top-1 and top-5 accuracy over all images, and their means over the classes."""
    means = {f"mean_class_{name}": mean_over_classes(values) for name, values in counts.shares().items()}
    return counts.pooled_shares() | means


def split_report(truth: ObjectNetTruth, trials: Trials, in_split: NDArray[np.bool_]) -> SplitReport:
    """Return the score report for a split."""
    counts = trials.counts(in_split)
    controls = [row for control in truth.controls for row in _control_rows(control, trials, in_split)]
    return SplitReport(
        OBJECTNET.headline,
        {name: finite(float(value)) for name, value in metrics(counts).items()},
        [{"label": str(label), "name": truth.names[label], **row} for label, row in _rows(counts)],
        tables={"controls": controls, "spreads": _spreads(controls)} if controls else {},
    )


def _rows(counts: TrialCounts) -> list[tuple[int, ClassRow]]:
    """Return the code and the table row of each group of images that has trials.

    A group consists, for example, of the images of a class. A row contains the proportions of hits and the number of
    trials.
    """
    shares = counts.shares()
    return [
        (
            group,
            {**{name: finite(values[group]) for name, values in shares.items()}, "truths": int(counts.trials[group])},
        )
        for group in np.flatnonzero(counts.trials).tolist()
    ]


def _control_rows(control: Control, trials: Trials, in_split: NDArray[np.bool_]) -> list[ClassRow]:
    counts = trials.regrouped(control.codes[trials.images], len(control.values)).counts(in_split)
    return [{"control": control.name, "value": control.values[code], **row} for code, row in _rows(counts)]


def _spreads(rows: list[ClassRow]) -> list[ClassRow]:
    """Return, for each control, the values with the best and worst top-1 accuracy, and the difference in accuracy.

    In a tie, the first value is chosen.
    """
    spreads: list[ClassRow] = []
    for control in CONTROLS:
        of_control = [(float(row["top1"] or 0.0), row["value"]) for row in rows if row["control"] == control]
        if of_control:
            best, worst = max(of_control, key=lambda row: row[0]), min(of_control, key=lambda row: row[0])
            spreads.append(
                {
                    "control": control,
                    "best": best[1],
                    "best_top1": best[0],
                    "worst": worst[1],
                    "worst_top1": worst[0],
                    "spread": best[0] - worst[0],
                }
            )
    return spreads


class ObjectNetScorer(Scorer[ObjectNetTruth, ObjectNetParameters, SubmissionTable]):
    """Scores submissions to the ObjectNet track."""

    track = OBJECTNET

    def truth_of(self, prepared: Truth) -> ObjectNetTruth:
        """Return a prepared ground truth as an instance of this track's ground truth class."""
        return ObjectNetTruth.of(prepared)

    def parameters_of(self, resolved: Mapping[str, Any]) -> ObjectNetParameters:
        """Return the parameters as an instance of this track's parameter class."""
        return ObjectNetParameters.of(resolved)

    def read(self, source: Source, truth: ObjectNetTruth | None, parameters: ObjectNetParameters) -> SubmissionTable:
        """Read a submission. Guesses are converted to class codes, and missing guesses to NO_GUESS."""
        by_name = {} if truth is None else truth.classes_by_name
        vocabularies = {"label": Vocabulary(CLASS_IDS | {"-1": NO_GUESS, "": NO_GUESS}, True, by_name)}
        if truth is not None:
            vocabularies["image"] = Vocabulary(truth.image_codes, closed=True)
        table = read_submission(source, OBJECTNET.form, vocabularies)
        if truth is not None and not source.findings.total:
            missing = len(truth.images) - len(table.named)
            source.findings.notice("missing_image", "images without a row; they count as wrong", missing)
        if not source.findings.total:
            guesses = sum(int(np.count_nonzero(table.codes(name) != NO_GUESS)) for name in GUESSES)
            notice_nothing_to_score(source.findings, guesses, guesses)
        return table

    def evaluate(
        self, truth: ObjectNetTruth, table: SubmissionTable, parameters: ObjectNetParameters, progress: Progress
    ) -> Outcome:
        """Score the guesses in a submission on every split."""
        progress("scoring", 0.0)
        trials = trials_of(truth, table, parameters.top_k)
        reports = truth.for_each_split(lambda split: split_report(truth, trials, truth.splits[split]))
        return Outcome(reports, partial(trials.statistics, metrics), trials=lambda metric: trials.images)

    def template(self, truth: ObjectNetTruth) -> str:
        """Return the template submission, which has a row for every image, but no guesses."""
        return csv_text((), ((image, *["-1", "0"] * len(GUESSES)) for image in truth.images))

    def ceiling(self, truth: ObjectNetTruth, parameters: ObjectNetParameters) -> str:
        """Return the best possible submission, whose first guess is the correct class of each image."""
        rest = ["-1", "0"] * (len(GUESSES) - 1)
        pairs = zip(truth.images, truth.answers.tolist(), strict=True)
        return csv_text((), ((image, answer, "1", *rest) for image, answer in pairs if answer >= 0))


SCORER = ObjectNetScorer()
