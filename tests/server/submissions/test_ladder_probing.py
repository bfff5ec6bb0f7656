"""How much trial and error gains through the Ladder: seeded climbs on 2,000 binary labels with 500 probes.

A climb flips some answers. It keeps them if a better score is shown, and undoes them otherwise. With memory it tries no
label twice. The gain is the rise of the accuracy on the probed labels; on other labels the accuracy does not rise.
Measured with 8 seeds and 1,000 replicates; the best of 17 fixed step sizes from 1 to 40:

                          exact        1 standard error   2 standard errors
    single flips          0.109        0.055              0
    best plain climb      0.146 (7)    0.116 (7)          0.040 (8)
    best with memory      0.195 (5)    0.140 (7)          0.046 (8)

With steps of random size, where each answer flips with some probability: exact 0.142, one standard error 0.100 (0.123
with memory), two standard errors 0.040 (0.043).
"""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from server.submissions.services import ladder

LABELS, PROBES, SEEDS, REPLICATES = 2_000, 500, 5, 200
STEPS = (7, 8, 14)


def weights_of(seed: int) -> NDArray[np.float64]:
    """Return how often each image is in each replicate, shape (labels, replicates)."""
    rng = np.random.default_rng([seed, 1])
    drawn = [np.bincount(rng.integers(0, LABELS, LABELS), minlength=LABELS) for _ in range(REPLICATES)]
    return np.array(drawn, np.float64).T


WEIGHTS = [weights_of(seed) for seed in range(SEEDS)]


def gain(seed: int, step: int, standard_errors: float | None, *, memory: bool) -> float:
    """Return the gain of one climb. `standard_errors` None: every score is shown exactly."""
    rng = np.random.default_rng(seed)
    right = rng.random(LABELS) < 0.5
    at_first = right.mean()
    untried = np.ones(LABELS, bool)
    for _ in range(PROBES):
        if untried.sum() < step:
            untried[:] = True
        flipped = rng.choice(np.flatnonzero(untried) if memory else LABELS, step, replace=False)
        untried[flipped] = False
        change = np.where(right[flipped], -1, 1)
        if is_shown(change, WEIGHTS[seed][flipped], standard_errors):
            right[flipped] = ~right[flipped]
    return float(right.mean() - at_first)


def is_shown(change: NDArray[np.int_], weights: NDArray[np.float64], standard_errors: float | None) -> bool:
    """Return whether a better score is shown. Only flipped answers contribute to differences of replicates."""
    better = change.sum() / LABELS
    if better <= 0 or standard_errors is None:
        return bool(better > 0)
    differences = (change @ weights / LABELS).tolist()
    return ladder.beats(better, 0.0, differences, [0.0] * REPLICATES, standard_errors=standard_errors)


def mean_gain(step: int, standard_errors: float | None, *, memory: bool = False) -> float:
    return float(np.mean([gain(seed, step, standard_errors, memory=memory) for seed in range(SEEDS)]))


def best_gain(standard_errors: float, *, memory: bool, steps: Sequence[int] = STEPS) -> float:
    return max(mean_gain(step, standard_errors, memory=memory) for step in steps)


def test_at_one_standard_error_half_of_all_correct_single_flips_are_shown() -> None:
    assert mean_gain(1, 1) == pytest.approx(mean_gain(1, None) / 2, rel=0.2)
    assert mean_gain(1, 1) > 0.04


def test_at_two_standard_errors_no_single_flip_is_shown() -> None:
    assert mean_gain(1, 2) == 0.0


@pytest.mark.parametrize("memory", [False, True])
def test_at_two_standard_errors_a_climb_gains_less_than_half_of_what_it_gains_at_one(memory: bool) -> None:
    one, two = (best_gain(margin, memory=memory) for margin in (1, 2))
    assert one > (0.11 if memory else 0.09)
    assert two < 0.06
    assert two < one / 2


def test_the_quota_stays_the_real_limit() -> None:
    """Even with the ladder, a climb that changes many answers at once gains something."""
    assert mean_gain(8, 2) > 0.02
