"""Computes precision, recall and F1 over all predictions, without a confidence threshold."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rates:
    """Precision, recall and F1 of each class, in [0, 1]; float64 arrays of shape (classes,), NaN where undefined."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]


def rates(true: Counts, predicted: Counts, support: Counts) -> Rates:
    """Return precision, recall and F1 of each class.

    Parameters
    ----------
    true, predicted, support : float64 arrays of shape (classes,)
        Numbers of true positives, of predictions and of objects.

    Returns
    -------
    Rates
        Precision is undefined without predictions, recall without objects, F1 without either.

    Examples
    --------
    >>> rates(np.array([1.0]), np.array([2.0]), np.array([4.0]))
    Rates(precision=array([0.5]), recall=array([0.25]), f1=array([0.33333333]))
    """
    return Rates(_ratios(true, predicted), _ratios(true, support), _ratios(2 * true, predicted + support))


def averages(true: Counts, predicted: Counts, support: Counts) -> dict[str, tuple[float, float, float]]:
    """Return precision, recall and F1 averaged over the classes in three ways.

    Parameters
    ----------
    true, predicted, support
        As in :func:`rates`.

    Returns
    -------
    dict of str to (precision, recall, F1)
        The keys are ``micro`` (computed from the sums over all classes), ``macro`` (the mean over the classes that have
        objects) and ``weighted`` (that mean, weighted by the number of objects). The values are NaN if no class has
        objects.

    Notes
    -----
    In ``macro`` and ``weighted``, an undefined precision counts as 0, as in scikit-learn's ``classification_report``.

    Examples
    --------
    >>> averages(np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([1.0, 3.0]))["weighted"]
    (0.25, 0.25, 0.25)
    """
    has_objects = support > 0
    if not has_objects.any():
        return dict.fromkeys(("micro", "macro", "weighted"), (float("nan"),) * 3)
    by_class = rates(true[has_objects], predicted[has_objects], support[has_objects])
    of_sums = rates(*(np.array([counts.sum()]) for counts in (true, predicted, support)))
    # Precision, recall and F1 of each class that has objects; shape (3, classes).
    columns = np.nan_to_num([by_class.precision, by_class.recall, by_class.f1])
    return {
        "micro": _as_floats([of_sums.precision[0], of_sums.recall[0], of_sums.f1[0]]),
        "macro": _as_floats(columns.mean(axis=1)),
        "weighted": _as_floats(np.average(columns, axis=1, weights=support[has_objects])),
    }


def _as_floats(values: NDArray[np.float64] | list[np.float64]) -> tuple[float, float, float]:
    precision, recall, f1 = (float(value) for value in values)
    return precision, recall, f1


def _ratios(part: Counts, whole: Counts) -> NDArray[np.float64]:
    return np.asarray(np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0))
