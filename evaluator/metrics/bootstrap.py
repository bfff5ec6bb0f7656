"""Metrics recomputed for other weights of the images, and the intervals that this gives.

``sums`` and ``average_precisions`` are the two things that every metric of every track is folded from. They are the
readable twins of :mod:`evaluator.kernels.bootstrap`.
"""

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.resampling import HIT, MISS, PART, Groups, Steps

Weights = NDArray[np.uint8]
Numbers = NDArray[np.float64]
Interval = tuple[float, float]
ROWS_AT_ONCE = 1 << 16
ENDS = (2.5, 97.5)  # per cent
SMALLEST = float(np.finfo(np.float64).tiny)


def sums(weights: Weights, groups: Groups) -> Numbers:
    """Return what the images of each group count in each replicate.

    Parameters
    ----------
    weights : uint8 array of shape (images, replicates)
    groups : Groups

    Returns
    -------
    float64 array of shape (groups, replicates), whole numbers

    Examples
    --------
    >>> sums(np.array([[1], [2]], np.uint8), Groups(np.array([0, 1, 1]), np.array([1, 1, 3])))
    array([[1.],
           [0.],
           [4.]])
    """
    found = np.zeros((len(groups.ends), weights.shape[1]))
    group_of = np.repeat(np.arange(len(groups.ends)), np.diff(groups.ends, prepend=0))
    for first in range(0, len(groups.rows), ROWS_AT_ONCE):
        portion = slice(first, first + ROWS_AT_ONCE)
        present, begins = np.unique(group_of[portion], return_index=True)
        found[present] += np.add.reduceat(weights[groups.rows[portion]], begins, axis=0, dtype=np.int64)
    return found


def average_precisions(weights: Weights, steps: Steps, truths: Numbers, part: float) -> Numbers:
    """Return the area under each precision/recall curve in each replicate, interpolated where it has an envelope.

    Exact: every entry and every object counts as often as its image.

    Parameters
    ----------
    weights : uint8 array of shape (images, replicates)
    steps : Steps
        Of C curves.
    truths : float64 array of shape (C, replicates)
        Weight of all objects, found or not.
    part : float
        What a partial true positive counts.

    Returns
    -------
    float64 array of shape (C, replicates), in [0, 1]; 0 without entries; NaN where ``truths`` is 0.

    Notes
    -----
    As :func:`evaluator.metrics.average_precision.average_precision`, or without an envelope
    :func:`evaluator.metrics.average_precision.stepwise_average_precision`, with the entries of an image copied, up to
    rounding. Within a run of true positives precision is highest at the least sure one, so under an envelope one value
    a run is enough; a run whose images count nothing has a precision that the next one up exceeds. Ties need no care:
    at one confidence false positives come before true positives.

    Examples
    --------
    A false positive between two true positives; in the second replicate its image is drawn three times.

    >>> steps = Steps(np.array([0, 1, 0]), np.array([[1, 1, 2], [3, 3, 3]]), np.array([0, 2]))
    >>> average_precisions(np.array([[1, 1], [1, 3]], np.uint8), steps, np.array([[2.0, 2.0]]), 1.0)
    array([[0.83333333, 0.7       ]])
    """
    counted = sums(weights, Groups(steps.rows, steps.ends.ravel()))
    areas = np.empty_like(truths)
    for curve, (first, end) in enumerate(zip(steps.firsts[:-1].tolist(), steps.firsts[1:].tolist(), strict=True)):
        hits, parts, misses = (counted[first * 3 + kind : end * 3 : 3] for kind in (HIT, PART, MISS))
        true = _from_top(hits) + part * _from_top(parts)
        false = _from_top(misses)
        precisions = true / np.maximum(true + false, SMALLEST)
        if steps.envelope:
            precisions = np.maximum.accumulate(precisions, axis=0)
        # Added one after another, least sure first: an order that any implementation can repeat to the last bit.
        area = np.cumsum((hits + part * parts) * precisions, axis=0)[-1:].sum(axis=0)
        areas[curve] = shares(area, truths[curve])
    return areas


def _from_top(counts: Numbers) -> Numbers:
    """Return for each step what it and all surer ones count together."""
    return np.cumsum(counts[::-1], axis=0)[::-1]


def means_defined(values: Numbers) -> Numbers:
    """Return the mean of the defined classes of each replicate.

    Parameters
    ----------
    values : float64 array of shape (classes, replicates), NaN where undefined

    Returns
    -------
    float64 array of shape (replicates,), NaN where no class is defined

    Examples
    --------
    >>> means_defined(np.array([[0.5, np.nan], [1.0, np.nan]]))
    array([0.75,  nan])
    """
    defined = ~np.isnan(values)
    return shares(np.where(defined, values, 0.0).sum(axis=0), defined.sum(axis=0).astype(float))


def shares(part: Numbers, whole: Numbers) -> Numbers:
    """Return part / whole, NaN where the whole is 0.

    >>> shares(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0))


def recentred_interval(replicates: Numbers, observed: float) -> Interval | None:
    """Return the 95 % interval of one score.

    Parameters
    ----------
    replicates : float64 array of shape (N,)
        The score in each replicate; those where it is NaN are left out.
    observed : float
        The score itself.

    Returns
    -------
    (low, high), clipped to [0, 1], with ``observed`` between them; None where no replicate is defined.

    Notes
    -----
    The percentiles, by linear interpolation, of replicate − mean of the replicates + observed. Interpolated average
    precision is biased upwards on few objects, and its replicates, which hold fewer different ones, more so: the
    plain percentile interval covers 86–90 % where this one covers 93–95 %. An end that the score lies beyond is moved
    to the score: a class that few images have is undefined in some replicates, which moves their mean and so both ends.

    Examples
    --------
    >>> recentred_interval(np.array([0.5, 0.6, 0.7]), 0.5)
    (0.405, 0.595)
    """
    defined = replicates[~np.isnan(replicates)]
    if not len(defined):
        return None
    low, high = np.percentile(defined - defined.mean() + observed, ENDS, method="linear").clip(0.0, 1.0).tolist()
    return min(low, observed), max(high, observed)


def paired_interval(differences: Numbers) -> Interval | None:
    """Return the 95 % interval of the difference of two scores of one truth.

    Parameters
    ----------
    differences : float64 array of shape (N,)
        Replicate by replicate, which share their draws; NaN where one is not defined: left out.

    Returns
    -------
    (low, high), in [-1, 1]; None where no difference is defined.

    Notes
    -----
    The plain percentiles, by linear interpolation: what biases both scores has cancelled out, so nothing is
    recentred.

    Examples
    --------
    >>> paired_interval(np.array([-0.1, 0.0, 0.1]))
    (-0.095, 0.095)
    """
    defined = differences[~np.isnan(differences)]
    if not len(defined):
        return None
    low, high = np.percentile(defined, ENDS, method="linear").tolist()
    return low, high
