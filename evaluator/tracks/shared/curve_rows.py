"""Precision/recall curves as rows of a report."""

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.average_precision import Curve, average_precision, precision_recall
from evaluator.metrics.corners import corners
from evaluator.report import CurveRow, finite

EMPTY = Curve(np.empty(0), np.empty(0), np.empty(0))


def curve_row(
    named: CurveRow, confidences: NDArray[np.float64], weights: NDArray[np.float64], truths: float
) -> CurveRow:
    """Return one curve with its exact area; its points are the :func:`evaluator.metrics.corners.corners`.

    Parameters
    ----------
    named : row
        What the curve is called.
    confidences, weights, truths
        As for :func:`evaluator.metrics.average_precision.average_precision`.
    """
    curve = EMPTY
    if truths > 0 and len(confidences):
        curve = corners(precision_recall(confidences, weights, truths))
    return {
        **named,
        "area": finite(average_precision(confidences, weights, truths)),
        "truths": truths,
        "confidence": curve.confidences.tolist(),
        "recall": curve.recalls.tolist(),
        "precision": curve.precisions.tolist(),
    }
