"""Scores or checks submissions to the detection track with compiled kernels.

Reports are identical to those of the reference implementation.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import DETECTION
from evaluator.files.blocks import Declined
from evaluator.kernels.detection.state import MAX_PER_IMAGE_AND_CLASS, NONE_OF_IMAGE, WITH_AREA, KernelTruth
from evaluator.metrics.resampling import crowded_images
from evaluator.problems import Findings
from evaluator.report import ReferenceNeeded
from evaluator.request import Resources, ScoringRequest
from evaluator.threads import call_all
from evaluator.tracks.detection.entries import ScoredDetections
from evaluator.tracks.detection.fast.explain.explanation import explained
from evaluator.tracks.detection.fast.fiftyone import fiftyone_outcome
from evaluator.tracks.detection.fast.file_entries import entries_with_images, report, sorted_entries
from evaluator.tracks.detection.fast.reader import DetectionReader, refuse_missing_images
from evaluator.tracks.detection.fast.truth import kernel_truth, public_kernel_truth
from evaluator.tracks.detection.truth import DetectionParameters, DetectionTruth
from evaluator.tracks.interface import Outcome
from evaluator.tracks.shared.fast import (
    FileHeader,
    add_notices,
    predictions_of_images,
    read_all,
    require_one_row_per_image,
)

Evaluation = Callable[[DetectionTruth, ScoringRequest, DetectionParameters, Findings], Outcome]


def score(
    truth: DetectionTruth, request: ScoringRequest, parameters: DetectionParameters, findings: Findings
) -> Outcome | ReferenceNeeded:
    """Score a submission on every split, or return the reason why the reference implementation is needed."""
    evaluate = evaluation_of(request, parameters)
    if isinstance(evaluate, ReferenceNeeded):
        return evaluate
    try:
        return evaluate(truth, request, parameters, findings)
    except Declined as declined:
        return declined.reason


def evaluation_of(request: ScoringRequest, parameters: DetectionParameters) -> Evaluation | ReferenceNeeded:
    """Return the function that scores or explains a submission, or why the reference implementation is needed."""
    if not parameters.classwise:
        return ReferenceNeeded.ACROSS_CLASSES
    return outcome_of_explanation if request.report.explains else scoring_of(parameters)


def scoring_of(parameters: DetectionParameters) -> Evaluation:
    """Return the function that scores a submission by the rules that ``parameters.protocol`` names."""
    return fiftyone_outcome if parameters.protocol == "fiftyone" else outcome_of


def check(
    truth: DetectionTruth,
    submission: Path,
    parameters: DetectionParameters,
    resources: Resources,
    findings: Findings,
) -> ReferenceNeeded | None:
    """Read a submission without scoring it, and add notices about it to ``findings``.

    Return None if the file has no defect; otherwise, return the reason why the reference implementation must check the
    file. Only the public parts of the ground truth are used. Therefore, ``truth`` may come from a check kit, the file
    that participants use to check submissions offline.
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
    buckets = sorted_entries(readers, truth, weight, request.resources.threads)
    add_notices(truth, readers, findings)
    splits = truth.for_each_split(lambda name: report(truth, buckets, name, weight))
    if entries is None:
        return Outcome(splits)
    scored = ScoredDetections(truth, entries, weight, crowded_images(predictions_of_images(readers)))
    return Outcome(splits, scored.statistics, scored.curves)


def outcome_of_explanation(
    truth: DetectionTruth, request: ScoringRequest, parameters: DetectionParameters, findings: Findings
) -> Outcome:
    """Return the outcome of a submission, with the tables that explain it.

    An explanation does not keep the image of each curve entry. Therefore, if intervals are requested, the file is
    scored a second time.

    Raises
    ------
    Declined
        If the reference implementation must read the file.
    """
    outcome = explained(truth, request, parameters, findings)
    if request.report.bootstrap:
        scored = scoring_of(parameters)(truth, request, parameters, Findings())
        outcome = replace(outcome, statistics=scored.statistics)
    return outcome


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


def merge_threads(readers: Sequence[DetectionReader]) -> None:
    """Merge the matches that all threads have found, and match the predictions that they have collected."""
    first, *others = readers
    predictions = predictions_of_images(readers)
    first.state.image_predictions[:] = predictions
    for other in others:
        other.state.image_predictions[:] = 0
    if first.header.kaggle:
        require_one_row_per_image(readers)
    first.match_collected(readers)
    if not first.header.kaggle:
        _finish_images(readers, predictions)


def _finish_images(readers: Sequence[DetectionReader], predictions: NDArray[np.int64]) -> None:
    """Merge the matches of all threads, and add the true positives to the curves.

    The images are divided among the threads, and each thread does this for its images.
    ``predictions`` contains the number of predictions for each image. Afterwards, each reader has those of its images.
    """
    starts = np.linspace(0, len(predictions), len(readers) + 1).astype(int).tolist()
    calls = []
    for reader, (start, stop) in zip(readers, pairwise(starts), strict=True):
        reader.state.image_predictions[:] = 0
        reader.state.image_predictions[start:stop] = predictions[start:stop]
        others = [other for other in readers if other is not reader]
        calls.append(partial(reader.finish, others, start, stop))
    call_all(calls, len(calls))
