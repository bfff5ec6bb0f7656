"""Assigns roles (true positive, false positive or left out) to curve entries, to explain a detection score.

Each entry has a code that encodes its outcome; see :mod:`evaluator.kernels.detection.explain.explained`. An explanation
shows several average precisions, such as the average precision without false positives. In each of them, entries with
the same code have the same role. The functions return the role of each code, as arrays of shape (CODES,).
"""

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.curves.variants import CODES, LEFT_OUT, PARTIAL
from evaluator.kernels.curves.variants import FALSE as FALSE_POSITIVE
from evaluator.kernels.curves.variants import TRUE as TRUE_POSITIVE
from evaluator.kernels.detection.explain.explained import (
    ARRIVAL,
    FALSE,
    FIXABLE,
    GROUP,
    HIT,
    OUTCOMES,
    PLAIN_CODE,
    PLAIN_FALSE,
    PLAIN_GROUP,
    PLAIN_HIT,
    PLAIN_UNVERIFIED,
    PRIVATE_CODE,
    SIZE_CODE,
    UNVERIFIED,
)
from evaluator.metrics.errors import CLASS, LOCALIZATION
from evaluator.tracks.shared.curves.variants import Roles

Mask = NDArray[np.bool_]
_CODES = np.arange(CODES)
OUTCOME = _CODES % OUTCOMES
HALF = _CODES // PRIVATE_CODE % 2
PLAIN = _CODES // PLAIN_CODE % 4
SIZE = _CODES // SIZE_CODE
IS_FALSE = (OUTCOME >= FALSE) | (OUTCOME == FIXABLE)


def _roles(in_split: Mask, true: Mask, false: Mask, partial: Mask | None = None) -> Roles:
    roles = np.full(CODES, LEFT_OUT, np.uint8)
    roles[true], roles[false] = TRUE_POSITIVE, FALSE_POSITIVE
    if partial is not None:
        roles[partial] = PARTIAL
    roles[~in_split] = LEFT_OUT
    return roles


def as_scored(in_split: Mask, group_weight: float) -> Roles:
    """Return the role of each code, such as true positive, in the score itself.

    A code encodes the outcome of a curve entry. ``in_split`` selects the codes of a split; other entries are left out.
    """
    return _roles(in_split, OUTCOME == HIT, IS_FALSE, (OUTCOME == GROUP) & (group_weight > 0))


def without_errors(in_split: Mask, group_weight: float, kind: int) -> Roles:
    """Return the role of each code, such as true positive, for a submission without errors of one kind.

    A code encodes the outcome of a curve entry. ``CurveErrors.gain_without`` describes how errors are fixed.
    """
    true, false = OUTCOME == HIT, IS_FALSE & (FALSE + kind != OUTCOME)
    if kind == CLASS:
        true |= OUTCOME == ARRIVAL
    if kind == LOCALIZATION:
        true, false = true | (OUTCOME == FIXABLE), false & (OUTCOME != FIXABLE)
    return _roles(in_split, true, false, (OUTCOME == GROUP) & (group_weight > 0))


def without_false_positives(in_split: Mask, group_weight: float) -> Roles:
    """Return the role of each code, such as true positive, for a submission without false positives.

    A code encodes the outcome of a curve entry. The entries of false positives are left out.
    """
    return _roles(in_split, OUTCOME == HIT, np.zeros(CODES, bool), (OUTCOME == GROUP) & (group_weight > 0))


def of_size(in_split: Mask, size: int) -> Roles:
    """Return the role of each code, such as true positive, in the score for objects of one size.

    A code encodes the outcome and the size of a curve entry. Entries of other sizes and of group-of boxes are left out.
    """
    return _roles(in_split & (size == SIZE), OUTCOME == HIT, IS_FALSE)


def ablated(in_split: Mask, *, plain: bool, verified_only: bool, group_weight: int) -> Roles:
    """Return the role of each code, such as true positive, under a combination of rules in the ablation table.

    A code encodes the outcome of a curve entry. If ``plain`` is true, the copies of boxes that the hierarchy adds are
    left out. If ``verified_only`` is false, predictions of unverified classes are false positives. ``group_weight`` is
    0 or 1, because the table has a row for each of these weights.
    """
    if plain:
        true, false, unverified = PLAIN == PLAIN_HIT, PLAIN == PLAIN_FALSE, PLAIN == PLAIN_UNVERIFIED
        groups = OUTCOME == PLAIN_GROUP
    else:
        true, false, unverified, groups = OUTCOME == HIT, IS_FALSE, OUTCOME == UNVERIFIED, OUTCOME == GROUP
    return _roles(in_split, true | (groups & (group_weight == 1)), false | (unverified & (not verified_only)))
