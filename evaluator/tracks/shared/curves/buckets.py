"""Sorts the entries of precision/recall curves into two buckets per class, for public and for private images."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.curves.average_precision import average_precisions, count, scatter
from evaluator.kernels.curves.sorting import Scratch, sort_buckets

Segments = list[tuple[NDArray[np.float64], NDArray[np.uint32]]]
"""Confidences and codes of curve entries, in several pairs of arrays.

A code is class × 4, plus 2 for a private image, plus the kind of the entry; see
:mod:`evaluator.kernels.curves.average_precision`.
"""
WORTH_THREADS = 100_000  # For fewer sort keys than this, starting threads takes longer than sorting.
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
    """

    keys: NDArray[np.uint64]
    ends: NDArray[np.int64]
    false: NDArray[np.int64]

    @classmethod
    def of(cls, segments: Segments, labels: int) -> "EntryBuckets":
        """Sort the curve entries in ``segments`` into buckets. ``labels`` is the number of classes.

        To free memory, each segment is removed from the list as soon as its entries have been copied.
        """
        tally = np.zeros(4 * labels, np.int64)
        for _, codes in segments:
            count(codes, tally)
        hits_and_misses = tally.reshape(2 * labels, 2)
        ends = np.r_[0, np.cumsum(hits_and_misses.sum(axis=1))]
        keys, next_free = np.empty(ends[-1], np.uint64), ends[:-1].copy()
        while segments:
            scatter(*segments.pop(), next_free, keys)
        return cls(keys, ends, hits_and_misses[:, 1])

    def sort(self, threads: int) -> None:
        """Sort the keys of each bucket in place, in ascending order of confidence."""
        if len(self.keys) < WORTH_THREADS:
            return self._sort(0, 1)
        with ThreadPoolExecutor(threads) as pool:
            for share in [pool.submit(self._sort, first, threads) for first in range(threads)]:
                share.result()

    def _sort(self, first: int, step: int) -> None:
        longest = int(np.diff(self.ends).max(initial=0))
        sort_buckets(self.keys, self.ends, first, step, Scratch.for_keys(longest))

    def counts(self, halves: Sequence[int]) -> NDArray[np.int64]:
        """Return the numbers of hits, of partial hits (always 0) and of false positives, shape (3, classes).

        ``halves`` selects the public images (0), the private images (1), or both.
        """
        entries, false = (
            found.reshape(-1, 2)[:, list(halves)].sum(axis=1) for found in (np.diff(self.ends), self.false)
        )
        return np.stack([entries - false, np.zeros_like(false), false])

    def average_precisions(self, positives: NDArray[np.float64], halves: Sequence[int]) -> NDArray[np.float64]:
        """Return the average precision of each class, NaN for a class without positives.

        ``positives`` contains the number of positives of each class. ``halves`` selects the public images (0), the
        private images (1), or both. All curves are computed, even those of classes without positives and those of the
        additional classes for entries that are not scored. Otherwise, the scoring time would reveal which classes have
        positives, and which entries are not scored.
        """
        classes = len(self.ends) // 2
        defined = np.ones(classes)
        defined[: len(positives)] = np.where(positives > 0, positives, 1.0)
        scratch, found = np.empty((2, len(self.keys))), np.empty(classes)
        average_precisions(self.keys, self.ends, defined, 0 in halves, 1 in halves, *scratch, found)
        return np.where(positives > 0, found[: len(positives)], np.nan)
