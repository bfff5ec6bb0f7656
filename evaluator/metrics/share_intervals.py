"""Confidence intervals of shares. Near 0 and 1 the bootstrap fails: it cannot draw outcomes that did not occur."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from evaluator.metrics.bootstrap import Interval, Numbers, recentred_interval

FEW = 10  # With fewer hits or misses, replicates have too few distinct values for percentiles.
QUANTILE = 1.959963984540054  # The 97.5% quantile of the normal distribution.
ROUNDING = 1e-12  # Replicates that differ by less count as equal.


@dataclass(frozen=True, slots=True)
class Trials:
    """The denominator of a share: the number of trials, and the number of images that have trials."""

    count: int
    images: int


def share_interval(replicates: Numbers, observed: float, trials: Trials, *, plain: bool) -> Interval | None:
    """Return the 95% confidence interval of a share, or of a mean of shares.

    Parameters
    ----------
    replicates : float64 array of shape (N,)
        The share in each replicate; NaN values are ignored.
    observed : float
    trials : Trials
    plain : bool
        Whether the share is hits / trials. If not, it is a mean of such shares, whose hits cannot be counted.

    Returns
    -------
    (low, high), in [0, 1]; None where no replicate is defined.

    Notes
    -----
    This is the recentred percentile interval, except in two cases. It is the Wilson interval if all replicates are
    equal, and for a plain share with fewer than :data:`FEW` hits or misses. The Wilson interval needs the effective
    number of independent trials, p(1 − p) / SE², with the standard error of the replicates; if that error is 0, it is
    the number of images. At p = 0.998 and 300 images, percentiles contain the true share in 44% of all test sets, this
    interval in 98%.

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
    if plain and min(hits, trials.count - hits) < FEW - 0.5:  # Hits are a whole number, up to rounding.
        return wilson_interval(observed, observed * (1 - observed) / float(defined.var()))
    return percentiles


def wilson_interval(share: float, size: float) -> Interval:
    """Return the 95% score interval of Wilson (1927) for a share of ``size`` trials, which need not be whole.

    >>> [np.round(wilson_interval(share, 100), 3).tolist() for share in (0.0, 0.5)]
    [[0.0, 0.037], [0.404, 0.596]]
    """
    squared = QUANTILE**2 / size
    middle = share + squared / 2
    half_width = sqrt(squared * (share * (1 - share) + squared / 4))
    low, high = (middle - half_width) / (1 + squared), (middle + half_width) / (1 + squared)
    return max(0.0, min(low, share)), min(1.0, max(high, share))  # Rounding must not move an end beyond the share.
