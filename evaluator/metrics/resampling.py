"""What a bootstrap sums up again and again, put in order once: rows of image weights, entry by entry.

A replicate changes how often an image counts, never what was matched in it nor which entry is surer than another. So
whatever a metric is folded from is written down as the images that it comes from.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

HIT, PART, MISS = range(3)  # kinds of entries: a full true positive, one of partial weight, a false positive
KINDS = 3
NOWHERE = -1

Places = NDArray[np.int32]
"""Row of each image among those of a split, NOWHERE where it is not among them; shape (images,)."""


def places_of(in_split: NDArray[np.bool_]) -> Places:
    """Return which row of a split's weights each image has.

    >>> places_of(np.array([False, True, True]))
    array([-1,  0,  1], dtype=int32)
    """
    return np.where(in_split, np.cumsum(in_split) - 1, NOWHERE).astype(np.int32)


@dataclass(frozen=True, slots=True)
class Groups:
    """Images in groups; an image stands as often as it counts.

    Attributes
    ----------
    rows : int32 array of shape (N,)
        Rows of the weights, group by group.
    ends : int64 array of shape (groups,)
        Where each group ends.
    """

    rows: NDArray[np.int32]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, groups: NDArray[np.integer[Any]], rows: NDArray[np.int32], count: int) -> "Groups":
        """Put (group, row) pairs in order; those of no row are left out.

        >>> Groups.of(np.array([1, 0, 1]), np.array([5, 6, -1], np.int32), 2)
        Groups(rows=array([6, 5], dtype=int32), ends=array([1, 2]))
        """
        inside = rows != NOWHERE
        groups, rows = groups[inside], rows[inside]
        return cls(rows[_order_of(groups)], np.cumsum(np.bincount(groups, minlength=count)))


@dataclass(frozen=True, slots=True)
class Steps:
    """Curves as a bootstrap walks them, from the least sure entry up.

    A step is a run of true positives, and the false positives that are surer than they, up to the next true positive.
    False positives less sure than any true positive change no area and are left out. Of curves without an envelope a
    run ends at each threshold.

    Attributes
    ----------
    rows : int32 array of shape (N,)
        Rows of the weights, step by step: full true positives, partial ones, false positives.
    ends : int64 array of shape (steps, 3)
        Where each of the three ends.
    firsts : int64 array of shape (curves + 1,)
        First step of each curve, and the number of steps.
    envelope : bool
        Whether precision at a step is the highest from there down, or its own.
    """

    rows: NDArray[np.int32]
    ends: NDArray[np.int64]
    firsts: NDArray[np.int64]
    envelope: bool = True

    @classmethod
    def of(
        cls,
        curves: NDArray[np.integer[Any]],
        confidences: NDArray[np.float64],
        kinds: NDArray[np.uint8],
        rows: NDArray[np.int32],
        count: int,
        *,
        envelope: bool = True,
    ) -> "Steps":
        """Put entries in order; those of no row are left out.

        Parameters
        ----------
        curves : int array of shape (N,)
            Curve of each entry, below ``count``.
        confidences : float64 array of shape (N,)
        kinds : uint8 array of shape (N,)
            HIT, PART or MISS.
        rows : int32 array of shape (N,)
        envelope : bool
            True for interpolated average precision, False for a step at each threshold.

        Examples
        --------
        >>> numbers = np.arange(4, dtype=np.int32)
        >>> Steps.of(np.zeros(4, int), np.array([0.9, 0.8, 0.8, 0.1]), np.array([0, 2, 0, 2], np.uint8), numbers, 1)
        Steps(rows=array([2, 1, 0], dtype=int32), ends=array([[1, 1, 2],
               [3, 3, 3]]), firsts=array([0, 2]), envelope=True)
        """
        inside = rows != NOWHERE
        curves, confidences, kinds, rows = curves[inside], confidences[inside], kinds[inside], rows[inside]
        bounds = np.r_[0, np.cumsum(np.bincount(curves, minlength=count))]
        order = _least_sure_first(curves, confidences, kinds == MISS, bounds)
        kinds, rows = kinds[order], rows[order]
        opens_curve = np.zeros(len(rows) + 1, bool)
        opens_curve[bounds] = True
        hits = kinds != MISS
        opens = hits & (opens_curve[:-1] | ~np.r_[True, hits][:-1])
        if not envelope:
            sure = confidences[order]
            opens |= hits & np.r_[True, sure[1:] != sure[:-1]][: len(hits)]
        opened = np.zeros(len(rows) + 1, np.int32)  # how many steps begin before each entry
        np.cumsum(opens, out=opened[1:])
        firsts = opened[bounds].astype(np.int64)
        kept = opened[1:] > np.repeat(opened[bounds[:-1]], np.diff(bounds))
        parts = (opened[1:][kept] - 1) * KINDS + kinds[kept]
        ends = np.cumsum(np.bincount(parts, minlength=KINDS * int(firsts[-1]))).reshape(-1, KINDS)
        return cls(rows[kept][np.argsort(parts, kind="stable")], ends, firsts, envelope)


def _least_sure_first(
    curves: NDArray[np.integer[Any]],
    confidences: NDArray[np.float64],
    misses: NDArray[np.bool_],
    bounds: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the order by curve, then confidence; of equals the false positives come last."""
    if (confidences >= 0).all():  # then their bits sort as they do; the shift takes the sign from a negative zero
        ranks = confidences.view(np.uint64)
    else:
        ranks = np.unique(confidences, return_inverse=True)[1].astype(np.uint64)
    keys = (ranks << np.uint64(1)) | misses
    order = _order_of(curves)
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        members = order[begin:end]
        order[begin:end] = members[np.argsort(keys[members])]
    return order


def _order_of(codes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the stable order of codes; two bytes are sorted by counting."""
    small = codes.max(initial=0) <= np.iinfo(np.uint16).max
    return np.argsort(codes.astype(np.uint16) if small else codes, kind="stable")
