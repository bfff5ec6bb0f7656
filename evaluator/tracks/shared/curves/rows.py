"""Converts precision/recall curves to rows of a report."""

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.average_precision import Curve, average_precision, precision_recall, stepwise_average_precision
from evaluator.metrics.curve_points import simplified
from evaluator.report import CurveRow, finite

NO_POINTS = Curve(np.empty(0), np.empty(0), np.empty(0))


def curve_row(
    named: CurveRow,
    confidences: NDArray[np.float64],
    weights: NDArray[np.float64],
    positives: float,
    *,
    interpolated: bool = True,
) -> CurveRow:
    """Return the report row of a curve, with its exact area and the points of the :func:`simplified` curve.

    Parameters
    ----------
    named : row
        The columns that identify the curve, such as its label.
    confidences, weights, positives
        As in :func:`evaluator.metrics.average_precision.average_precision`.
    interpolated : bool
        Whether the area is computed from the interpolated curve.
    """
    area = average_precision if interpolated else stepwise_average_precision
    has_points = positives > 0 and len(confidences)
    curve = precision_recall(confidences, weights, positives) if has_points else NO_POINTS
    return row_of(named, area(confidences, weights, positives), positives, curve, interpolated=interpolated)


def row_of(named: CurveRow, area: float, positives: float, curve: Curve, *, interpolated: bool = True) -> CurveRow:
    """Return the report row of a curve whose area and points are known. Parameters are as for :func:`curve_row`."""
    if len(curve.recalls):
        curve = simplified(curve, interpolated=interpolated)
    return {
        **named,
        "area": finite(area),
        "truths": positives,
        "confidence": curve.confidences.tolist(),
        "recall": curve.recalls.tolist(),
        "precision": curve.precisions.tolist(),
    }
