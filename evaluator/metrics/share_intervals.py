"""Computes confidence intervals of proportions.

For proportions near 0 and 1, the bootstrap fails, because it cannot draw outcomes that did not occur.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from evaluator.digits import ROUNDING, Interval
from evaluator.metrics.bootstrap import Numbers, recentred_interval

# If a proportion has fewer hits or misses than this, its confidence interval is the Wilson interval, because its
# bootstrap replicates have too few distinct values for percentiles.
FEW = 10
# The 97.5% quantile of the standard normal distribution.
QUANTILE = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Trials:
    """The number of trials from which a proportion is computed, and the number of images with such trials."""

    count: int
    images: int


def share_interval(replicates: Numbers, observed: float, trials: Trials, *, plain: bool) -> Interval | None:
    """Return the 95% confidence interval of a proportion, or of a mean of proportions.

    Parameters
    ----------
    replicates : float64 array of shape (N,)
        The proportion in each replicate; NaN values are ignored.
    observed : float
    trials : Trials
    plain : bool
        Whether ``observed`` is hits / trials. If false, it is a mean of proportions, whose hits cannot be counted.

    Returns
    -------
    (low, high), in [0, 1]; None where no replicate is defined.

    Notes
    -----
    The result is the recentred percentile interval, except in two cases. It is the Wilson interval if all replicates
    are equal, and for a plain proportion with fewer than :data:`FEW` hits or misses. The Wilson interval needs the
    effective number of independent trials: p(1 − p) / SE², where SE is the standard error of the replicates, or the
    number of images if SE is 0. At p = 0.998 and 300 images, the percentile interval contains the true
    proportion in 44% of all test sets, and the Wilson interval in 98%.

    Examples
    --------
    >>> np.round(share_interval(np.ones(1000), 1.0, Trials(300, 300), plain=True), 3).tolist()
    [0.987, 1.0]
    """
    percentiles = recentred_interval(replicates, observed)
    if percentiles is None:
        return None
    defined = replicates[~np.isnan(replicates)]
    if np.ptp(defined) <= ROUNDING:
        return wilson_interval(observed, trials.images)
    hits = observed * trials.count
    # Because of rounding errors, ``hits`` may differ slightly from a whole number, so it is compared with FEW - 0.5.
    if plain and min(hits, trials.count - hits) < FEW - 0.5:
        return wilson_interval(observed, observed * (1 - observed) / float(defined.var()))
    return percentiles


def wilson_interval(share: float, size: float) -> Interval:
    """Return the 95% score interval of Wilson (1927) for a proportion of ``size`` trials. ``size`` may be fractional.

    >>> [np.round(wilson_interval(share, 100), 3).tolist() for share in (0.0, 0.5)]
    [[0.0, 0.037], [0.404, 0.596]]
    """
    squared = QUANTILE**2 / size
    middle = share + squared / 2
    half_width = sqrt(squared * (share * (1 - share) + squared / 4))
    low, high = (middle - half_width) / (1 + squared), (middle + half_width) / (1 + squared)
    # The confidence interval must contain the proportion ``share`` despite rounding errors in the ends of the interval.
    return max(0.0, min(low, share)), min(1.0, max(high, share))
