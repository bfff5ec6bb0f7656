"""Computes reports and statistics from the precision/recall curve entries that the readers of a file have found."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.curves.average_precision import MISS, PARTIAL_HIT
from evaluator.kernels.detection.state import DetectionState
from evaluator.kernels.reading import NEGATIVE
from evaluator.metrics.bootstrap import Numbers
from evaluator.report import SplitReport
from evaluator.tracks.detection.entries import Entries
from evaluator.tracks.detection.summary import EntryCounts, split_report
from evaluator.tracks.detection.truth import DetectionTruth
from evaluator.tracks.shared.curves.buckets import HALVES, EntryBuckets, Segments
from evaluator.tracks.shared.curves.weighted import WeightedBuckets


class EntryReader(Protocol):
    """A reader that has found curve entries: predictions and matched groups in precision/recall curves."""

    @property
    def state(self) -> DetectionState:
        """The arrays that the kernels have updated."""

    def entries(self) -> Segments:
        """Return the confidences and codes of all curve entries, one pair of arrays per memory segment."""

    def entry_images(self) -> list[NDArray[np.int32]]:
        """Return the image of each curve entry, in one array per memory segment."""

    def forget_entries(self) -> None:
        """Remove all curve entries, so that their memory can be freed."""


def sorted_entries(
    readers: Sequence[EntryReader], truth: DetectionTruth, group_weight: float, threads: int
) -> EntryBuckets | WeightedBuckets:
    """Return the curve entries of all threads, sorted by class and confidence. The readers do not keep them."""
    # Each label has one class for scored entries and one for unscored entries. All unknown labels count as one label.
    classes = 2 * len(truth.labels) + 2
    segments = [part for reader in readers for part in reader.entries()]
    for reader in readers:
        reader.forget_entries()
    has_negatives = any(reader.state.counts[NEGATIVE] for reader in readers)
    if has_negatives or group_weight not in (0.0, 1.0):
        return WeightedBuckets.of(segments, classes, group_weight, threads)
    buckets = EntryBuckets.of(segments, classes, threads)
    buckets.sort()
    return buckets


def entries_with_images(readers: Sequence[EntryReader], group_weight: float) -> Entries:
    """Return the curve entries of all threads, with the image of each entry."""
    segments = [part for reader in readers for part in reader.entries()]
    confidences, codes = (np.concatenate(parts) for parts in zip(*segments, strict=True))
    images = np.concatenate([part for reader in readers for part in reader.entry_images()])
    weights = np.where(codes >= PARTIAL_HIT, group_weight, (codes & np.uint32(MISS) == 0).astype(float))
    return Entries(images, (codes & np.uint32(PARTIAL_HIT - 1)) >> np.uint32(2), confidences, weights)


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
