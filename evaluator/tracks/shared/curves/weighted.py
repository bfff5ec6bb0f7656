"""Sorts curve entries that may have partial weights or negative confidences, and computes average precisions.

The interface is that of :class:`~evaluator.tracks.shared.curves.buckets.EntryBuckets`. The sort keys of that class
cannot encode partial hits (hits with a weight below 1) or negative confidences. Here, each key is sorted together with
a 2-byte code.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.curves.average_precision import MISS, PARTIAL_HIT
from evaluator.kernels.curves.variants import CODE_BITS, CODES, FALSE, LEFT_OUT, PARTIAL, TRUE
from evaluator.tracks.shared.curves.buckets import Segments
from evaluator.tracks.shared.curves.variants import CodedCurves, Roles

# The code of a curve entry is the sum of MISS if the prediction is not a hit, PRIVATE_CODE if the image is private, and
# PARTIAL_CODE if the prediction is a hit with a weight below 1.
PRIVATE_CODE, PARTIAL_CODE = 2, 4
_CODES = np.arange(2 * PARTIAL_CODE)
HALF = _CODES // PRIVATE_CODE % 2
ROLE = np.where(_CODES >= PARTIAL_CODE, PARTIAL, np.where(_CODES & MISS, FALSE, TRUE))


@dataclass(frozen=True, slots=True)
class WeightedBuckets:
    """The sorted curve entries of a submission, and the weight of its partial hits."""

    curves: CodedCurves
    partial_weight: float

    @classmethod
    def of(cls, segments: Segments, labels: int, partial_weight: float, threads: int) -> "WeightedBuckets":
        """Sort the entries in ``segments``. ``labels`` is the number of classes.

        To free memory, each segment is removed from the list as soon as its entries have been copied.
        """
        coded: Segments = []
        while segments:
            confidences, codes = segments.pop()
            partial = (codes >= PARTIAL_HIT) * np.uint32(PARTIAL_CODE)
            codes = codes & np.uint32(PARTIAL_HIT - 1)
            coded.append((confidences, (codes >> 2 << CODE_BITS) + (codes & 3) + partial))
        return cls(CodedCurves.of(coded, labels, reported=labels, low=len(_CODES), threads=threads), partial_weight)

    def counts(self, halves: Sequence[int]) -> NDArray[np.int64]:
        """Return the numbers of hits, of partial hits and of false positives, shape (3, classes).

        ``halves`` selects the public images (0), the private images (1), or both.
        """
        in_split = np.isin(HALF, halves)
        return np.stack(
            [self.curves.by_curve[:, in_split & (role == ROLE)].sum(axis=1) for role in (TRUE, PARTIAL, FALSE)]
        )

    def average_precisions(self, positives: NDArray[np.float64], halves: Sequence[int]) -> NDArray[np.float64]:
        """Return the average precision of each class in ``positives``, NaN for a class without positives.

        The parameters are those of :meth:`~evaluator.tracks.shared.curves.buckets.EntryBuckets.average_precisions`,
        which also explains why all curves are computed.
        """
        roles: Roles = np.full((1, CODES), LEFT_OUT, np.uint8)
        roles[0, : len(_CODES)] = np.where(np.isin(HALF, halves), ROLE, LEFT_OUT)
        return np.asarray(self.curves.areas(roles, positives[None], self.partial_weight)[0])
