"""Shortens the tables and curves of a report that explains a score, to limit the amount of stored data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import TRACKS
from evaluator.metrics.average_precision import Curve
from evaluator.metrics.curve_points import precisions_at, simplified
from evaluator.report import CurveRow, Report

POINTS = 50
ROWS = 200
# Quotients of whole numbers, as the recalls of a curve are. `np.linspace` would give 0.7000000000000001, which is not
# reached by a curve that ends at a recall of 0.7.
RECALLS = np.arange(POINTS + 1) / POINTS
DECIMALS = 5


def explanation(report: Report, split: str) -> dict[str, Any]:
    """Return the scores and the shortened tables and curves of one split as a JSON-serializable dict.

    The size of the result depends mainly on the number of classes.

    Parameters
    ----------
    report : Report
        A report that contains curves and an explanation, if the track provides them.

    Returns
    -------
    dict
        ``classes``: the rows of the classes. ``tables``: the first :data:`ROWS` rows of each table. ``left_out``: the
        number of omitted rows of each table. ``curves``: curves of about :data:`POINTS` points, beginning with the mean
        curves. A mean curve is the mean over all classes, and its area is the mean of their areas.
    """
    part, track = report.splits[split], TRACKS[report.track]
    curves = [(row, _curve(row)) for row in report.curves.get(split, [])]
    means = [mean for name in track.curves if (mean := _mean(curves, name, interpolated=track.interpolated))]
    return {
        "classes": part.classes,
        "tables": {name: rows[:ROWS] for name, rows in part.tables.items()},
        "left_out": {name: len(rows) - ROWS for name, rows in part.tables.items() if len(rows) > ROWS},
        "curves": [*means, *(_thinned(*each, interpolated=track.interpolated) for each in curves)],
    }


def _mean(curves: list[tuple[CurveRow, Curve]], name: str, *, interpolated: bool) -> CurveRow | None:
    """Return the mean of the curves named ``name`` over all classes. The precision of a curve without points is 0."""
    mine = [
        (row, curve)
        for row, curve in curves
        if row["curve"] == name and row["label"] is not None and row["area"] is not None
    ]
    if not mine:
        return None
    precisions = np.mean([precisions_at(RECALLS, curve, interpolated=interpolated) for _, curve in mine], axis=0)
    return {
        "label": None,
        "name": "mean of all",
        "curve": name,
        "area": float(_numbers(mine, "area").mean()),
        "truths": float(_numbers(mine, "truths").sum()),
        "confidence": None,
        "recall": RECALLS.round(DECIMALS).tolist(),
        "precision": precisions.round(DECIMALS).tolist(),
    }


def _numbers(curves: list[tuple[CurveRow, Curve]], name: str) -> NDArray[np.float64]:
    return np.array([row[name] for row, _ in curves], np.float64)


def _thinned(row: CurveRow, curve: Curve, *, interpolated: bool) -> CurveRow:
    if len(curve.recalls):
        curve = simplified(curve, POINTS, interpolated=interpolated)
    return {
        **row,
        "confidence": [float(f"{value:.6g}") for value in curve.confidences.tolist()],
        "recall": curve.recalls.round(DECIMALS).tolist(),
        "precision": curve.precisions.round(DECIMALS).tolist(),
    }


def _curve(row: CurveRow) -> Curve:
    return Curve(*(np.asarray(row[name], np.float64) for name in ("confidence", "recall", "precision")))
