"""Sorts the entries of precision/recall curves into two buckets per class, for public and for private images."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.curves.average_precision import average_precisions, count, scatter
from evaluator.kernels.curves.sorting import Scratch, sort_buckets
from evaluator.threads import call_all
from evaluator.tracks.shared.curves.shares import SHARES_PER_THREAD, WORTH_THREADS, for_each_share

Segments = list[tuple[NDArray[np.float64], NDArray[np.uint32]]]
"""Confidences and codes of curve entries, in several pairs of arrays.

A code is class × 4, plus 2 for a private image, plus the kind of the entry; see
:mod:`evaluator.kernels.curves.average_precision`.
"""
HALVES = {"all": (0, 1), "public": (0,), "private": (1,)}


@dataclass(slots=True)
class EntryBuckets:
    """The sort keys of all entries in precision/recall curves, bucket by bucket.

    The entries have no negative confidences, and none of them is a partial hit (a hit with a weight below 1).

    The number of a bucket is class × 2, plus 1 for private images.

    Attributes
    ----------
    keys : uint64 array of shape (N,)
        Sort keys, as :func:`evaluator.kernels.curves.average_precision.scatter` writes them.
    ends : int64 array of shape (buckets + 1,)
        Position in ``keys`` of the first key of each bucket; the last element is N.
    false : int64 array of shape (buckets,)
        Number of false positives in each bucket.
    threads : int
    """

    keys: NDArray[np.uint64]
    ends: NDArray[np.int64]
    false: NDArray[np.int64]
    threads: int = 1

    @classmethod
    def of(cls, segments: Segments, labels: int, threads: int = 1) -> "EntryBuckets":
        """Sort the curve entries in ``segments`` into buckets. ``labels`` is the number of classes.

        The list is emptied, so that the memory of each segment is freed as soon as its entries have been copied.
        """
        total = sum(len(codes) for _, codes in segments)
        if total < WORTH_THREADS:
            threads = 1
        # Each part needs a tally of all 4 * labels codes. A part that is shorter than several tallies would be slower.
        size = max(total // (SHARES_PER_THREAD * threads) + 1, 16 * labels)
        parts = _parts(segments, size) if threads > 1 else list(segments)
        segments.clear()
        tallies = np.zeros((len(parts), 4 * labels), np.int64)
        call_all([partial(count, codes, tally) for (_, codes), tally in zip(parts, tallies, strict=True)], threads)
        false = tallies[:, 1::2]
        sizes = tallies[:, ::2] + false
        ends = np.r_[0, np.cumsum(sizes.sum(axis=0))]
        keys = np.empty(ends[-1], np.uint64)
        # Within each bucket, the keys of a part are stored after the keys of all earlier parts.
        next_free = ends[:-1] + np.cumsum(sizes, axis=0) - sizes
        remaining = [(*part, free) for part, free in zip(parts, next_free, strict=True)]
        parts.clear()
        call_all([lambda: scatter(*remaining.pop(), keys)] * len(remaining), threads)
        return cls(keys, ends, false.sum(axis=0), threads)

    def sort(self) -> None:
        """Sort the keys of each bucket in place, in ascending order of confidence."""

        def work(scratch: Scratch, first: int, stop: int) -> None:
            sort_buckets(self.keys, self.ends, first, stop, scratch)

        for_each_share(self.ends, self.threads, Scratch.for_keys, work)

    def counts(self, halves: Sequence[int]) -> NDArray[np.int64]:
        """Return the numbers of hits, of partial hits (always 0) and of false positives, shape (3, classes).

        ``halves`` selects the public images (0), the private images (1), or both.
        """
        entries, false = (
            found.reshape(-1, 2)[:, list(halves)].sum(axis=1) for found in (np.diff(self.ends), self.false)
        )
        return np.stack([entries - false, np.zeros_like(false), false])

    def average_precisions(
        self, positives: NDArray[np.float64], halves: Sequence[int], *, interpolated: bool = True
    ) -> NDArray[np.float64]:
        """Return the average precision of each class, NaN for a class without positives.

        ``positives`` contains the number of positives of each class. ``halves`` selects the public images (0), the
        private images (1), or both. ``interpolated`` is as in
        :func:`evaluator.tracks.shared.curves.rows.curve_row`. All curves are computed, even those of classes without
        positives and those of the additional classes for entries that are not scored. Otherwise, the scoring time would
        reveal which classes have positives, and which entries are not scored.
        """
        classes, curve_ends = len(self.ends) // 2, np.ascontiguousarray(self.ends[::2])
        defined, found = np.ones(classes), np.empty(classes)
        defined[: len(positives)] = np.where(positives > 0, positives, 1.0)
        chosen = 0 in halves, 1 in halves, interpolated

        def work(scratch: NDArray[np.float64], first: int, stop: int) -> None:
            average_precisions(self.keys, self.ends, first, stop, defined, *chosen, *scratch, found)

        for_each_share(curve_ends, self.threads, lambda longest: np.empty((2, longest)), work)
        return np.where(positives > 0, found[: len(positives)], np.nan)


def _parts(segments: Segments, size: int) -> Segments:
    """Divide long segments, so that all threads have something to do until the last entry has been copied.

    A part has at most ``size`` entries.
    """
    return [
        (confidences[start : start + size], codes[start : start + size])
        for confidences, codes in segments
        for start in range(0, len(codes), size)
    ]
