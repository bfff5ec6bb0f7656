"""Computes metrics in bootstrap replicates, and confidence intervals. Replicates differ only in the image weights.

The metrics of every track are computed from ``sums`` and ``average_precisions``. These two functions are the reference
implementation of :mod:`evaluator.kernels.curves.bootstrap`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.digits import ROUNDING, Interval, containing
from evaluator.metrics.average_precision import mean_defined
from evaluator.metrics.resampling import HIT, MISS, PARTIAL_HIT, CurveSteps, ImageGroups

Weights = NDArray[np.uint8]
Numbers = NDArray[np.float64]
Areas = Callable[[Numbers], Numbers]
"""A function that takes the number of positives of each curve, and returns the area under each curve.

Both arrays have the shape (curves, ...).
"""

ROWS_AT_ONCE = 1 << 16
PERCENTILES = (2.5, 97.5)
SMALLEST = float(np.finfo(np.float64).tiny)


def sums(weights: Weights, groups: ImageGroups) -> Numbers:
    """Return the sum of the image weights of each group in each replicate.

    Parameters
    ----------
    weights : uint8 array of shape (images, replicates)
    groups : ImageGroups

    Returns
    -------
    float64 array of shape (groups, replicates), whole numbers

    Examples
    --------
    The first group contains image 0, the second group is empty, and the third group contains image 1 twice.

    >>> sums(np.array([[1], [2]], np.uint8), ImageGroups(np.array([0, 1, 1]), np.array([1, 1, 3])))
    array([[1.],
           [0.],
           [4.]])
    """
    found = np.zeros((len(groups.ends), weights.shape[1]))
    group_of_row = np.repeat(np.arange(len(groups.ends)), np.diff(groups.ends, prepend=0))
    for first in range(0, len(groups.rows), ROWS_AT_ONCE):
        portion = slice(first, first + ROWS_AT_ONCE)
        present, starts = np.unique(group_of_row[portion], return_index=True)
        found[present] += np.add.reduceat(weights[groups.rows[portion]], starts, axis=0, dtype=np.int64)
    return found


def average_precisions(weights: Weights, steps: CurveSteps, positives: Numbers, partial_weight: float) -> Numbers:
    """Return the area under each precision/recall curve in each replicate.

    The weight of an image is the number of times that its predictions and objects are counted.

    Parameters
    ----------
    weights : uint8 array of shape (images, replicates)
    steps : CurveSteps
        Steps of C or more curves. The areas of curves after the first C are computed and discarded.
    positives : float64 array of shape (C, replicates)
        Sum of the weights of all objects, matched or not.
    partial_weight : float
        The amount that a partial hit adds to the number of true positives.

    Returns
    -------
    float64 array of shape (C, replicates), in [0, 1]; 0 without entries; NaN without positives.

    Notes
    -----
    The reference for interpolated curves is :func:`evaluator.metrics.average_precision.average_precision`, and for
    other curves :func:`evaluator.metrics.average_precision.stepwise_average_precision`. If every entry were repeated as
    often as its image is drawn, these functions would give the same result up to rounding.

    A run consists of successive true positives. Within a run, precision is highest at the lowest confidence, so
    interpolation needs only one value for each run. A run whose images have no weight does not change the area. Equal
    confidences need no special case, because each true positive is counted together with all false positives of the
    same or a higher confidence.

    Examples
    --------
    A false positive is between two true positives. In the second replicate, its image is drawn three times.

    >>> steps = CurveSteps(np.array([0, 1, 0]), np.array([[1, 1, 2], [3, 3, 3]]), np.array([0, 2]))
    >>> average_precisions(np.array([[1, 1], [1, 3]], np.uint8), steps, np.array([[2.0, 2.0]]), 1.0)
    array([[0.83333333, 0.7       ]])
    """
    counted = sums(weights, ImageGroups(steps.rows, steps.ends.ravel()))
    areas = np.empty((len(steps.firsts) - 1, weights.shape[1]))
    for curve, (first, end) in enumerate(zip(steps.firsts[:-1].tolist(), steps.firsts[1:].tolist(), strict=True)):
        hits, partial_hits, misses = (counted[first * 3 + kind : end * 3 : 3] for kind in (HIT, PARTIAL_HIT, MISS))
        true = _summed_from_top(hits) + partial_weight * _summed_from_top(partial_hits)
        false = _summed_from_top(misses)
        precisions = true / np.maximum(true + false, SMALLEST)
        if steps.envelope:
            precisions = np.maximum.accumulate(precisions, axis=0)
        # The areas are added one by one in order of ascending confidence, as in the kernels, so that results are
        # bit-identical.
        areas[curve] = np.cumsum((hits + partial_weight * partial_hits) * precisions, axis=0)[-1:].sum(axis=0)
    return ratios(areas[: len(positives)], positives)


def _summed_from_top(counts: Numbers) -> Numbers:
    """Return, for each step of a curve, the sum of the counts of this step and of all steps with higher confidence."""
    return np.cumsum(counts[::-1], axis=0)[::-1]


def mean_over_classes(values: Numbers) -> Numbers:
    """Return the mean over the classes for which the value is defined.

    Parameters
    ----------
    values : float64 array of shape (classes,) or (classes, replicates), NaN where undefined

    Returns
    -------
    float64 array of shape () or (replicates,), NaN where no class is defined

    Notes
    -----
    Arrays of these two shapes are summed in different orders, so the last bits of the means can differ.

    Examples
    --------
    >>> mean_over_classes(np.array([[0.5, np.nan], [1.0, np.nan]]))
    array([0.75,  nan])
    """
    if values.ndim == 1:
        return np.asarray(mean_defined(values))
    defined = ~np.isnan(values)
    return ratios(np.where(defined, values, 0.0).sum(axis=0), defined.sum(axis=0).astype(float))


@dataclass(frozen=True, slots=True)
class MeanAveragePrecision:
    """The mean average precision of a split with weighted images, and the numbers from which it is computed.

    For the score, the weight of each image is 1. For bootstrap replicates, it is the number of times that the image was
    drawn, and the last axis of every array has one element for each replicate.

    Attributes
    ----------
    positives : float64 array of shape (classes, ...)
        Weighted number of positives of each class.
    average_precisions : float64 array of shape (classes, ...)
        NaN for a class without positives.
    """

    positives: Numbers
    average_precisions: Numbers

    @classmethod
    def of(cls, positives: Numbers, areas: Areas) -> "MeanAveragePrecision":
        """Return the mean average precision of a split, given a function that computes the areas under its curves."""
        return cls(positives, areas(positives))

    def metrics(self) -> dict[str, Numbers]:
        """Return a dict with the mean average precision, the only metric; NaN if no class has positives."""
        return {"mAP": mean_over_classes(self.average_precisions)}


def ratios(part: Numbers, whole: Numbers) -> Numbers:
    """Return ``part`` / ``whole``, NaN where ``whole`` is 0.

    >>> ratios(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0))


def recentred_interval(replicates: Numbers, observed: float, *, highest: float = 1.0) -> Interval | None:
    """Return the 95% confidence interval of a score, from recentred percentiles of its bootstrap replicates.

    Parameters
    ----------
    replicates : float64 array of shape (N,)
        The score in each replicate; NaN values are ignored.
    observed : float
        The score of the submission.
    highest : float
        The largest possible score.

    Returns
    -------
    (low, high), clipped to [0, highest], with ``observed`` between them; None where no replicate is defined.

    Notes
    -----
    The bounds are percentiles, by linear interpolation, of replicate − mean of the replicates + observed. Interpolated
    average precision is biased upwards if there are few objects, and more so in replicates, which have fewer distinct
    objects. Therefore, the plain percentile interval covers the true value in only 86–90% of test sets; this interval
    covers it in 93–95%. If the score is outside the interval, the nearer bound is moved to the score. The score
    can be outside if a class that occurs in few images is undefined in some replicates, which shifts their mean and
    thus both bounds. If all replicates are equal except for rounding, both bounds are exactly ``observed``.

    Examples
    --------
    >>> recentred_interval(np.array([0.5, 0.6, 0.7]), 0.5)
    (0.405, 0.595)
    """
    defined = replicates[~np.isnan(replicates)]
    if not len(defined):
        return None
    if np.ptp(defined) <= ROUNDING:
        return observed, observed
    recentred = defined - defined.mean() + observed
    low, high = np.percentile(recentred, PERCENTILES, method="linear").clip(0.0, highest).tolist()
    return containing((low, high), observed)


def paired_interval(differences: Numbers, observed: float) -> Interval | None:
    """Return the 95% confidence interval of the difference between two scores on the same ground truth.

    Parameters
    ----------
    differences : float64 array of shape (N,)
        Difference of the two scores in each replicate, computed from the same draws; NaN values are ignored.
    observed : float
        The difference of the two scores.

    Returns
    -------
    (low, high), in [-1, 1], with ``observed`` between them; None where no difference is defined.

    Notes
    -----
    The bounds are plain percentiles, by linear interpolation. The biases of the two scores cancel out, so the interval
    is not recentred. If the observed difference is outside the interval, the nearer bound is moved to it, as in
    :func:`recentred_interval`. Otherwise, the submission with the lower score could be called the better one.

    Examples
    --------
    >>> paired_interval(np.array([-0.1, 0.0, 0.1]), 0.0), paired_interval(np.array([-0.1, 0.0, 0.1]), 0.125)
    ((-0.095, 0.095), (-0.095, 0.125))
    """
    defined = differences[~np.isnan(differences)]
    if not len(defined):
        return None
    low, high = np.percentile(defined, PERCENTILES, method="linear").tolist()
    return containing((low, high), observed)
