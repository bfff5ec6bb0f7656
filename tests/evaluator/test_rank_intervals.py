"""Rank intervals, compared with a simple implementation over all pairs, and on cases made by hand."""

from math import ceil, inf

import numpy as np
import pytest
from numpy.random import Generator

from evaluator.metrics.bootstrap import Numbers
from evaluator.metrics.rank_intervals import RankInterval, individual_rank_interval, top_rank_intervals

UNKNOWN = np.full(1000, np.nan)


def drawn(rng: Generator, scores: Numbers, *, error: float = 0.01, replicates: int = 199) -> Numbers:
    """Return simulated replicates of rows.

    Each row has a common part, which cancels in differences, and a part of its own with its own spread.
    """
    own = rng.normal(0, error, (len(scores), replicates)) * rng.uniform(0.3, 2, (len(scores), 1))
    return scores[:, None] + rng.normal(0, error, replicates) + own


def plain(scores: Numbers, replicates: Numbers, top: int) -> list[RankInterval]:
    """Compute rank intervals by the procedure of the paper: test all pairs, then repeat with the undecided pairs."""
    rows = range(len(scores))
    kept = {(one, other) for one in rows for other in rows if one < other}
    tests = {pair: statistic(scores, replicates, *pair) for pair in kept}
    critical, before = 1e9, inf
    better, worse = np.zeros((2, len(scores)), int)
    while critical < before:
        apart = {pair for pair in tests if tests[pair][0] > critical}
        better, worse = (np.bincount([pair[side] for pair in apart], minlength=len(scores)) for side in (1, 0))
        kept = {(one, other) for one, other in kept - apart if better[one] < top or better[other] < top}
        largest = np.max([tests[pair][1] for pair in kept] + [np.zeros(replicates.shape[1])], axis=0)
        critical, before = float(np.sort(largest)[ceil(0.95 * (len(largest) + 1)) - 1]), critical
    return [(1 + int(better[row]), len(scores) - int(worse[row])) for row in rows][:top]


def statistic(scores: Numbers, replicates: Numbers, one: int, other: int) -> tuple[float, Numbers]:
    """Return the difference of two rows, and the absolute deviation in each replicate, both in standard errors."""
    differences = replicates[one] - replicates[other]
    gap, error = scores[one] - scores[other], differences.std(ddof=1)
    if error < 1e-12:
        return (inf if gap > 1e-12 else 0.0), np.zeros_like(differences)
    return gap / error, np.abs(differences - differences.mean()) / error


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("rows", "top"), [(2, 2), (12, 12), (90, 5), (90, 40)])
def test_intervals_equal_those_of_the_simple_implementation(seed: int, rows: int, top: int) -> None:
    rng = np.random.default_rng(seed)
    scores = np.sort(rng.normal(0.6, rng.choice([0.0, 0.01, 0.1]), rows))[::-1]
    replicates = drawn(rng, scores)
    copies = rng.integers(0, rows - 1, rows // 4)
    scores[copies + 1], replicates[copies + 1] = scores[copies], replicates[copies]  # two submissions of the same file
    order = np.argsort(-scores, kind="stable")
    scores, replicates = scores[order], replicates[order]
    assert top_rank_intervals(scores, replicates, top) == plain(scores, replicates, top)


def test_rows_that_differ_by_much_have_one_rank_each() -> None:
    scores = np.array([0.9, 0.6, 0.3])
    assert top_rank_intervals(scores, drawn(np.random.default_rng(1), scores)) == [(1, 1), (2, 2), (3, 3)]


def test_equal_scores_are_never_distinguished() -> None:
    """Rows with equal scores share their ranks even if the replicates of one row are always higher."""
    scores = np.array([0.6, 0.6, 0.3])
    replicates = drawn(np.random.default_rng(1), np.array([0.9, 0.6, 0.3]))
    assert top_rank_intervals(scores, replicates) == [(1, 2), (1, 2), (3, 3)]


def test_scores_that_differ_by_rounding_are_never_distinguished() -> None:
    """The standard error of the first difference is 0."""
    scores = np.array([1.0, 1 - 1.2e-16, 0.5])
    assert scores[0] > scores[1]
    assert top_rank_intervals(scores, np.repeat(scores[:, None], 199, axis=1)) == [(1, 2), (1, 2), (3, 3)]


@pytest.mark.parametrize("rounding", [0.0, 1e-16])
def test_if_the_standard_error_is_0_any_difference_is_significant(rounding: float) -> None:
    """The differences between rows 1, 2 and 3 are the same in every replicate; rows 2 and 3 have equal scores."""
    common = np.random.default_rng(1).normal(0, 0.01, 199)
    scores = np.array([0.6001, 0.6, 0.6])
    replicates = scores[:, None] + common + np.array([[0.0], [rounding], [0.0]])
    assert top_rank_intervals(scores, replicates) == [(1, 1), (2, 3), (2, 3)]


def test_a_row_without_replicates_has_no_interval_and_widens_the_others() -> None:
    scores = np.array([0.9, 0.6, 0.3])
    replicates = drawn(np.random.default_rng(1), scores, replicates=1000)
    replicates[1] = UNKNOWN
    assert top_rank_intervals(scores, replicates) == [(1, 2), None, (2, 3)]
    assert individual_rank_interval(scores, replicates, 1) is None
    assert individual_rank_interval(scores, replicates, 2) == (2, 3)


def test_replicates_undefined_in_every_row_are_ignored() -> None:
    scores = np.array([0.62, 0.61, 0.6])
    replicates = drawn(np.random.default_rng(1), scores, replicates=1000)
    replicates[:, ::4] = np.nan
    left = replicates[:, ~np.isnan(replicates[0])]
    assert top_rank_intervals(scores, replicates) == top_rank_intervals(scores, left)


def test_a_mostly_undefined_row_does_not_reduce_the_replicates_of_others() -> None:
    scores = np.array([0.9, 0.6, 0.3])
    replicates = drawn(np.random.default_rng(1), scores)
    replicates[2, 1:] = np.nan
    assert top_rank_intervals(scores, replicates) == [(1, 2), (2, 3), None]


@pytest.mark.parametrize(("replicates", "known"), [(0, False), (1, False), (18, False), (19, True)])
def test_fewer_than_19_replicates_give_no_result(replicates: int, known: bool) -> None:
    scores = np.array([0.9, 0.3])
    vectors = drawn(np.random.default_rng(1), scores, replicates=replicates)
    assert top_rank_intervals(scores, vectors) == ([(1, 1), (2, 2)] if known else [None, None])


@pytest.mark.parametrize("rows", [0, 1])
def test_a_board_of_at_most_one_row_has_exact_ranks(rows: int) -> None:
    assert top_rank_intervals(np.full(rows, 0.5), np.full((rows, 100), 0.5)) == [(1, 1)] * rows


@pytest.mark.parametrize("top", [1, 40])
def test_rows_are_not_distinguished_at_once_if_the_critical_value_is_high(top: int) -> None:
    """Each row is far off in 5 replicates of its own, by 10 standard errors of a difference."""
    replicates = np.random.default_rng(1).normal(0, 1e-4, (40, 1000))
    replicates[np.repeat(np.arange(40), 5), np.arange(200)] += 1.0
    error = (replicates[0] - replicates[1]).std(ddof=1)
    scores = np.array([9 * error, *np.zeros(39)])
    assert top_rank_intervals(scores, replicates, top) == plain(scores, replicates, top) == [(1, 40)] * top


def test_scores_in_another_order_are_refused() -> None:
    with pytest.raises(ValueError, match="descending order"):
        top_rank_intervals(np.array([0.3, 0.9]), np.zeros((2, 100)))


def test_the_critical_value_allows_for_the_choice_of_the_first_rows() -> None:
    """Which of 200 equal rows is first depends on chance, and the interval must allow for this choice."""
    wrong = {"chosen": 0, "fixed": 0}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        scores = 0.6 + np.sort(rng.normal(0, 0.01, 200))[::-1]
        replicates = scores[:, None] + rng.normal(0, 0.01, (200, 199))
        wrong["chosen"] += top_rank_intervals(scores, replicates, 1) != [(1, 200)]
        wrong["fixed"] += individual_rank_interval(scores, replicates, 0) != (1, 200)
    assert wrong["chosen"] <= 6  # 2 of 40 are expected; 7 or more have a probability of 0.4%
    assert wrong["fixed"] >= 15


def test_an_individual_interval_is_within_the_simultaneous_one() -> None:
    rng = np.random.default_rng(7)
    scores = np.sort(rng.normal(0.6, 0.03, 40))[::-1]
    replicates = drawn(rng, scores)
    together = top_rank_intervals(scores, replicates)
    for row in range(40):
        alone, simultaneous = individual_rank_interval(scores, replicates, row), together[row]
        assert alone is not None
        assert simultaneous is not None
        assert simultaneous[0] <= alone[0] <= row + 1 <= alone[1] <= simultaneous[1]
