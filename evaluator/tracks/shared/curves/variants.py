"""Sorts the entries of precision/recall curves once, and computes the areas of many variants of these curves.

An entry is usually a prediction, and has a code that describes its outcome. A variant, such as "without false
positives", assigns a role, such as false positive, to each code; see :mod:`evaluator.kernels.curves.variants`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.curves import variants as kernels
from evaluator.kernels.curves.sorting import Scratch
from evaluator.metrics.average_precision import Curve
from evaluator.tracks.shared.curves.shares import for_each_share

Segments = list[tuple[NDArray[np.float64], NDArray[np.uint32]]]
"""Confidences and entries (curve × CODES, plus code), in several pairs of arrays."""
Roles = NDArray[np.uint8]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CodedCurves:
    """The entries of all precision/recall curves, curve by curve, in ascending order of confidence.

    Attributes
    ----------
    keys, codes : uint64 and uint16 arrays of shape (N,)
        Sort key of each entry, and its code; see :mod:`evaluator.kernels.curves.variants`.
    ends : int64 array of shape (curves + 1,)
        Start of each curve in ``keys``, and the end of the last one.
    by_curve : int64 array of shape (curves, low)
        Number of entries of each curve and each value of (code modulo ``low``). ``low`` is a power of two, so
        this value consists of the lowest bits of the code.
    by_code : int64 array of shape (CODES,)
        Number of entries of each code in the curves that are reported.
    threads : int
    """

    keys: NDArray[np.uint64]
    codes: NDArray[np.uint16]
    ends: NDArray[np.int64]
    by_curve: NDArray[np.int64]
    by_code: NDArray[np.int64]
    threads: int

    @classmethod
    def of(cls, segments: Segments, curves: int, *, reported: int, low: int, threads: int) -> "CodedCurves":
        """Sort the curve entries in ``segments``.

        To free memory, each segment is removed from the list as soon as its entries have been copied.

        ``curves`` is the total number of curves; only the first ``reported`` curves are reported. ``low``, a power of
        two, determines which bits of the codes are counted in ``by_curve``; see :class:`CodedCurves`.
        """
        by_curve, by_code = np.zeros((curves, low), np.int64), np.zeros(kernels.CODES, np.int64)
        for _, entries in segments:
            kernels.count_codes(entries, reported, by_curve, by_code)
        ends = np.append(0, np.cumsum(by_curve.sum(axis=1)))
        keys, codes, next_free = np.empty(ends[-1], np.uint64), np.empty(ends[-1], np.uint16), ends[:-1].copy()
        while segments:
            kernels.scatter_codes(*segments.pop(), next_free, keys, codes)
        found = cls(keys, codes, ends, by_curve, by_code, threads)
        found._sort()
        for array in (keys, codes):
            array.flags.writeable = False
        return found

    def _sort(self) -> None:
        def new_scratch(longest: int) -> tuple[Scratch, NDArray[np.uint16]]:
            return Scratch.for_keys(longest), np.empty(longest, np.uint16)

        def work(scratch: tuple[Scratch, NDArray[np.uint16]], first: int, stop: int) -> None:
            kernels.sort_curves(self.keys, self.codes, self.ends, first, stop, *scratch)

        for_each_share(self.ends, self.threads, new_scratch, work)

    def areas(self, roles: Roles, positives: Numbers, partial_weight: float) -> Numbers:
        """Return the average precision of the first C curves in each variant, NaN for a curve without positives.

        A variant assigns a role to each code, which describes the outcome of an entry. All curves are computed, even
        those without positives and those after the first C. Otherwise, the running time would reveal which classes
        have positives, and which entries are not scored.

        Parameters
        ----------
        roles : uint8 array of shape (variants, CODES)
            The role of each code, such as false positive, in each variant.
        positives : float64 array of shape (variants, C)
            Number of positives of each curve.
        partial_weight : float
            Weight of the true positives with the role PARTIAL.

        Returns
        -------
        float64 array of shape (variants, C)
        """
        curves, count = len(self.ends) - 1, positives.shape[1]
        defined, found = np.ones((len(roles), curves)), np.empty((len(roles), curves))
        defined[:, :count] = np.where(positives > 0, positives, 1.0)
        steps, can_hit = kernels.steps_of(roles)
        points = kernels.most_hits(self.codes, self.ends, can_hit) + 1

        def new_scratch(_: int) -> tuple[NDArray[np.int32 | np.float64], ...]:
            counts = np.empty(kernels.COUNTED * kernels.LANES, np.int32), np.empty((2, kernels.LANES), np.int32)
            return *counts, *np.empty((2, min(kernels.LANES, len(roles)), points))

        def work(scratch: tuple[NDArray[np.int32 | np.float64], ...], first: int, stop: int) -> None:
            part = self.keys, self.codes, self.ends, first, stop
            kernels.areas_of_variants(*part, steps, can_hit, defined, partial_weight, *scratch, found)

        for_each_share(self.ends, self.threads, new_scratch, work)
        return np.where(positives > 0, found[:, :count], np.nan)

    def corners(self, number: int, roles: Roles, positives: float, partial_weight: float) -> Curve:
        """Return the first point, the last point and the corners of the precision/recall curve with the given index.

        The curve has no points if it has no entries or no positives. With interpolation,
        :func:`evaluator.metrics.curve_points.simplified` gives the same result for these points as for all points.
        """
        part = slice(self.ends[number], self.ends[number + 1])
        keys, codes = self.keys[part], self.codes[part]
        points = np.empty((3, len(keys)))
        # The points of a curve without positives are found too. Otherwise, the time would reveal that it has none.
        count = kernels.points_of_curve(keys, codes, roles, positives or 1.0, partial_weight, *points)
        points = points[:, kernels.keep_corners(count, *points) : count]
        return Curve(*(points if positives > 0 else points[:, :0]))

    def discard_corners(self, shown: Iterable[int], roles: Roles, partial_weight: float) -> None:
        """Find the corners of all curves except the ``shown`` ones, and discard them.

        Otherwise, the running time would reveal which predictions are scored, and which classes have objects.
        """
        for number in set(range(len(self.ends) - 1)).difference(shown):
            self.corners(number, roles, 0.0, partial_weight)
