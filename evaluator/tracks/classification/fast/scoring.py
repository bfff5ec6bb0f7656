"""Scores or checks submissions to the classification track with compiled kernels.

Reports are identical to those of the reference implementation.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import CLASSIFICATION
from evaluator.files.blocks import Declined
from evaluator.files.notices import notice_no_predictions
from evaluator.kernels.classification.state import KernelTruth
from evaluator.kernels.reading import NEGATIVE
from evaluator.metrics.bootstrap import Numbers
from evaluator.problems import Findings
from evaluator.report import ReferenceNeeded, SplitReport
from evaluator.request import Resources, ScoringRequest
from evaluator.tracks.classification.entries import (
    Entries,
    confidences_of,
    curves,
    report_of,
    split_report,
    statistics,
)
from evaluator.tracks.classification.explanation import explained
from evaluator.tracks.classification.fast.reader import ClassificationReader, highest_of
from evaluator.tracks.classification.fast.truth import entry_codes, kernel_truth, public_kernel_truth
from evaluator.tracks.classification.truth import ClassificationTruth
from evaluator.tracks.interface import Outcome, Splits
from evaluator.tracks.shared.curves.buckets import HALVES, EntryBuckets
from evaluator.tracks.shared.fast import FileHeader, add_notices_of_predictions, read_all, require_one_row_per_image
from evaluator.tracks.shared.parameters import TrackParameters


def score(
    truth: ClassificationTruth, request: ScoringRequest, parameters: TrackParameters, findings: Findings
) -> Outcome | ReferenceNeeded:
    """Score a submission on every split, or return the reason why the reference implementation is needed."""
    wanted, resources, arrays = request.report, request.resources, kernel_truth(truth)
    try:
        readers = read_file(request.submission, resources, arrays)
    except Declined as declined:
        return declined.reason
    has_negatives = add_all_notices(truth, readers, findings)[NEGATIVE] > 0
    resources.progress("scoring", 0.0)
    confidences = confidences_of(highest_of(readers))
    del readers  # Free the memory of the readers before the curves are computed.
    if has_negatives:  # The sort keys of kernels have no room for the sign of a confidence.
        splits = truth.for_each_split(partial(split_report, truth, Entries.with_confidences(truth, confidences)))
    else:
        splits = splits_of(truth, confidences, entry_codes(truth, arrays), resources.threads)
    if not (wanted.needs_images or wanted.explains):
        return Outcome(splits)
    entries = Entries.with_confidences(truth, confidences)
    outcome = Outcome(splits, partial(statistics, truth, entries), partial(curves, truth, entries))
    return explained(truth, entries, outcome) if wanted.explains else outcome


def check(
    truth: ClassificationTruth,
    submission: Path,
    parameters: TrackParameters,
    resources: Resources,
    findings: Findings,
) -> ReferenceNeeded | None:
    """Read a submission without scoring it, and add notices about it to ``findings``.

    Return None if the file has no defect; otherwise, return the reason why the reference implementation must check the
    file. Only the public parts of the ground truth are used. Therefore, ``truth`` may come from a check kit, the file
    that participants use to check submissions offline.
    """
    try:
        readers = read_file(submission, resources, public_kernel_truth(truth))
    except Declined as declined:
        return declined.reason
    add_all_notices(truth, readers, findings)
    return None


def read_file(submission: Path, resources: Resources, truth: KernelTruth) -> Sequence[ClassificationReader]:
    """Read a submission file with one reader for each thread.

    Raises
    ------
    Declined
        If the reference implementation must read the file.
    """

    def all_readers(header: FileHeader) -> Sequence[ClassificationReader]:
        return [ClassificationReader(truth, header) for _ in range(resources.threads)]

    readers = read_all(submission, resources, CLASSIFICATION, all_readers)
    if readers[0].header.kaggle:
        require_one_row_per_image(readers)
    return readers


def add_all_notices(
    truth: ClassificationTruth, readers: Sequence[ClassificationReader], findings: Findings
) -> list[int]:
    """Add notices about a submission to ``findings``, after it has been read. Return the counters of all threads."""
    counts, predictions = add_notices_of_predictions(truth, readers, findings)
    notice_no_predictions(findings, predictions)
    return counts


def splits_of(
    truth: ClassificationTruth, confidences: NDArray[np.float64], codes: NDArray[np.uint32], threads: int
) -> Splits:
    """Return the report of each split.

    Parameters
    ----------
    confidences : float64 array of shape (V,), nonnegative
        The confidence of each verified label.
    codes : uint32 array of shape (V,)
        See :func:`entry_codes`.
    """
    classes = len(truth.labels)
    buckets = EntryBuckets.of([(confidences, codes)], 2 * classes, threads)
    buckets.sort()

    def report(split: str) -> SplitReport:
        hits, _, misses = buckets.counts(HALVES[split])[:, :classes]

        def areas(positives: Numbers) -> Numbers:
            return buckets.average_precisions(positives, HALVES[split], interpolated=False)

        return report_of(truth, split, hits + misses, hits, areas)

    return truth.for_each_split(report)
