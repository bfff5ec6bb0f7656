"""Sorts entries of curves into buckets, one for the public and one for the private images of each class."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.average_precision import average_precision, scatter

Segments = list[tuple[NDArray[np.float64], NDArray[np.uint32]]]
"""Confidences and codes of entries in several arrays; code = class × 4 + (private: 2) + (false positive: 1)."""
HALVES = {"all": (0, 1), "public": (0,), "private": (1,)}


@dataclass(slots=True)
class EntryBuckets:
    """The entries of all curves as sort keys, bucket by bucket; bucket = class × 2 + (private: 1).

    Attributes
    ----------
    keys : uint64 array of shape (N,)
        As :func:`evaluator.kernels.average_precision.scatter` writes them.
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
        """Put entries into their buckets, and remove each segment from the list when it is done, to free its memory."""
        tally = sum((np.bincount(codes, minlength=4 * labels) for _, codes in segments), np.zeros(4 * labels, np.int64))
        hits_and_misses = tally.reshape(2 * labels, 2)
        ends = np.r_[0, np.cumsum(hits_and_misses.sum(axis=1))]
        keys, next_free = np.empty(ends[-1], np.uint64), ends[:-1].copy()
        while segments:
            scatter(*segments.pop(), next_free, keys)
        return cls(keys, ends, hits_and_misses[:, 1])

    def bucket(self, number: int) -> NDArray[np.uint64]:
        """Return the keys of one bucket, a view."""
        return self.keys[self.ends[number] : self.ends[number + 1]]

    def sort(self, threads: int) -> None:
        """Sort the keys of each bucket in place, the highest confidence last."""
        several = np.flatnonzero(np.diff(self.ends) > 1).tolist()
        with ThreadPoolExecutor(threads) as pool:
            for share in [pool.submit(self._sort, several[first::threads]) for first in range(threads)]:
                share.result()

    def _sort(self, buckets: Sequence[int]) -> None:
        for number in buckets:
            self.bucket(number).sort()

    def average_precisions(self, positives: NDArray[np.float64], halves: Sequence[int]) -> NDArray[np.float64]:
        """Return the average precision of the first classes over some halves (0 public, 1 private) of the images.

        It is NaN for a class without positives. All curves are computed, even those of classes without positives and of
        classes after the last one in ``positives``. Otherwise the time taken would reveal which classes have positives,
        and which entries are not scored.
        """
        room, nothing = np.empty((2, len(self.keys))), np.empty(0, np.uint64)
        found = np.empty(len(self.ends) // 2)
        for label in range(len(found)):
            parts = [self.bucket(2 * label + half) if half in halves else nothing for half in (0, 1)]
            defined = label < len(positives) and positives[label] > 0
            found[label] = average_precision(*parts, positives[label] if defined else 1.0, *room)
        return np.where(positives > 0, found[: len(positives)], np.nan)
