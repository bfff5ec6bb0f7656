"""Scoring of detections by kernels, with the same report as the reference implementation to the last bit."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import DETECTION
from evaluator.files.blocks import Declined
from evaluator.kernels.detection.state import MAX_PER_IMAGE_AND_CLASS, KernelTruth
from evaluator.metrics.bootstrap import Numbers
from evaluator.metrics.resampling import crowded_images
from evaluator.problems import Findings
from evaluator.report import ReferenceNeeded, SplitReport
from evaluator.request import ScoringRequest
from evaluator.tracks.detection.entries import Entries, ScoredDetections
from evaluator.tracks.detection.fast.reader import DetectionReader, kernel_truth
from evaluator.tracks.detection.summary import EntryCounts, split_report
from evaluator.tracks.detection.truth import DetectionParameters, DetectionTruth
from evaluator.tracks.interface import Outcome
from evaluator.tracks.shared.buckets import HALVES, EntryBuckets
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
    """Score a submission on every split, or return why the reference implementation is needed."""
    if parameters.expand_predictions or parameters.group_of_weight not in (0.0, 1.0):
        return ReferenceNeeded.OTHER_PARAMETERS
    if parameters.protocol != "tfod":
        return ReferenceNeeded.OTHER_PROTOCOL
    try:
        return outcome_of(truth, request, parameters, findings)
    except Declined as declined:
        return declined.reason


def outcome_of(
    truth: DetectionTruth, request: ScoringRequest, parameters: DetectionParameters, findings: Findings
) -> Outcome:
    """Return the outcome of a submission, whose predictions are matched while the file is read.

    Raises
    ------
    Declined
    """
    weight, progress = parameters.group_of_weight, request.resources.progress
    readers = read_file(truth, request, parameters)
    progress("matching", 0.0)
    merge_threads(readers)
    if parameters.require_all_images and not np.any([reader.state.named for reader in readers], axis=0).all():
        raise Declined(ReferenceNeeded.MISSING_IMAGES)
    progress("scoring", 0.0)
    entries = entries_with_images(readers) if request.report.needs_images else None
    classes = 2 * len(truth.labels) + 2  # This includes the codes of entries that are not scored.
    buckets = EntryBuckets.of([part for reader in readers for part in reader.entries()], classes)
    buckets.sort(request.resources.threads)
    add_notices(truth, readers, findings)
    splits = {name: report(truth, buckets, name, weight) for name in truth.splits}
    if entries is None:
        return Outcome(splits)
    scored = ScoredDetections(truth, entries, weight, crowded_images(predictions_of_images(readers)))
    return Outcome(splits, scored.statistics, scored.curves)


def read_file(
    truth: DetectionTruth, request: ScoringRequest, parameters: DetectionParameters
) -> Sequence[DetectionReader]:
    """Read the file, and read it again if some of its images are overfull.

    Raises
    ------
    Declined
    """
    arrays = kernel_truth(truth)
    readers = read_once(request, arrays, parameters, np.zeros(len(truth.usage), bool))
    overfull = predictions_of_images(readers) > MAX_PER_IMAGE_AND_CLASS
    if overfull.any():
        del readers  # This frees their memory before the second reading.
        readers = read_once(request, arrays, parameters, overfull)
    return readers


def read_once(
    request: ScoringRequest, truth: KernelTruth, parameters: DetectionParameters, overfull: NDArray[np.bool_]
) -> Sequence[DetectionReader]:
    """Read the file with one reader for each thread; predictions of overfull images are collected, not matched.

    Raises
    ------
    Declined
    """
    overfull.flags.writeable = False

    def readers(header: FileHeader) -> Sequence[DetectionReader]:
        needs_images = request.report.needs_images
        return [
            DetectionReader(truth, header, parameters, needs_images, overfull) for _ in range(request.resources.threads)
        ]

    return read_all(request, DETECTION, readers)


def entries_with_images(readers: Sequence[DetectionReader]) -> Entries:
    """Return the entries of all threads with their images."""
    segments = [part for reader in readers for part in reader.entries()]
    confidences, codes = (np.concatenate(parts) for parts in zip(*segments, strict=True))
    images = np.concatenate([part for reader in readers for part in reader.entry_images()])
    return Entries(images, codes >> np.uint32(2), confidences, (codes & np.uint32(1) == 0).astype(float))


def merge_threads(readers: Sequence[DetectionReader]) -> None:
    """Merge the states of all threads into that of the first reader, and match the predictions of overfull images."""
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


def report(truth: DetectionTruth, buckets: EntryBuckets, split: str, group_weight: float) -> SplitReport:
    """Return the report of one split."""
    halves, classes = list(HALVES[split]), len(truth.labels)
    scored = np.diff(buckets.ends).reshape(-1, 2)[:classes, halves].sum(axis=1)
    false = buckets.false.reshape(-1, 2)[:classes, halves].sum(axis=1)

    def areas(positives: Numbers) -> Numbers:
        return buckets.average_precisions(positives, halves)

    counts = EntryCounts(scored, (scored - false).astype(float), false)
    return split_report(truth, split, group_weight, areas, counts)
