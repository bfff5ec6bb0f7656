"""Sorts the data of precision/recall curves once, so that all bootstrap replicates can be computed from it.

The data are the objects of the ground truth and the entries of the curves. An entry is a prediction or another answer
with a confidence. A replicate changes the weights of images. It changes neither matches nor the order of confidences.
Therefore, each object and each entry is represented by the row index of its image in the matrix of image weights. The
indices are stored in the order in which the weights are added.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels import CROWD

# Kinds of entries of a precision/recall curve: true positive, true positive with a weight below 1, false positive.
HIT, PARTIAL_HIT, MISS = range(3)
KINDS = 3
NO_ROW = -1

ImageRows = NDArray[np.int32]
"""Row of each image in a split's matrix of weights, NO_ROW if the image is not in the split; shape (images,)."""


def rows_of_images(in_split: NDArray[np.bool_]) -> ImageRows:
    """Return the row of each image in a split's matrix of bootstrap weights, -1 if the image is not in the split.

    >>> rows_of_images(np.array([False, True, True]))
    array([-1,  0,  1], dtype=int32)
    """
    return np.where(in_split, np.cumsum(in_split) - 1, NO_ROW).astype(np.int32)


def crowded_images(predictions: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Return whether each image is crowded: it has more than :data:`~evaluator.kernels.CROWD` predictions.

    ``predictions`` is the number of predictions in each image.

    In a crowded image, the annotations could change the number of curve entries so much that the CPU time would reveal
    the annotations. Therefore, crowded images are processed so that the running time depends little on the annotations.

    >>> crowded_images(np.array([256, 257]))
    array([False,  True])
    """
    return np.asarray(predictions > CROWD)


def crowded_entries(
    crowded: NDArray[np.bool_], images: NDArray[np.integer[Any]], image_rows: ImageRows
) -> NDArray[np.bool_] | None:
    """Return whether the image of each curve entry is crowded, or None if this information is not needed.

    A crowded image has very many predictions, and most curve entries are predictions. The information is used to
    compute additional curves that hide how many entries are scored; see :meth:`CurveSteps.of`. There are no such curves
    if no image is crowded, or if the split has no image. Neither condition depends on the annotations.

    Parameters
    ----------
    crowded : bool array of shape (images,)
        See :func:`crowded_images`.
    images : int array of shape (N,)
        Index of the image of each entry.
    image_rows : ImageRows

    Examples
    --------
    >>> crowded_entries(np.array([False, True]), np.array([0, 0, 1]), np.array([0, -1], np.int32))
    array([False, False,  True])
    """
    if not crowded.any() or (image_rows == NO_ROW).all():
        return None
    return np.asarray(crowded[images])


@dataclass(frozen=True, slots=True)
class ImageGroups:
    """Groups of images, such as the images of all objects of each class; a group can contain an image several times.

    Attributes
    ----------
    rows : int32 array of shape (N,)
        Rows of the matrix of image weights, group by group.
    ends : int64 array of shape (groups,)
        End of each group in ``rows``.
    name : str
        Identifies the groups among all groups that depend only on the ground truth and the split; empty if they depend
        on the submission.
    """

    rows: NDArray[np.int32]
    ends: NDArray[np.int64]
    name: str = field(default="", repr=False)

    @classmethod
    def of(
        cls, groups: NDArray[np.integer[Any]], rows: NDArray[np.int32], count: int, *, name: str = ""
    ) -> "ImageGroups":
        """Return ``count`` groups. Group ``groups[i]`` contains the image in row ``rows[i]``, unless the row is -1.

        >>> ImageGroups.of(np.array([1, 0, 1]), np.array([5, 6, -1], np.int32), 2)
        ImageGroups(rows=array([6, 5], dtype=int32), ends=array([1, 2]))
        """
        has_row = rows != NO_ROW
        groups, rows = groups[has_row], rows[has_row]
        return cls(rows[_stable_order(groups)], np.cumsum(np.bincount(groups, minlength=count)), name)


@dataclass(frozen=True, slots=True)
class CurveSteps:
    """Precision/recall curves as sequences of steps, from low to high confidence.

    A step is a run of true positives, followed by the false positives of equal or higher confidence up to the next true
    positive. False positives with a lower confidence than all true positives do not change the area under the curve.
    They are left out, unless additional curves hide the amount of work (see :meth:`of`). In curves without an envelope,
    which are not interpolated, all true positives of a run have the same confidence.

    Attributes
    ----------
    rows : int32 array of shape (N,)
        Rows of the matrix of image weights, step by step: true positives with weight 1, true positives with a weight
        below 1, and false positives.
    ends : int64 array of shape (steps, 3)
        End of each of these three parts in ``rows``.
    firsts : int64 array of shape (curves + 1,)
        Index of the first step of each curve, followed by the total number of steps.
    envelope : bool
        Whether curves are interpolated: the precision of a step is the highest precision at its own or any lower
        confidence. If false, it is the precision at its own confidence.
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
        crowded: NDArray[np.bool_] | None = None,
    ) -> "CurveSteps":
        """Return the steps of ``count`` curves, given an image, a confidence and a kind for each of their N entries.

        Parameters
        ----------
        curves : int array of shape (N,)
            Curve of each scored entry, from 0 to ``count`` - 1. For an entry that is not scored, ``count`` plus the
            curve that it would belong to. Scores do not depend on such entries.
        confidences : float64 array of shape (N,)
        kinds : uint8 array of shape (N,)
            HIT, PARTIAL_HIT or MISS.
        rows : int32 array of shape (N,)
            Row of each entry's image in the matrix of image weights.
        count : int
            Number of curves.
        envelope : bool
            True for interpolated average precision, False for a step at each distinct confidence.
        crowded : bool array of shape (N,)
            Whether the image of each entry is crowded; see :func:`crowded_entries`. If given, a second curve, called
            the complement, is added for each curve.

        Returns
        -------
        CurveSteps
            The steps of ``count`` curves, followed by those of their complements. The complement of a curve contains
            the curve's scored entries from images that are not crowded, and its entries from crowded images that are
            not scored. Therefore, a curve and its complement together contain every entry from crowded images, scored
            or not, and the running time does not reveal which ones are scored. The areas under complements are not
            used.

        Examples
        --------
        >>> numbers = np.arange(4, dtype=np.int32)
        >>> kinds = np.array([HIT, MISS, HIT, MISS], np.uint8)
        >>> CurveSteps.of(np.zeros(4, int), np.array([0.9, 0.8, 0.8, 0.1]), kinds, numbers, 1)
        CurveSteps(rows=array([2, 1, 0], dtype=int32), ends=array([[1, 1, 2],
               [3, 3, 3]]), firsts=array([0, 2]), envelope=True)
        """
        counts = (curves < count) & (rows != NO_ROW)
        counted = np.flatnonzero(counts)
        if crowded is None:
            curves = curves[counted]
        else:
            others = np.flatnonzero(counts != crowded)
            curves = np.r_[curves[counted], curves[others].astype(np.int64) % count + count]
            counted, rows, count = np.r_[counted, others], np.maximum(rows, 0), 2 * count
        confidences, kinds, rows = confidences[counted], kinds[counted], rows[counted]
        bounds = np.r_[0, np.cumsum(np.bincount(curves, minlength=count))]
        order = _ascending_order(curves, confidences, kinds == MISS, bounds)
        kinds, rows = kinds[order], rows[order]
        begins_curve = np.zeros(len(rows) + 1, bool)
        begins_curve[bounds] = True
        hits = kinds != MISS
        begins_step = hits & (begins_curve[:-1] | ~np.r_[True, hits][:-1])
        if not envelope:
            ascending = confidences[order]
            begins_step |= hits & np.r_[True, ascending[1:] != ascending[:-1]][: len(hits)]
        # Below, entries before the first step of a curve are dropped. If complements are added, every entry must be
        # kept, so the first entry of each curve begins a step even if it is a false positive.
        if crowded is not None:
            begins_step[bounds[:-1][np.diff(bounds) > 0]] = True
        # ``steps`` contains the number of steps (see :class:`CurveSteps`) that begin before each curve entry.
        steps = np.zeros(len(rows) + 1, np.int32)
        np.cumsum(begins_step, out=steps[1:])
        firsts = steps[bounds].astype(np.int64)
        kept = steps[1:] > np.repeat(steps[bounds[:-1]], np.diff(bounds))
        parts = (steps[1:][kept] - 1) * KINDS + kinds[kept]
        ends = np.cumsum(np.bincount(parts, minlength=KINDS * int(firsts[-1]))).reshape(-1, KINDS)
        return cls(rows[kept][np.argsort(parts, kind="stable")], ends, firsts, envelope)


def _ascending_order(
    curves: NDArray[np.integer[Any]],
    confidences: NDArray[np.float64],
    misses: NDArray[np.bool_],
    bounds: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the indices that sort curve entries by curve and then by confidence. In a tie, false positives come last.

    An entry is a prediction or another answer with a confidence.
    """
    # Nonnegative floats and their bit patterns sort in the same order. The shift below removes the sign of -0.0.
    if (confidences >= 0).all():
        levels = confidences.view(np.uint64)
    else:
        levels = np.unique(confidences, return_inverse=True)[1].astype(np.uint64)
    keys = (levels << np.uint64(1)) | misses
    order = _stable_order(curves)
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        members = order[begin:end]
        order[begin:end] = members[np.argsort(keys[members])]
    return order


def _stable_order(codes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the indices that sort nonnegative integers, in a stable order.

    Small integers are converted to 16 bits, because numpy sorts these faster, by radix sort.
    """
    is_small = codes.max(initial=0) <= np.iinfo(np.uint16).max
    return np.argsort(codes.astype(np.uint16) if is_small else codes, kind="stable")
