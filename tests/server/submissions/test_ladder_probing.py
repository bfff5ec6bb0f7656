"""Measures how much an attack by hill climbing gains under ladder feedback, with 500 probes on 2,000 binary labels.

Ladder feedback shows a score only if it clearly exceeds the best one so far. Each probe flips some answers. The attack
keeps the flips if a better score is shown, and undoes them otherwise. An attack with memory flips no label a second
time until it has tried all labels. The gain is the increase of the accuracy on these labels. On labels that are not
scored, the attack has no effect on the expected accuracy.

The table shows gains that were measured with 8 seeds and 1,000 replicates. Its columns are for exact scores, and for
ladder feedback that shows improvements by more than 1 or 2 standard errors. "Best" means the best of 17 fixed numbers
of flips per probe, from 1 to 40. The best number is in parentheses:

                          exact        1 standard error   2 standard errors
    single flips          0.109        0.055              0
    best without memory   0.146 (7)    0.116 (7)          0.040 (8)
    best with memory      0.195 (5)    0.140 (7)          0.046 (8)

If instead each answer flips with a fixed probability, the gain is 0.142 with exact scores, 0.100 with one standard
error (0.123 with memory), and 0.040 with two standard errors (0.043 with memory).
"""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from server.submissions.services import ladder

LABELS, PROBES, SEEDS, REPLICATES = 2_000, 500, 5, 200
STEPS = (7, 8, 14)


def weights_of(seed: int) -> NDArray[np.float64]:
    """Return how often each label is drawn in each bootstrap replicate, as an array of shape (labels, replicates)."""
    rng = np.random.default_rng([seed, 1])
    drawn = [np.bincount(rng.integers(0, LABELS, LABELS), minlength=LABELS) for _ in range(REPLICATES)]
    return np.array(drawn, np.float64).T


WEIGHTS = [weights_of(seed) for seed in range(SEEDS)]


def gain(seed: int, step: int, standard_errors: float | None, *, memory: bool) -> float:
    """Return how much an attack that flips `step` labels per probe raises the accuracy.

    Ladder feedback shows only improvements by more than `standard_errors` standard errors. If this number is None, all
    improvements are shown.
    """
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
    """Return whether flipping some labels improves the score so clearly that ladder feedback shows the new score.

    For each flipped label, `change` is 1 if the label becomes correct and -1 otherwise. `weights` contains how often
    the label is drawn in each bootstrap replicate.
    """
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
def test_at_two_standard_errors_an_attack_gains_less_than_half_as_much_as_at_one(memory: bool) -> None:
    one, two = (best_gain(margin, memory=memory) for margin in (1, 2))
    assert one > (0.11 if memory else 0.09)
    assert two < 0.06
    assert two < one / 2


def test_the_quota_remains_the_real_limit() -> None:
    """Ladder feedback does not prevent all attacks: flipping several answers at once still improves the score."""
    assert mean_gain(8, 2) > 0.02
