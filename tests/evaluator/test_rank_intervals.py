"""Compares rank intervals of leaderboard rows with a simple implementation that tests all pairs of rows."""

from math import ceil, inf

import numpy as np
import pytest
from numpy.random import Generator

from evaluator.metrics.bootstrap import Numbers
from evaluator.metrics.rank_intervals import (
    FarRowsMatter,
    RankInterval,
    individual_rank_intervals,
    top_rank_intervals,
)

UNKNOWN = np.full(1000, np.nan)


def drawn(rng: Generator, scores: Numbers, *, error: float = 0.01, replicates: int = 199) -> Numbers:
    """Return simulated bootstrap replicates for the given scores, one score per leaderboard row.

    All rows share a random component, which cancels out in differences. Each row also has its own random component. The
    variance of this component differs between rows.
    """
    own = rng.normal(0, error, (len(scores), replicates)) * rng.uniform(0.3, 2, (len(scores), 1))
    return scores[:, None] + rng.normal(0, error, replicates) + own


def plain(scores: Numbers, replicates: Numbers, top: int, *, row: int | None = None) -> list[RankInterval]:
    """Compute the rank intervals of the first `top` rows by a step-down procedure.

    Test the score differences of all pairs of rows. Then test the pairs without a significant difference again, until
    the critical value no longer decreases. If `row` is given, only pairs that contain this row are tested.
    """
    rows = range(len(scores))
    kept = {(one, other) for one in rows for other in rows if one < other and row in (None, one, other)}
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
    """Return the score difference between two rows, and its absolute deviation in each replicate.

    Both values are in units of the standard error of the difference.
    """
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
    # Some rows of the leaderboard are copies of other rows, as if two teams had submitted the same file.
    scores[copies + 1], replicates[copies + 1] = scores[copies], replicates[copies]
    order = np.argsort(-scores, kind="stable")
    scores, replicates = scores[order], replicates[order]
    assert top_rank_intervals(scores, replicates, top) == plain(scores, replicates, top)


def test_rows_with_large_differences_have_one_rank_each() -> None:
    scores = np.array([0.9, 0.6, 0.3])
    assert top_rank_intervals(scores, drawn(np.random.default_rng(1), scores)) == [(1, 1), (2, 2), (3, 3)]


def test_equal_scores_are_never_distinguished() -> None:
    """Rows with equal scores share their ranks, even if one row is better in every replicate."""
    scores = np.array([0.6, 0.6, 0.3])
    replicates = drawn(np.random.default_rng(1), np.array([0.9, 0.6, 0.3]))
    assert top_rank_intervals(scores, replicates) == [(1, 2), (1, 2), (3, 3)]


def test_scores_that_differ_by_rounding_are_never_distinguished() -> None:
    """The first two rows are equal in every replicate, so the standard error of their difference is 0."""
    scores = np.array([1.0, 1 - 1.2e-16, 0.5])
    assert scores[0] > scores[1]
    assert top_rank_intervals(scores, np.repeat(scores[:, None], 199, axis=1)) == [(1, 2), (1, 2), (3, 3)]


@pytest.mark.parametrize("rounding", [0.0, 1e-16])
def test_if_the_standard_error_is_0_any_difference_is_significant(rounding: float) -> None:
    """The differences between the three rows are the same in every replicate. Rows 2 and 3 have equal scores."""
    common = np.random.default_rng(1).normal(0, 0.01, 199)
    scores = np.array([0.6001, 0.6, 0.6])
    replicates = scores[:, None] + common + np.array([[0.0], [rounding], [0.0]])
    assert top_rank_intervals(scores, replicates) == [(1, 1), (2, 3), (2, 3)]


def test_a_row_without_replicates_has_no_interval_and_widens_all_other_intervals() -> None:
    scores = np.array([0.9, 0.6, 0.3])
    replicates = drawn(np.random.default_rng(1), scores, replicates=1000)
    replicates[1] = UNKNOWN
    assert top_rank_intervals(scores, replicates) == [(1, 2), None, (2, 3)]
    assert individual_rank_intervals(scores, replicates, [1])[0] is None
    assert individual_rank_intervals(scores, replicates, [2])[0] == (2, 3)


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
def test_a_leaderboard_of_at_most_one_row_has_exact_ranks(rows: int) -> None:
    assert top_rank_intervals(np.full(rows, 0.5), np.full((rows, 100), 0.5)) == [(1, 1)] * rows


@pytest.mark.parametrize("top", [1, 40])
def test_rows_are_not_distinguished_in_the_first_step_if_the_critical_value_is_high(top: int) -> None:
    """In 5 of the 1,000 bootstrap replicates, the score of a row is 10 standard errors higher than all other scores.

    The critical value is therefore so high that the lead of the first row, 9 standard errors, is not significant.
    """
    replicates = np.random.default_rng(1).normal(0, 1e-4, (40, 1000))
    replicates[np.repeat(np.arange(40), 5), np.arange(200)] += 1.0
    error = (replicates[0] - replicates[1]).std(ddof=1)
    scores = np.array([9 * error, *np.zeros(39)])
    assert top_rank_intervals(scores, replicates, top) == plain(scores, replicates, top) == [(1, 40)] * top


def test_scores_that_are_not_in_descending_order_are_refused() -> None:
    with pytest.raises(ValueError, match="descending order"):
        top_rank_intervals(np.array([0.3, 0.9]), np.zeros((2, 100)))


def test_the_critical_value_allows_for_the_choice_of_the_first_rows() -> None:
    """Which of 200 equally good rows is first depends on chance, and the interval must account for this."""
    wrong = {"chosen": 0, "fixed": 0}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        scores = 0.6 + np.sort(rng.normal(0, 0.01, 200))[::-1]
        replicates = scores[:, None] + rng.normal(0, 0.01, (200, 199))
        wrong["chosen"] += top_rank_intervals(scores, replicates, 1) != [(1, 200)]
        wrong["fixed"] += individual_rank_intervals(scores, replicates, [0])[0] != (1, 200)
    # About 2 of 40 intervals with a confidence of 95% are expected to be wrong. The probability of 7 or more is 0.3%.
    assert wrong["chosen"] <= 6
    assert wrong["fixed"] >= 15


def test_an_individual_interval_is_within_the_simultaneous_one() -> None:
    rng = np.random.default_rng(7)
    scores = np.sort(rng.normal(0.6, 0.03, 40))[::-1]
    replicates = drawn(rng, scores)
    together = top_rank_intervals(scores, replicates)
    for row in range(40):
        alone, simultaneous = individual_rank_intervals(scores, replicates, [row])[0], together[row]
        assert alone is not None
        assert simultaneous is not None
        assert simultaneous[0] <= alone[0] <= row + 1 <= alone[1] <= simultaneous[1]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("spread", [0.0, 0.01, 0.1])
def test_individual_intervals_equal_those_of_the_simple_implementation(seed: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    scores = np.sort(rng.normal(0.6, spread, 70))[::-1]
    replicates = drawn(rng, scores)
    scores[31], replicates[31] = scores[30], replicates[30]
    # The replicates differ by a constant, so the standard error of the difference of the two best scores is 0.
    scores[1], replicates[1] = scores[0] - 1e-5, replicates[0] - 1e-5
    replicates, scores = replicates[np.argsort(-scores, kind="stable")], -np.sort(-scores)
    rows = [0, 1, 2, 30, 31, 69]
    expected = [plain(scores, replicates, 70, row=row)[row] for row in rows]
    assert individual_rank_intervals(scores, replicates, rows) == expected


@pytest.mark.parametrize(("margin", "expected"), [(0.0, [(1, 1), (2, 2)]), (0.02, [(1, 2), (1, 2)])])
def test_rows_within_the_margin_are_not_distinguished(margin: float, expected: list[RankInterval]) -> None:
    scores = np.array([0.61, 0.6])
    replicates = drawn(np.random.default_rng(1), scores, error=1e-4)
    assert top_rank_intervals(scores, replicates, margin=margin) == expected
    assert individual_rank_intervals(scores, replicates, [0, 1], margin=margin) == expected


def test_the_margin_is_added_to_the_critical_value() -> None:
    """Two rows differ by 6 standard errors, and the critical value is about 2 standard errors.

    The rows are distinguished with a margin of 3 standard errors, because 6 > 2 + 3, but not with a margin of 5.
    """
    replicates = np.random.default_rng(1).normal(0, 1, (2, 999))
    error = (replicates[0] - replicates[1]).std(ddof=1)
    scores = np.array([6 * error, 0.0])
    assert top_rank_intervals(scores, replicates, margin=3 * error) == [(1, 1), (2, 2)]
    assert top_rank_intervals(scores, replicates, margin=5 * error) == [(1, 2), (1, 2)]


def test_rows_with_much_lower_scores_may_be_omitted() -> None:
    rng = np.random.default_rng(3)
    scores = np.concatenate([np.sort(rng.normal(0.8, 0.01, 20))[::-1], np.sort(rng.normal(0.2, 0.01, 20))[::-1]])
    replicates = drawn(rng, scores, error=0.005)
    near = top_rank_intervals(scores[:20], replicates[:20], 10, complete=False)
    assert near == top_rank_intervals(scores, replicates, 10)
    alone = individual_rank_intervals(scores[:20], replicates[:20], range(20), complete=False)
    assert alone == individual_rank_intervals(scores, replicates, range(20))


def test_missing_rows_cause_an_error_if_the_critical_value_is_high() -> None:
    replicates = np.random.default_rng(1).normal(0, 1e-4, (40, 1000))
    replicates[np.repeat(np.arange(40), 5), np.arange(200)] += 1.0
    with pytest.raises(FarRowsMatter):
        top_rank_intervals(np.zeros(40), replicates, complete=False)
    with pytest.raises(FarRowsMatter):
        individual_rank_intervals(np.zeros(40), replicates, [7], complete=False)
