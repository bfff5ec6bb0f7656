"""Scores or checks submissions to the detection track with compiled kernels.

Reports are identical to those of the reference implementation.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import DETECTION
from evaluator.files.blocks import Declined
from evaluator.kernels.curves.average_precision import MISS, PARTIAL_HIT
from evaluator.kernels.detection.state import MAX_PER_IMAGE_AND_CLASS, NONE_OF_IMAGE, WITH_AREA, KernelTruth
from evaluator.kernels.reading import NEGATIVE
from evaluator.metrics.bootstrap import Numbers
from evaluator.metrics.resampling import crowded_images
from evaluator.problems import Findings
from evaluator.report import ReferenceNeeded, SplitReport
from evaluator.request import Resources, ScoringRequest
from evaluator.tracks.detection.entries import Entries, ScoredDetections
from evaluator.tracks.detection.fast.explanation import explained
from evaluator.tracks.detection.fast.reader import DetectionReader, refuse_missing_images
from evaluator.tracks.detection.fast.truth import kernel_truth, public_kernel_truth
from evaluator.tracks.detection.summary import EntryCounts, split_report
from evaluator.tracks.detection.truth import DetectionParameters, DetectionTruth
from evaluator.tracks.interface import Outcome
from evaluator.tracks.shared.curves.buckets import HALVES, EntryBuckets
from evaluator.tracks.shared.curves.weighted import WeightedBuckets
from evaluator.tracks.shared.fast import (
    FileHeader,
    add_notices,
    predictions_of_images,
    read_all,
    require_one_row_per_image,
)


def score(
    truth: DetectionTruth, request: ScoringRequest, parameters: DetectionParameters, findings: Findings
) -> Outcome | ReferenceNeeded:
    """Score a submission on every split, or return the reason why the reference implementation is needed."""
    if parameters.protocol != "tfod":
        return ReferenceNeeded.OTHER_PROTOCOL
    if request.report.matches or (request.report.explains and request.report.bootstrap):
        return ReferenceNeeded.EXPLANATION
    evaluate = explained if request.report.explains else outcome_of
    try:
        return evaluate(truth, request, parameters, findings)
    except Declined as declined:
        return declined.reason


def check(
    truth: DetectionTruth,
    submission: Path,
    parameters: DetectionParameters,
    resources: Resources,
    findings: Findings,
) -> ReferenceNeeded | None:
    """Read a submission without scoring it, and add notices about it to ``findings``.

    Return None if the file has no defect; otherwise, return the reason why the reference implementation must check the
    file. Only the public parts of the ground truth are used, so a check kit suffices: a file that contains only these
    parts, with which participants check submissions offline.
    """
    try:
        readers = read_once(submission, resources, public_kernel_truth(truth), parameters)
        if readers[0].header.kaggle:
            require_one_row_per_image(readers)
        refuse_missing_images(readers, parameters)
    except Declined as declined:
        return declined.reason
    add_notices(truth, readers, findings)
    return None


def outcome_of(
    truth: DetectionTruth, request: ScoringRequest, parameters: DetectionParameters, findings: Findings
) -> Outcome:
    """Return the outcome of a submission. The predictions are matched while the file is read.

    Raises
    ------
    Declined
        If the reference implementation must read the file.
    """
    weight, progress = parameters.group_of_weight, request.resources.progress
    readers = read_file(truth, request, parameters)
    progress("matching", 0.0)
    merge_threads(readers)
    refuse_missing_images(readers, parameters)
    progress("scoring", 0.0)
    entries = entries_with_images(readers, weight) if request.report.needs_images else None
    # Each label has one class for scored entries and one for unscored entries. All unknown labels count as one label.
    classes = 2 * len(truth.labels) + 2
    buckets = sorted_entries(readers, classes, weight, request.resources.threads)
    add_notices(truth, readers, findings)
    splits = truth.for_each_split(lambda name: report(truth, buckets, name, weight))
    if entries is None:
        return Outcome(splits)
    scored = ScoredDetections(truth, entries, weight, crowded_images(predictions_of_images(readers)))
    return Outcome(splits, scored.statistics, scored.curves)


def read_file(
    truth: DetectionTruth, request: ScoringRequest, parameters: DetectionParameters
) -> Sequence[DetectionReader]:
    """Read a submission file, and read it again if an image has more than 10,000 predictions.

    At most 10,000 predictions per class and image are scored. The second time, the predictions in such images are
    collected, so that the excess predictions can be removed.

    Raises
    ------
    Declined
        If the reference implementation must read the file.
    """
    arrays = kernel_truth(truth, expand_predictions=parameters.expand_predictions)
    submission, resources, keeps_images = request.submission, request.resources, request.report.needs_images
    readers = read_once(submission, resources, arrays, parameters, keeps_images=keeps_images)
    overfull = predictions_of_images(readers) > MAX_PER_IMAGE_AND_CLASS
    if overfull.any():
        del readers  # Free the memory of the readers before the submission file is read again.
        readers = read_once(submission, resources, arrays, parameters, keeps_images=keeps_images, overfull=overfull)
    return readers


def read_once(
    submission: Path,
    resources: Resources,
    truth: KernelTruth,
    parameters: DetectionParameters,
    *,
    keeps_images: bool = False,
    overfull: NDArray[np.bool_] | None = None,
) -> Sequence[DetectionReader]:
    """Read a submission file with one reader for each thread.

    Predictions in the images that ``overfull`` selects are only collected. They must be matched later, after the cap on
    predictions per image and class has been applied.

    Raises
    ------
    Declined
        If the reference implementation must read the file.
    """
    collects = np.full(len(truth.usage), NONE_OF_IMAGE, np.uint8)
    if overfull is not None:
        collects[overfull] = WITH_AREA
    collects.flags.writeable = False

    def readers(header: FileHeader) -> Sequence[DetectionReader]:
        threads = range(resources.threads)
        return [DetectionReader(truth, header, parameters, collects, keeps_images=keeps_images) for _ in threads]

    return read_all(submission, resources, DETECTION, readers)


def sorted_entries(
    readers: Sequence[DetectionReader], classes: int, group_weight: float, threads: int
) -> EntryBuckets | WeightedBuckets:
    """Return the curve entries of all threads, sorted by class and confidence."""
    segments = [part for reader in readers for part in reader.entries()]
    has_negatives = any(reader.state.counts[NEGATIVE] for reader in readers)
    if has_negatives or group_weight not in (0.0, 1.0):
        return WeightedBuckets.of(segments, classes, group_weight, threads)
    buckets = EntryBuckets.of(segments, classes)
    buckets.sort(threads)
    return buckets


def entries_with_images(readers: Sequence[DetectionReader], group_weight: float) -> Entries:
    """Return the curve entries of all threads, with the image of each entry."""
    segments = [part for reader in readers for part in reader.entries()]
    confidences, codes = (np.concatenate(parts) for parts in zip(*segments, strict=True))
    images = np.concatenate([part for reader in readers for part in reader.entry_images()])
    weights = np.where(codes >= PARTIAL_HIT, group_weight, (codes & np.uint32(MISS) == 0).astype(float))
    return Entries(images, (codes & np.uint32(PARTIAL_HIT - 1)) >> np.uint32(2), confidences, weights)


def merge_threads(readers: Sequence[DetectionReader]) -> None:
    """Merge the matches that all threads have found, and match the predictions that they have collected."""
    first, *others = readers
    predictions = predictions_of_images(readers)
    for reader in readers:
        reader.state.image_predictions[:] = predictions if reader is first else 0
    if first.header.kaggle:
        require_one_row_per_image(readers)
    else:
        for other in others:
            first.merge(other)
    first.match_collected(readers)
    if not first.header.kaggle:
        first.finish()


def report(
    truth: DetectionTruth, buckets: EntryBuckets | WeightedBuckets, split: str, group_weight: float
) -> SplitReport:
    """Return the score report for one split."""
    halves = HALVES[split]
    hits, groups, false = buckets.counts(halves)[:, : len(truth.labels)]

    def areas(positives: Numbers) -> Numbers:
        return buckets.average_precisions(positives, halves)

    counts = EntryCounts(hits + groups + false, hits + group_weight * groups, false)
    return split_report(truth, split, group_weight, areas, counts)
