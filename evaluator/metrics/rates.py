"""Precision, recall and F1 of everything that was predicted, without a threshold."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares in [0, 1]; float64 arrays of shape (classes,), NaN where undefined."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]


def rates(true: Counts, predicted: Counts, support: Counts) -> Rates:
    """Return the shares of each class.

    Parameters
    ----------
    true, predicted, support : float64 arrays of shape (classes,)
        Predictions that are right, predictions, objects.

    Returns
    -------
    Rates
        Precision is undefined without predictions, recall without objects, F1 without either.

    Examples
    --------
    >>> rates(np.array([1.0]), np.array([2.0]), np.array([4.0]))
    Rates(precision=array([0.5]), recall=array([0.25]), f1=array([0.33333333]))
    """
    return Rates(_shares(true, predicted), _shares(true, support), _shares(2 * true, predicted + support))


def averages(true: Counts, predicted: Counts, support: Counts) -> dict[str, tuple[float, float, float]]:
    """Return precision, recall and F1 of all classes together, in three ways.

    Parameters
    ----------
    true, predicted, support
        As for :func:`rates`.

    Returns
    -------
    dict of ``micro`` (of the sums), ``macro`` (mean over classes that have objects) and ``weighted`` (the same, by the
    number of objects) to (precision, recall, F1); NaN where no class has objects

    Notes
    -----
    In the two means an undefined precision counts as 0, as in scikit-learn's ``classification_report``.

    Examples
    --------
    >>> averages(np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([1.0, 3.0]))["weighted"]
    (0.25, 0.25, 0.25)
    """
    some = support > 0
    if not some.any():
        return dict.fromkeys(("micro", "macro", "weighted"), (float("nan"),) * 3)
    each = rates(true[some], predicted[some], support[some])
    whole = rates(*(np.array([counts.sum()]) for counts in (true, predicted, support)))
    columns = np.nan_to_num([each.precision, each.recall, each.f1])  # (3, classes)
    return {
        "micro": _three([whole.precision[0], whole.recall[0], whole.f1[0]]),
        "macro": _three(columns.mean(axis=1)),
        "weighted": _three(np.average(columns, axis=1, weights=support[some])),
    }


def _three(values: NDArray[np.float64] | list[np.float64]) -> tuple[float, float, float]:
    precision, recall, f1 = (float(value) for value in values)
    return precision, recall, f1


def _shares(part: Counts, whole: Counts) -> NDArray[np.float64]:
    return np.asarray(np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0))
