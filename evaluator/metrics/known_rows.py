"""Computes standard errors of score differences between leaderboard rows that have bootstrap replicates."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.digits import ROUNDING
from evaluator.metrics.bootstrap import Numbers

Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]

# Smallest number of bootstrap replicates from which a 95% quantile can be computed.
LEAST_REPLICATES = 19
# The initial critical value of a rank test: at first, two leaderboard rows are distinguished only if their scores
# differ by more than this number of standard errors.
FAR = 8.0
# The variance of the difference between the scores of two leaderboard rows is the sum of the variances of both scores
# minus twice their covariance. If the result is below this fraction of the sum, too many digits have cancelled out. The
# variance is then computed from the differences between the bootstrap replicates of both rows.
CANCELLED = 1e-6


@dataclass(frozen=True, slots=True)
class KnownRows:
    """The rows of a leaderboard that have bootstrap replicates, called known rows.

    Replicates in which most rows have no defined score are left out.

    Attributes
    ----------
    size : int
        Total number of rows on the leaderboard.
    rows : int array of shape (known,)
        Indices of the known rows.
    scores : float64 array of shape (known,), in descending order
    deviations : float64 array of shape (known, N)
        The N replicates of each row minus their mean. The mean of each replicate over the known rows is also
        subtracted. This does not change the differences between rows, but it makes ``errors`` smaller. The sum of two
        errors is then a tighter bound on the standard error of a difference.
    errors : float64 array of shape (known,)
        Standard deviation of the deviations of each row.
    margin : float
        Added to the score difference that distinguishes two rows; see
        :func:`evaluator.metrics.rank_intervals.top_rank_intervals`.
    """

    size: int
    rows: Indices
    scores: Numbers
    deviations: Numbers
    errors: Numbers
    margin: float

    @classmethod
    def of(cls, scores: Numbers, replicates: Numbers, margin: float) -> "KnownRows":
        """Return the rows that have bootstrap replicates, given the scores and replicates of all rows.

        Raises ValueError if the scores are not in descending order.
        """
        if np.any(np.diff(scores) > 0):
            raise ValueError("the scores must be in descending order")
        defined = ~np.isnan(replicates)
        present = defined.any(axis=1)
        # A bootstrap replicate is used if most leaderboard rows have a defined score in it. If a defined score were
        # required for all rows, a single row could make the replicate unusable.
        usable = 2 * defined.sum(axis=0) > present.sum()
        enough = usable.sum() >= LEAST_REPLICATES
        rows = np.flatnonzero(present & defined[:, usable].all(axis=1) & enough)
        deviations = replicates[np.ix_(rows, usable)]
        if len(rows):
            deviations -= deviations.mean(axis=1, keepdims=True)
            deviations -= deviations.mean(axis=0)
        return cls(len(scores), rows, scores[rows], deviations, standard_errors(deviations), margin)

    def could_be_among(self, top: int) -> Flags:
        """Return a mask of the known rows that could be among the first ``top`` rows, given scores and standard errors.

        Known rows are the leaderboard rows that have bootstrap replicates.
        """
        if len(self.rows) <= top:
            return np.ones(len(self.rows), bool)
        least = np.partition(self.scores - FAR * self.errors, -top)[-top]
        chosen: Flags = self.scores + FAR * self.errors + self.margin >= least
        return chosen

    def are_apart(self, gaps: Numbers, errors: Numbers, critical: float) -> Flags:
        """Return whether each score difference in ``gaps`` is significantly above 0, given its standard error."""
        apart: Flags = gaps > np.maximum(critical * errors + self.margin, ROUNDING)
        return apart

    def errors_between(self, upper: slice, lower: slice) -> Numbers:
        """Return the standard error of the score difference between each row in ``upper`` and each row in ``lower``."""
        ours, theirs = self.deviations[upper], self.deviations[lower]
        terms = np.add.outer(self.errors[upper] ** 2, self.errors[lower] ** 2)
        variances = terms - ours @ theirs.T * (2 / (ours.shape[1] - 1))
        errors: Numbers = np.sqrt(np.maximum(variances, 0.0))
        for row in np.flatnonzero((variances < CANCELLED * terms).any(axis=1)):
            close = variances[row] < CANCELLED * terms[row]
            errors[row, close] = standard_errors(theirs[close] - ours[row])
        return errors


def standard_errors(deviations: Numbers) -> Numbers:
    """Return the standard deviation of each row of a matrix. The mean of each row must be 0.

    Standard deviations of at most :data:`evaluator.digits.ROUNDING` are replaced by 0.
    """
    squares = np.einsum("ij,ij->i", deviations, deviations)
    errors: Numbers = np.sqrt(squares / max(deviations.shape[1] - 1, 1))
    errors[errors <= ROUNDING] = 0.0
    return errors
