"""Detections by the kernels: the same report as the readable way, to the last bit."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import DETECTION
from evaluator.files.notices import notice_oddities, notice_unknown_images
from evaluator.kernels import detections as kernels
from evaluator.kernels.curves import average_precision, scatter
from evaluator.problems import Findings
from evaluator.report import SplitReport
from evaluator.tracks.contest import ReadableWay, Streaming
from evaluator.tracks.detection_reader import DetectionReader, Entries, truth_of
from evaluator.tracks.detection_report import objects, summary
from evaluator.tracks.streaming import read_all
from evaluator.truth import Truth

HALVES = {"all": (0, 1), "public": (0,), "private": (1,)}


def stream(
    truth: Truth, submission: Streaming, parameters: Mapping[str, Any], findings: Findings
) -> dict[str, SplitReport]:
    """Score a submission on every split while it is read.

    Raises
    ------
    ReadableWay
    """
    weight = parameters["group_of_weight"]
    if parameters["expand_predictions"] or weight not in (0.0, 1.0):
        raise ReadableWay("parameters that change single predictions or weights")
    known = truth_of(truth)
    readers: Sequence[DetectionReader] = read_all(
        submission,
        DETECTION,
        lambda heading: [DetectionReader(known, heading, parameters) for _ in range(submission.threads)],
    )
    submission.progress("matching", 0.0)
    join(readers)
    if parameters["require_all_images"] and not np.any([reader.state.named for reader in readers], axis=0).all():
        raise ReadableWay("missing images")
    submission.progress("scoring", 0.0)
    curves = Curves.of([part for reader in readers for part in reader.entries()], len(truth.texts["labels"]))
    with ThreadPoolExecutor(submission.threads) as pool:
        list(pool.map(curves.sort, range(2 * curves.labels)))
    note(truth, readers, findings)
    return {name: fold(truth, curves, name, weight) for name in truth.splits}


def join(readers: Sequence[DetectionReader]) -> None:
    """Bring together what the threads know of the same images."""
    first, *others = readers
    if not first.heading.kaggle:
        for other in others:
            first.join(other)
        first.settle()
        return
    times_named = np.sum([reader.state.named for reader in readers], axis=0)
    strangers = np.concatenate([part for reader in readers for part in reader.strangers] or [np.empty(0, np.uint64)])
    if times_named.max(initial=0) > 1 or len(np.unique(strangers)) < len(strangers):
        raise ReadableWay("an image in two rows")


def note(truth: Truth, readers: Sequence[DetectionReader], findings: Findings) -> None:
    """Add the notices."""
    counts = np.sum([reader.state.counts for reader in readers], axis=0).tolist()
    if not truth.flags["images_listed"]:
        notice_unknown_images(findings, counts[kernels.UNKNOWN_IMAGES])
    notice_oddities(
        findings,
        inverted=counts[kernels.INVERTED],
        outside=counts[kernels.OUTSIDE],
        beyond=counts[kernels.BEYOND_ONE],
        unknown_labels=counts[kernels.UNKNOWN_LABELS],
    )


@dataclass(slots=True)
class Curves:
    """The entries of all curves as keys, bucket by bucket; a bucket is class × 2 + (private: 1).

    Attributes
    ----------
    keys : uint64 array of shape (N,)
    ends : int64 array of shape (buckets + 1,)
        Where each bucket begins, and the end.
    false : int64 array of shape (buckets,)
        False positives of each.
    """

    labels: int
    keys: NDArray[np.uint64]
    ends: NDArray[np.int64]
    false: NDArray[np.int64]

    @classmethod
    def of(cls, segments: Entries, labels: int) -> "Curves":
        """Put the entries in their buckets; a segment is given back once it is done."""
        tally = sum((np.bincount(codes, minlength=4 * labels) for _, codes in segments), np.zeros(4 * labels, np.int64))
        hits_and_misses = tally.reshape(2 * labels, 2)
        ends = np.r_[0, np.cumsum(hits_and_misses.sum(axis=1))]
        keys, at = np.empty(ends[-1], np.uint64), ends[:-1].copy()
        while segments:
            scatter(*segments.pop(), at, keys)
        return cls(labels, keys, ends, hits_and_misses[:, 1])

    def bucket(self, number: int) -> NDArray[np.uint64]:
        """Return the keys of one class and half."""
        return self.keys[self.ends[number] : self.ends[number + 1]]

    def sort(self, number: int) -> None:
        """Put a bucket's keys in order, surest last."""
        self.bucket(number).sort()

    def values(self, truths: NDArray[np.float64], halves: Sequence[int]) -> Iterator[float]:
        """Yield the average precision of each class over some halves, NaN where it is undefined."""
        room = np.empty((2, len(self.keys)))
        nothing = np.empty(0, np.uint64)
        for label in range(self.labels):
            parts = [self.bucket(2 * label + half) if half in halves else nothing for half in (0, 1)]
            defined = truths[label] > 0
            yield average_precision(*parts, truths[label], *room) if defined else np.nan


def fold(truth: Truth, curves: Curves, split: str, weight: float) -> SplitReport:
    """Sum up one split: AP of each class, and their mean."""
    truths = objects(truth, split, weight)
    halves = list(HALVES[split])
    scored = np.diff(curves.ends).reshape(-1, 2)[:, halves].sum(axis=1)
    false = curves.false.reshape(-1, 2)[:, halves].sum(axis=1)
    values = np.fromiter(curves.values(truths, halves), np.float64, curves.labels)
    return summary(truth, values, truths, scored=scored, true=(scored - false).astype(float), false=false)
