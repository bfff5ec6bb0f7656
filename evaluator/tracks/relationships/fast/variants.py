"""Assigns roles (true positive, false positive or left out) to curve entries, to explain a score of relationships.

Each entry has a code that encodes its outcome. An explanation shows several average precisions, such as the average
precision without false positives. In each of them, entries with the same code have the same role. The functions return
the role of each code, as arrays of shape (CODES,).
"""

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.curves.variants import CODES, LEFT_OUT
from evaluator.kernels.curves.variants import FALSE as FALSE_POSITIVE
from evaluator.kernels.curves.variants import TRUE as TRUE_POSITIVE
from evaluator.kernels.relationships.explaining import ARRIVAL, FALSE, FIXABLE, HIT, OUTCOMES, RELATION
from evaluator.tracks.shared.curves.buckets import HALVES
from evaluator.tracks.shared.curves.variants import Roles

# The code of a curve entry is the sum of its outcome, PRIVATE_CODE if the image is private, and PHRASE_CODE if the pair
# hits a phrase.
PRIVATE_CODE, PHRASE_CODE = OUTCOMES, 2 * OUTCOMES
_CODES = np.arange(CODES)
OUTCOME, HALF, HITS_PHRASE = _CODES % OUTCOMES, _CODES // PRIVATE_CODE % 2, _CODES // PHRASE_CODE % 2 == 1
IS_HIT, IS_FALSE = OUTCOME == HIT, OUTCOME >= FALSE


def _roles(split: str, true: NDArray[np.bool_], false: NDArray[np.bool_]) -> Roles:
    roles = np.full(CODES, LEFT_OUT, np.uint8)
    roles[true], roles[false] = TRUE_POSITIVE, FALSE_POSITIVE
    roles[~np.isin(HALF, HALVES[split])] = LEFT_OUT
    return roles


def as_relationships(split: str) -> Roles:
    """Return the role of each code, such as true positive, when pairs are scored as relationships."""
    return _roles(split, IS_HIT, IS_FALSE)


def as_phrases(split: str) -> Roles:
    """Return the role of each code, such as true positive, when pairs are scored as phrases."""
    is_scored = IS_HIT | IS_FALSE
    return _roles(split, is_scored & HITS_PHRASE, is_scored & ~HITS_PHRASE)


def without_errors(split: str, kind: int) -> Roles:
    """Return the role of each code, such as true positive, for a submission without errors of one kind.

    ``CurveErrors.gain_without`` describes how errors are fixed.
    """
    is_fixed = (ARRIVAL if kind == RELATION else FIXABLE + kind) == OUTCOME
    is_right = ~np.isin(OUTCOME, (FALSE + kind, FIXABLE + kind))
    return _roles(split, IS_HIT | is_fixed, IS_FALSE & is_right)


def without_false_positives(split: str) -> Roles:
    """Return the role of each code, such as true positive, for a submission without false positives."""
    return _roles(split, IS_HIT, np.zeros(CODES, bool))
