"""Creates report tables that count confusions between actual and predicted classes."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.report import ClassRow

NOTHING = -1
# Maximum number of classes in a confusion matrix, so that the matrix does not exceed the maximum number of rows of a
# stored explanation.
CLASSES_IN_MATRIX = 13

Codes = NDArray[np.int64]
# Three arrays of equal length: the actual class, the predicted class, and how often this pair of classes occurs.
Counts = tuple[Codes, Codes, Codes]


def counted(actual: Codes, predicted: Codes) -> Counts:
    """Return each pair of an actual and a predicted class with its count, most frequent first.

    Parameters
    ----------
    actual, predicted : int64 arrays of shape (N,)
        Codes of classes, or ``NOTHING`` where there is no class.

    Examples
    --------
    >>> counted(np.array([3, 3, 5]), np.array([5, 5, NOTHING]))
    (array([3, 5]), array([ 5, -1]), array([2, 1]))
    """
    keys, base = _keys(actual, predicted)
    found, counts = np.unique(keys, return_counts=True)
    return _by_frequency(found, base, counts)


def totals(actual: Codes, predicted: Codes, times: Codes) -> Counts:
    """Return each pair of an actual and a predicted class with the sum of its ``times``, largest sum first.

    Parameters
    ----------
    actual, predicted : int64 arrays of shape (N,)
        As for :func:`counted`.
    times : int64 array of shape (N,)

    Examples
    --------
    >>> totals(np.array([5, 3, 3]), np.array([NOTHING, 5, 5]), np.array([4, 1, 2]))
    (array([5, 3]), array([-1,  5]), array([4, 3]))
    """
    keys, base = _keys(actual, predicted)
    found, index = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(found), np.int64)
    np.add.at(sums, index, times)
    return _by_frequency(found, base, sums)


def _keys(actual: Codes, predicted: Codes) -> tuple[Codes, int]:
    """Return one number for each pair of classes, and the base in which the two classes are its digits."""
    base = int(max(actual.max(initial=0), predicted.max(initial=0))) + 2
    return (actual + 1) * base + predicted + 1, base


def _by_frequency(keys: Codes, base: int, times: Codes) -> Counts:
    order = np.argsort(-times, kind="stable")
    return keys[order] // base - 1, keys[order] % base - 1, times[order]


def confused(counts: Counts, labels: Sequence[str]) -> list[ClassRow]:
    """Return the confused pairs of classes as rows of ``truth``, ``prediction`` and ``count``, most frequent first."""
    actual, predicted, times = counts
    wrong = (actual != predicted) & (actual >= 0) & (predicted >= 0)
    return _rows((actual[wrong], predicted[wrong], times[wrong]), labels)


def matrix(counts: Counts, labels: Sequence[str]) -> list[ClassRow]:
    """Return the confusion matrix of the classes that are confused most often, in the same format as `confused`.

    ``truth`` or ``prediction`` is None where there is no class.
    """
    actual, predicted, times = counts
    wrong = (actual != predicted) & (actual >= 0) & (predicted >= 0)
    involved = np.bincount(np.r_[actual[wrong], predicted[wrong]], np.r_[times[wrong], times[wrong]], len(labels))
    chosen = np.argsort(-involved, kind="stable")[:CLASSES_IN_MATRIX]
    chosen = np.append(chosen[involved[chosen] > 0], NOTHING)
    kept = np.isin(actual, chosen) & np.isin(predicted, chosen)
    return _rows((actual[kept], predicted[kept], times[kept]), labels)


def _rows(counts: Counts, labels: Sequence[str]) -> list[ClassRow]:
    names = [*labels, None]  # The code NOTHING is -1 and therefore selects the last name, None.
    return [
        {"truth": names[actual], "prediction": names[predicted], "count": times}
        for actual, predicted, times in zip(*(column.tolist() for column in counts), strict=True)
    ]
