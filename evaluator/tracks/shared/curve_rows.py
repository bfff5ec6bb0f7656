"""Precision/recall curves as rows of a report."""

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.average_precision import Curve, average_precision, precision_recall
from evaluator.metrics.curve_points import simplified
from evaluator.report import CurveRow, finite

NO_POINTS = Curve(np.empty(0), np.empty(0), np.empty(0))


def curve_row(
    named: CurveRow, confidences: NDArray[np.float64], weights: NDArray[np.float64], positives: float
) -> CurveRow:
    """Return the row of one curve, with its exact area and the points of the :func:`simplified` curve.

    Parameters
    ----------
    named : row
        The columns that name the curve.
    confidences, weights, positives
        As for :func:`evaluator.metrics.average_precision.average_precision`.
    """
    curve = NO_POINTS
    if positives > 0 and len(confidences):
        curve = simplified(precision_recall(confidences, weights, positives))
    return {
        **named,
        "area": finite(average_precision(confidences, weights, positives)),
        "truths": positives,
        "confidence": curve.confidences.tolist(),
        "recall": curve.recalls.tolist(),
        "precision": curve.precisions.tolist(),
    }
