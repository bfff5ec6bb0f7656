"""Confidence sets of ranks, from simultaneous tests of the differences between the rows of a leaderboard."""

from dataclasses import dataclass
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.bootstrap import SMALLEST, Numbers

RankInterval = tuple[int, int]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]

TOP = 100  # number of rows whose intervals are simultaneous
ERROR_RATE = 0.05  # probability that at least one pair of rows is distinguished wrongly
FAR = 8.0  # rows that differ by more standard errors than this are distinguished at once, if that can be allowed
UNLIMITED = 1e300  # a critical value that only rows with a standard error of 0 exceed
# Smaller gaps and smaller standard errors are differences of rounding: equal results are summed in different orders.
ROUNDING = 1e-12
CANCELLED = 1e-6  # a variance that is smaller than this share of its terms is computed from the differences
BLOCK = 64  # rows in a block; two blocks of rows are compared at a time
ENTRIES_AT_ONCE = 1 << 13
LEAST_REPLICATES = ceil(1 / ERROR_RATE) - 1  # Fewer replicates have no 95% quantile.


def top_rank_intervals(scores: Numbers, replicates: Numbers, top: int = TOP) -> list[RankInterval | None]:
    """Return simultaneous intervals of the ranks that each of the first rows of a leaderboard could have.

    Parameters
    ----------
    scores : float64 array of shape (rows,)
        Higher is better; in descending order. Without baselines, which have no rank.
    replicates : float64 array of shape (rows, N)
        The score of each row in each bootstrap replicate. All rows have the same draws. NaN where it is undefined; a
        row of NaN has no replicates.
    top : int
        How many rows get an interval.

    Returns
    -------
    list of (lowest, highest), of length min(top, rows); from 1 to the number of rows. None where a row has no
    replicates.

    Raises
    ------
    ValueError
        If the scores are not in descending order.

    Notes
    -----
    This is the stepwise max-t procedure of Mogstad, Romano, Shaikh and Wilhelm, "Inference for Ranks with Applications
    to Mobility across Neighbourhoods and Academic Achievement across Countries", Review of Economic Studies 91 (2024).
    Two rows are distinguished if their scores differ by more than ``critical`` standard errors of the difference. The
    critical value is the 95% quantile, over the replicates, of the largest absolute deviation of any compared pair in
    standard errors. Distinguished pairs are removed in both directions, and the critical value is computed again, until
    no more pairs are distinguished. The authors' package csranks keeps the opposite direction of a distinguished pair,
    so that pairs in the wrong order are controlled as well; here that is only simulated, see the README. The lowest
    rank of a row is 1 + the number of distinguished better rows. Its highest rank is the number of rows − the number of
    distinguished worse rows.

    Which rows are the first ``top`` depends on the same data. So the critical value covers every row that could be one
    of them: every row from which fewer than ``top`` better rows are distinguished. Each such row is compared with all
    rows.

    Rows whose scores differ by 1e-12 at most are never distinguished: the same result can have several last digits. If
    a standard error is 0, any greater difference of the scores counts. A row without replicates is distinguished from
    no row, so any other row could be before or after it. A replicate is used if it is defined for most rows; a row for
    which one of these is undefined counts as a row without replicates. With fewer than 19 replicates, no row has an
    interval.

    Examples
    --------
    Two rows with the same score on average, and one that is worse in every replicate.

    >>> noise = np.random.default_rng(1).normal(0, 0.01, (3, 1000))
    >>> top_rank_intervals(np.array([0.9, 0.89, 0.5]), np.array([[0.9], [0.89], [0.5]]) + noise)
    [(1, 2), (1, 2), (3, 3)]
    """
    board = _Board.of(scores, replicates)
    counts = _stepped_down(board, np.ones(len(board.rows), bool), top)
    return board.intervals(counts)[:top]


def individual_rank_interval(scores: Numbers, replicates: Numbers, row: int) -> RankInterval | None:
    """Return the interval of the ranks that one row could have, with 95% confidence for this row only.

    Parameters, result and errors are those of :func:`top_rank_intervals`. The critical value covers only the pairs of
    this row, so the interval is usually narrower.

    Examples
    --------
    >>> noise = np.random.default_rng(1).normal(0, 0.01, (3, 1000))
    >>> individual_rank_interval(np.array([0.9, 0.89, 0.5]), np.array([[0.9], [0.89], [0.5]]) + noise, 1)
    (1, 2)
    """
    board = _Board.of(scores, replicates)
    return board.intervals(_stepped_down(board, board.rows == row, len(scores)))[row]


@dataclass(frozen=True, slots=True)
class _Counts:
    """Numbers of better and worse rows distinguished from each known row, shapes (known,); complete for chosen rows."""

    better: Indices
    worse: Indices


@dataclass(frozen=True, slots=True)
class _Board:
    """The known rows of a board: those with replicates, defined in each replicate that most rows define.

    Attributes
    ----------
    size : int
        Number of all rows.
    rows : int array of shape (known,)
        Indices of the known rows.
    scores : float64 array of shape (known,), in descending order
    deviations : float64 array of shape (known, N)
        Replicates minus the mean of the row. The mean of each replicate over the rows is subtracted as well: it cancels
        out in every difference, and bounds of the differences are closer without it.
    errors : float64 array of shape (known,)
        Standard deviation of the deviations of each row.
    """

    size: int
    rows: Indices
    scores: Numbers
    deviations: Numbers
    errors: Numbers

    @classmethod
    def of(cls, scores: Numbers, replicates: Numbers) -> "_Board":
        if np.any(np.diff(scores) > 0):
            raise ValueError("the scores must be in descending order")
        defined = ~np.isnan(replicates)
        present = defined.any(axis=1)
        # A majority is enough, so that a single row cannot make a replicate unusable for the rest.
        usable = 2 * defined.sum(axis=0) > present.sum()
        enough = usable.sum() >= LEAST_REPLICATES
        rows = np.flatnonzero(present & defined[:, usable].all(axis=1) & enough)
        deviations = replicates[np.ix_(rows, usable)]
        if len(rows):
            deviations -= deviations.mean(axis=1, keepdims=True)
            deviations -= deviations.mean(axis=0)
        return cls(len(scores), rows, scores[rows], deviations, _standard_errors(deviations))

    def could_be_among(self, top: int) -> Flags:
        """Return the rows that are not clearly worse than ``top`` rows, judged by scores and standard errors."""
        if len(self.rows) <= top:
            return np.ones(len(self.rows), bool)
        least = np.partition(self.scores - FAR * self.errors, -top)[-top]
        chosen: Flags = self.scores + FAR * self.errors >= least
        return chosen

    def errors_between(self, upper: slice, lower: slice) -> Numbers:
        """Return the standard errors of the differences between two blocks of rows, shape (upper, lower)."""
        ours, theirs = self.deviations[upper], self.deviations[lower]
        terms = np.add.outer(self.errors[upper] ** 2, self.errors[lower] ** 2)
        variances = terms - ours @ theirs.T * (2 / (ours.shape[1] - 1))
        errors: Numbers = np.sqrt(np.maximum(variances, 0.0))
        for row in np.flatnonzero((variances < CANCELLED * terms).any(axis=1)):
            close = variances[row] < CANCELLED * terms[row]
            errors[row, close] = _standard_errors(theirs[close] - ours[row])
        return errors

    def intervals(self, counts: _Counts) -> list[RankInterval | None]:
        """Return the interval of each row of the board."""
        found: list[RankInterval | None] = [None] * self.size
        for row, better, worse in zip(self.rows.tolist(), counts.better.tolist(), counts.worse.tolist(), strict=True):
            found[row] = 1 + better, self.size - worse
        return found


def _stepped_down(board: _Board, compared: Flags, top: int) -> _Counts:
    """Distinguish pairs with a compared row, step by step, until a row has ``top`` better rows.

    The first step distinguishes rows that are far apart. If the critical value of the others is not smaller than
    that, the step is done again with all pairs.
    """
    critical, chosen = FAR, compared & board.could_be_among(top)
    counts, next_critical = _step(board, chosen, critical)
    if next_critical >= FAR:
        critical, chosen = UNLIMITED, compared
        counts, next_critical = _step(board, chosen, critical)
    while next_critical < critical:
        critical, chosen = next_critical, chosen & (counts.better < top)
        counts, next_critical = _step(board, chosen, critical)
    return counts


def _step(board: _Board, chosen: Flags, critical: float) -> tuple[_Counts, float]:
    """Count the pairs distinguished at a critical value, and return the critical value of the remaining pairs."""
    counts = _Counts(*np.zeros((2, len(board.rows)), np.intp))
    largest = np.full(board.deviations.shape[1], SMALLEST)
    blocks = [slice(first, first + BLOCK) for first in range(0, len(board.rows), BLOCK)]
    for number, upper in enumerate(blocks):
        for lower in blocks[number:]:
            pairs = np.logical_or.outer(chosen[upper], chosen[lower])
            if lower is upper:
                pairs = np.triu(pairs, 1)
            if not pairs.any():
                continue
            gaps = np.subtract.outer(board.scores[upper], board.scores[lower])
            errors = board.errors_between(upper, lower)
            apart = pairs & (gaps > np.maximum(critical * errors, ROUNDING))
            counts.worse[upper] += apart.sum(axis=1)
            counts.better[lower] += apart.sum(axis=0)
            errors[~pairs | apart | (errors == 0)] = inf
            _raise(largest, board.deviations[upper], board.deviations[lower], errors)
    return counts, _critical_value(largest)


def _raise(largest: Numbers, ours: Numbers, theirs: Numbers, errors: Numbers) -> None:
    """Update the largest deviation in each replicate, shape (N,), with those of the pairs of two blocks of rows.

    Few pairs exceed the largest deviation so far. So a row is compared only in those replicates in which it is far
    enough from the highest or the lowest row of the other block.
    """
    reach = np.maximum(theirs.max(axis=0) - ours, ours - theirs.min(axis=0))
    rows, draws = np.nonzero(reach > largest * errors.min(axis=1)[:, None])
    for first in range(0, len(rows), ENTRIES_AT_ONCE):
        row, draw = rows[first : first + ENTRIES_AT_ONCE], draws[first : first + ENTRIES_AT_ONCE]
        found = np.abs(theirs[:, draw] - ours[row, draw]) / errors[row].T
        np.maximum.at(largest, draw, found.max(axis=0))


def _standard_errors(deviations: Numbers) -> Numbers:
    """Return the standard deviations of rows whose means are 0, shape (rows,); exactly 0 below :data:`ROUNDING`."""
    squares = np.einsum("ij,ij->i", deviations, deviations)
    errors: Numbers = np.sqrt(squares / max(deviations.shape[1] - 1, 1))
    errors[errors <= ROUNDING] = 0.0
    return errors


def _critical_value(largest: Numbers) -> float:
    """Return the (1 − ``ERROR_RATE``) quantile of N replicates and the observation, which counts as the largest value.

    >>> _critical_value(np.arange(1.0, 1000.0))
    950.0
    """
    number = ceil((1 - ERROR_RATE) * (len(largest) + 1))
    return float(np.partition(largest, number - 1)[number - 1]) if number <= len(largest) else inf
