"""Scoring of detections by kernels, with the same report as the reference implementation to the last bit."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import DETECTION
from evaluator.kernels.detection.state import DetectionTruth
from evaluator.problems import Findings
from evaluator.report import SplitReport
from evaluator.tracks.detection.fast.overfull import overfull_images
from evaluator.tracks.detection.fast.reader import DetectionReader, truth_of
from evaluator.tracks.detection.resampling import Entries
from evaluator.tracks.detection.summary import objects, summary
from evaluator.tracks.interface import Outcome, ReferenceNeeded, ScoringRequest
from evaluator.tracks.shared.buckets import HALVES, EntryBuckets
from evaluator.tracks.shared.fast import FileHeader, add_notices, read_all, require_one_row_per_image
from evaluator.truth import Truth


def score(truth: Truth, submission: ScoringRequest, parameters: Mapping[str, Any], findings: Findings) -> Outcome:
    """Score a submission on every split, matching predictions while the file is read.

    Raises
    ------
    ReferenceNeeded
        If the submission or the parameters need the reference implementation.
    """
    weight = parameters["group_of_weight"]
    if parameters["expand_predictions"] or weight not in (0.0, 1.0):
        raise ReferenceNeeded("parameters that change single predictions or weights")
    if parameters["protocol"] != "tfod":
        raise ReferenceNeeded("another protocol")
    known = truth_of(truth)
    readers = read(submission, known, parameters, np.zeros(len(known.usage), bool))
    too_many = overfull_images([reader.state for reader in readers])
    if too_many.any():
        del readers  # frees their memory before the second reading
        readers = read(submission, known, parameters, too_many)
    submission.progress("matching", 0.0)
    merge_threads(readers)
    if parameters["require_all_images"] and not np.any([reader.state.named for reader in readers], axis=0).all():
        raise ReferenceNeeded("missing images")
    submission.progress("scoring", 0.0)
    entries = scored_entries(readers, len(truth.texts["labels"])) if submission.keeps_images else None
    classes = 2 * len(truth.texts["labels"]) + 1  # with the codes of entries that are not scored
    buckets = EntryBuckets.of([part for reader in readers for part in reader.entries()], classes)
    buckets.sort(submission.threads)
    add_notices(truth, readers, findings)
    splits = {name: split_report(truth, buckets, name, weight) for name in truth.splits}
    if entries is None:
        return Outcome(splits)
    return Outcome(splits, partial(entries.sample, truth, weight), partial(entries.curves, truth, weight))


def read(
    submission: ScoringRequest, truth: DetectionTruth, parameters: Mapping[str, Any], overfull: NDArray[np.bool_]
) -> Sequence[DetectionReader]:
    """Read the file with one reader for each thread; predictions of overfull images are collected, not matched.

    Raises
    ------
    ReferenceNeeded
    """
    overfull.flags.writeable = False

    def readers(header: FileHeader) -> Sequence[DetectionReader]:
        threads = range(submission.threads)
        return [DetectionReader(truth, header, parameters, submission.keeps_images, overfull) for _ in threads]

    return read_all(submission, DETECTION, readers)


def scored_entries(readers: Sequence[DetectionReader], labels: int) -> Entries:
    """Return the entries of all threads that are scored, with their images."""
    segments = [part for reader in readers for part in reader.entries()]
    confidences, codes = (np.concatenate(parts) for parts in zip(*segments, strict=True))
    images = np.concatenate([part for reader in readers for part in reader.entry_images()])
    entries = Entries(images, codes >> np.uint32(2), confidences, (codes & np.uint32(1) == 0).astype(float))
    are_scored = entries.labels < labels
    return entries if are_scored.all() else entries[are_scored]


def merge_threads(readers: Sequence[DetectionReader]) -> None:
    """Merge the states of all threads into the first reader's, and match the predictions of overfull images."""
    first, *others = readers
    if first.header.kaggle:
        require_one_row_per_image(readers)
    else:
        for other in others:
            first.merge(other)
    first.match_collected(readers)
    if not first.header.kaggle:
        first.finish()


def split_report(truth: Truth, buckets: EntryBuckets, split: str, weight: float) -> SplitReport:
    """Return the report of one split: the average precision of each class, and their mean."""
    positives = objects(truth, split, weight)
    halves = list(HALVES[split])
    scored = np.diff(buckets.ends).reshape(-1, 2)[: len(positives), halves].sum(axis=1)
    false = buckets.false.reshape(-1, 2)[: len(positives), halves].sum(axis=1)
    values = np.fromiter(buckets.average_precisions(positives, halves), np.float64, len(positives))
    return summary(truth, split, values, positives, scored=scored, true=(scored - false).astype(float), false=false)
