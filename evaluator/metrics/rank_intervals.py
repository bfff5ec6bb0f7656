"""Computes confidence intervals for ranks by simultaneous tests of score differences between leaderboard rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, inf

import numpy as np

from evaluator.metrics.bootstrap import SMALLEST, Numbers
from evaluator.metrics.known_rows import FAR, LEAST_REPLICATES, Flags, Indices, KnownRows

RankInterval = tuple[int, int]

# Number of rows, from the top of a leaderboard, for which simultaneous rank intervals are computed.
TOP = 100
# Probability that the test for rank intervals wrongly declares at least one pair of leaderboard rows significantly
# different.
ERROR_RATE = 1 / (LEAST_REPLICATES + 1)
# A critical value so high that two rows differ significantly only if the standard error of their difference is 0.
UNLIMITED = 1e300
# Number of leaderboard rows in a block. Rows are compared block by block.
BLOCK = 64
ENTRIES_AT_ONCE = 1 << 13


class FarRowsMatter(Exception):
    """Raised if leaderboard rows that the caller left out of the arguments could change the rank intervals.

    The caller must then pass the replicates of all rows.
    """


def top_rank_intervals(
    scores: Numbers, replicates: Numbers, top: int = TOP, *, margin: float = 0.0, complete: bool = True
) -> list[RankInterval | None]:
    """Return simultaneous confidence intervals for the ranks of the first rows of a leaderboard.

    Parameters
    ----------
    scores : float64 array of shape (rows,)
        Scores in descending order; higher scores are better. Baselines are left out, because they have no rank.
    replicates : float64 array of shape (rows, N)
        The score of each row in each bootstrap replicate, NaN where it is undefined. All rows have the same draws. A
        row of NaN values means that a leaderboard row has no replicates.
    top : int
        Number of rows that get an interval.
    margin : float
        Added to the score difference that the test requires to distinguish two rows. This margin prevents rank
        intervals from revealing more than the rounded scores do.
    complete : bool
        Whether the arrays contain all rows. If not, every row that was left out must be worse than each row that could
        be among the first ``top``. The scores must differ by more than :data:`~evaluator.metrics.known_rows.FAR` times
        the sum of the standard errors of both rows.

    Returns
    -------
    list of (lowest, highest), of length min(top, rows)
        Ranks from 1 to the number of rows. None where a row has no replicates.

    Raises
    ------
    ValueError
        If the scores are not in descending order.
    FarRowsMatter
        If rows were left out and the critical value is not smaller than ``FAR``.

    Notes
    -----
    This is the stepwise max-t procedure of Mogstad, Romano, Shaikh and Wilhelm, "Inference for Ranks with Applications
    to Mobility across Neighbourhoods and Academic Achievement across Countries", Review of Economic Studies 91 (2024).
    Two rows are distinguished if their scores differ by more than the critical value times the standard error of the
    difference. The deviation of a pair in a replicate is the difference of the two scores minus its mean, divided by
    this standard error. The critical value is the 95% quantile, over the replicates, of the largest absolute deviation
    of any compared pair. Distinguished pairs are removed in both directions, and the critical value is computed again,
    until no more pairs are distinguished. The authors' package csranks keeps the opposite direction of a distinguished
    pair, which also controls errors in the order of pairs. This function does not control these errors; their rate has
    been simulated (see the README). The lowest rank of a row is 1 + the number of distinguished better rows. Its
    highest rank is the number of rows − the number of distinguished worse rows.

    The same data also determine which rows are the first ``top``. Therefore, the critical value covers every row that
    could be one of them, that is, every row from which fewer than ``top`` better rows are distinguished. Each such row
    is compared with all rows.

    Rows whose scores differ by at most 1e-12 are never distinguished, because equal results can differ in the last
    digits. If a standard error is 0, any greater difference of the scores distinguishes two rows. A row without
    replicates is not distinguished from any row, so any other row could be before or after it. A replicate is used if
    it is defined for most rows. A row for which a used replicate is undefined counts as a row without replicates. With
    fewer than 19 replicates, no row has an interval.

    Examples
    --------
    Two rows have nearly the same score, and a third row is worse in every replicate.

    >>> noise = np.random.default_rng(1).normal(0, 0.01, (3, 1000))
    >>> top_rank_intervals(np.array([0.9, 0.89, 0.5]), np.array([[0.9], [0.89], [0.5]]) + noise)
    [(1, 2), (1, 2), (3, 3)]
    """
    board = KnownRows.of(scores, replicates, margin)
    counts = _stepped_down(board, top, complete=complete)
    found: list[RankInterval | None] = [None] * board.size
    for row, better, worse in zip(board.rows.tolist(), counts.better.tolist(), counts.worse.tolist(), strict=True):
        found[row] = 1 + better, board.size - worse
    return found[:top]


def individual_rank_intervals(
    scores: Numbers, replicates: Numbers, rows: Iterable[int], *, margin: float = 0.0, complete: bool = True
) -> list[RankInterval | None]:
    """Return a separate 95% confidence interval for the rank of each of the given rows.

    Parameters, results and errors are the same as for :func:`top_rank_intervals`. If ``complete`` is false, every row
    that was left out must differ from each of ``rows`` by more than ``FAR`` times the sum of their standard errors. The
    critical value of a row covers only the pairs that contain this row, so its interval is usually narrower than its
    simultaneous interval.

    Examples
    --------
    >>> noise = np.random.default_rng(1).normal(0, 0.01, (3, 1000))
    >>> individual_rank_intervals(np.array([0.9, 0.89, 0.5]), np.array([[0.9], [0.89], [0.5]]) + noise, [1, 2])
    [(1, 2), (3, 3)]
    """
    board = KnownRows.of(scores, replicates, margin)
    known = {row: index for index, row in enumerate(board.rows.tolist())}
    return [_individual(board, known[row], complete=complete) if row in known else None for row in rows]


@dataclass(frozen=True, slots=True)
class _Counts:
    """The numbers of significantly better and of significantly worse rows for each known row; shape (known,).

    Known rows are the leaderboard rows that have replicates. The numbers are complete only for the rows that were
    compared with all rows.
    """

    better: Indices
    worse: Indices


def _stepped_down(board: KnownRows, top: int, *, complete: bool) -> _Counts:
    """Return, for each row, how many rows are significantly better and how many are significantly worse.

    The rows are tested in steps with decreasing critical values. A row is no longer tested once ``top`` rows have been
    found to be significantly better. To save time, the first step assumes that rows that differ by more than
    :data:`FAR` standard errors are significantly different. If the critical value of the remaining pairs is not smaller
    than :data:`FAR`, the first step is repeated with all pairs.
    """
    critical, chosen = FAR, board.could_be_among(top)
    counts, next_critical = _step(board, chosen, critical)
    if next_critical >= FAR:
        _refuse_incomplete(complete)
        critical, chosen = UNLIMITED, np.ones(len(board.rows), bool)
        counts, next_critical = _step(board, chosen, critical)
    while next_critical < critical:
        critical, chosen = next_critical, chosen & (counts.better < top)
        counts, next_critical = _step(board, chosen, critical)
    return counts


def _step(board: KnownRows, chosen: Flags, critical: float) -> tuple[_Counts, float]:
    """Return the numbers of rows significantly better and worse than each row, and the next critical value."""
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
            apart = pairs & board.are_apart(gaps, errors, critical)
            counts.worse[upper] += apart.sum(axis=1)
            counts.better[lower] += apart.sum(axis=0)
            errors[~pairs | apart | (errors == 0)] = inf
            _raise(largest, board.deviations[upper], board.deviations[lower], errors)
    return counts, _critical_value(largest)


def _raise(largest: Numbers, ours: Numbers, theirs: Numbers, errors: Numbers) -> None:
    """Update ``largest``, the largest deviation of any pair of rows in each replicate, with the pairs from two blocks.

    ``largest`` has shape (N,). Few pairs exceed the largest deviation so far. Therefore, a row of the first block is
    compared only in those replicates in which its distance from the highest or the lowest row of the second block could
    exceed this deviation.
    """
    reach = np.maximum(theirs.max(axis=0) - ours, ours - theirs.min(axis=0))
    rows, draws = np.nonzero(reach > largest * errors.min(axis=1)[:, None])
    for first in range(0, len(rows), ENTRIES_AT_ONCE):
        row, draw = rows[first : first + ENTRIES_AT_ONCE], draws[first : first + ENTRIES_AT_ONCE]
        found = np.abs(theirs[:, draw] - ours[row, draw]) / errors[row].T
        np.maximum.at(largest, draw, found.max(axis=0))


def _individual(board: KnownRows, row: int, *, complete: bool) -> RankInterval:
    """Return the rank interval of one row that has replicates, by a stepwise test of the pairs that contain it."""
    gaps = board.scores[row] - board.scores
    errors = board.errors_between(slice(row, row + 1), slice(None))[0]
    near = (errors > 0) & ~board.are_apart(np.abs(gaps), errors, FAR)
    critical, next_critical = FAR, _critical_of_pairs(board, row, near, errors)
    if next_critical >= FAR:
        _refuse_incomplete(complete)
        near = errors > 0
        critical, next_critical = UNLIMITED, _critical_of_pairs(board, row, near, errors)
    while next_critical < critical:
        critical = next_critical
        near = near & ~board.are_apart(np.abs(gaps), errors, critical)
        next_critical = _critical_of_pairs(board, row, near, errors)
    better = int(np.count_nonzero(board.are_apart(-gaps, errors, critical)))
    worse = int(np.count_nonzero(board.are_apart(gaps, errors, critical)))
    return 1 + better, board.size - worse


def _critical_of_pairs(board: KnownRows, row: int, others: Flags, errors: Numbers) -> float:
    """Return the critical value for testing one row against each of the given other rows."""
    largest = np.full(board.deviations.shape[1], SMALLEST)
    rows = np.flatnonzero(others)
    for first in range(0, len(rows), BLOCK):
        block = rows[first : first + BLOCK]
        found = np.abs(board.deviations[block] - board.deviations[row]) / errors[block, None]
        np.maximum(largest, found.max(axis=0), out=largest)
    return _critical_value(largest)


def _refuse_incomplete(complete: bool) -> None:
    if not complete:
        raise FarRowsMatter


def _critical_value(largest: Numbers) -> float:
    """Return the (1 − ``ERROR_RATE``) quantile of the largest deviations in N replicates.

    Infinity counts as one more deviation, so the quantile may be infinite.

    >>> _critical_value(np.arange(1.0, 1000.0))
    950.0
    """
    number = ceil((1 - ERROR_RATE) * (len(largest) + 1))
    return float(np.partition(largest, number - 1)[number - 1]) if number <= len(largest) else inf
