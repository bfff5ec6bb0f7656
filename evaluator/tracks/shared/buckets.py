"""Entries of many curves at once: put in buckets, sorted, and summed up by kernels."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.average_precision import average_precision, scatter

Entries = list[tuple[NDArray[np.float64], NDArray[np.uint32]]]
HALVES = {"all": (0, 1), "public": (0,), "private": (1,)}


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
        return cls(keys, ends, hits_and_misses[:, 1])

    def bucket(self, number: int) -> NDArray[np.uint64]:
        """Return the keys of one class and half."""
        return self.keys[self.ends[number] : self.ends[number + 1]]

    def sort(self, threads: int) -> None:
        """Put each bucket's keys in order, surest last."""
        several = np.flatnonzero(np.diff(self.ends) > 1).tolist()
        with ThreadPoolExecutor(threads) as pool:
            for share in [pool.submit(self._sort, several[first::threads]) for first in range(threads)]:
                share.result()

    def _sort(self, buckets: Sequence[int]) -> None:
        for number in buckets:
            self.bucket(number).sort()

    def values(self, truths: NDArray[np.float64], halves: Sequence[int]) -> Iterator[float]:
        """Yield the average precision of the first classes over some halves, NaN where it is undefined."""
        room = np.empty((2, len(self.keys)))
        nothing = np.empty(0, np.uint64)
        for label in range(len(truths)):
            parts = [self.bucket(2 * label + half) if half in halves else nothing for half in (0, 1)]
            defined = truths[label] > 0
            yield average_precision(*parts, truths[label], *room) if defined else np.nan
