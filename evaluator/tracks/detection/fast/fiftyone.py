"""Scores submissions to the detection track by FiftyOne's rules with compiled kernels.

Reports are identical to those of the reference implementation.
"""

from collections.abc import Sequence

import numpy as np

from evaluator.catalog import DETECTION
from evaluator.files.blocks import Declined
from evaluator.kernels.detection.state import MAX_PER_IMAGE_AND_CLASS
from evaluator.metrics.resampling import crowded_images
from evaluator.problems import Findings
from evaluator.report import ReferenceNeeded, SplitReport
from evaluator.request import ScoringRequest
from evaluator.tracks.detection.entries import ScoredDetections
from evaluator.tracks.detection.explain.figures import with_rates
from evaluator.tracks.detection.fast.collecting_reader import evaluate_kept
from evaluator.tracks.detection.fast.fiftyone_reader import FiftyOneReader, Labelled
from evaluator.tracks.detection.fast.file_entries import entries_with_images, report, sorted_entries
from evaluator.tracks.detection.fast.reader import refuse_missing_images
from evaluator.tracks.detection.fast.truth import kernel_truth
from evaluator.tracks.detection.fiftyone import counted
from evaluator.tracks.detection.truth import DetectionParameters, DetectionTruth
from evaluator.tracks.interface import Outcome
from evaluator.tracks.shared.curves.buckets import EntryBuckets
from evaluator.tracks.shared.curves.weighted import WeightedBuckets
from evaluator.tracks.shared.fast import (
    FileHeader,
    add_notices,
    predictions_of_images,
    read_all,
    require_one_row_per_image,
)


def fiftyone_outcome(
    truth: DetectionTruth, request: ScoringRequest, parameters: DetectionParameters, findings: Findings
) -> Outcome:
    """Return the outcome of a submission. A detection matches only objects of its own class.

    Raises
    ------
    Declined
        If the reference implementation must read the file.
    """
    arrays = kernel_truth(truth, expand_predictions=parameters.expand_predictions)
    labelled = Labelled.of(truth, arrays)
    resources, keeps_images, weight = request.resources, request.report.needs_images, parameters.group_of_weight

    def readers_for(header: FileHeader) -> Sequence[FiftyOneReader]:
        options = arrays, header, parameters, labelled.positions
        return [FiftyOneReader(*options, keeps_images=keeps_images) for _ in range(resources.threads)]

    readers = read_all(request.submission, resources, DETECTION, readers_for)
    resources.progress("matching", 0.0)
    match_kept(readers)
    refuse_missing_images(readers, parameters)
    resources.progress("scoring", 0.0)
    entries = entries_with_images(readers, weight) if keeps_images else None
    buckets = sorted_entries(readers, truth, weight, resources.threads)
    add_notices(truth, readers, findings)
    part = counted(truth, parameters) if keeps_images else truth.for_reports(truth.labelled, labelled.counts)
    splits = part.for_each_split(lambda split: report_with_rates(part, buckets, split, weight))
    if entries is None:
        return Outcome(splits)
    scored = ScoredDetections(part, entries, weight, crowded_images(predictions_of_images(readers)))
    return Outcome(splits, scored.statistics, scored.curves)


def match_kept(readers: Sequence[FiftyOneReader]) -> None:
    """Match the predictions that the readers have kept, unless they were matched while the file was read.

    Raises
    ------
    Declined
        If an image has two rows in the Kaggle layout, or more than 10,000 predictions.
    """
    if readers[0].header.kaggle:
        require_one_row_per_image(readers)
        return
    predictions = predictions_of_images(readers)
    if predictions.max(initial=0) > MAX_PER_IMAGE_AND_CLASS:
        raise Declined(ReferenceNeeded.OVERFULL_IMAGE)
    evaluate_kept(readers, predictions)


def report_with_rates(
    truth: DetectionTruth, buckets: EntryBuckets | WeightedBuckets, split: str, group_weight: float
) -> SplitReport:
    """Return the score report for one split, with precision, recall and F1."""
    found = report(truth, buckets, split, group_weight)
    predicted = np.zeros(len(truth.labels))
    for row in found.classes:
        predicted[truth.label_codes[str(row["label"])]] = row["scored"]
    return with_rates(truth, found, predicted)
