"""Tests the areas and the points of curves whose entries have codes that are interpreted in several ways."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluator.kernels.curves.variants import CODES, FALSE, LANES, LEFT_OUT, PARTIAL, TRUE
from evaluator.metrics.average_precision import Curve, average_precision, precision_recall
from evaluator.metrics.curve_points import simplified
from evaluator.tracks.shared.curves.variants import CodedCurves

CURVES, ENTRIES, WEIGHT = 4, 600, 0.3
WEIGHTS = {TRUE: 1.0, FALSE: 0.0, PARTIAL: WEIGHT}

Entries = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]


def entries_of(rng: np.random.Generator) -> Entries:
    """Return random confidences, many of which are equal, and the curve and the code of each entry."""
    confidences = rng.integers(0, 60, ENTRIES) / 60
    return confidences, rng.integers(0, CURVES - 1, ENTRIES), rng.integers(0, CODES, ENTRIES)


def coded(entries: Entries, threads: int = 1) -> CodedCurves:
    confidences, curves, codes = entries
    segment = confidences, (curves * CODES + codes).astype(np.uint32)
    return CodedCurves.of([segment], CURVES, reported=CURVES, low=1, threads=threads)


def area(entries: Entries, curve: int, roles: NDArray[np.uint8], positives: float) -> float:
    confidences, curves, codes = entries
    kept = (curves == curve) & (roles[codes] != LEFT_OUT)
    weights = np.array([WEIGHTS[role] for role in roles[codes[kept]].tolist()], np.float64)
    return average_precision(confidences[kept], weights, positives) if positives else float("nan")


@pytest.mark.parametrize("variants", [1, LANES, LANES + 1, 3 * LANES])
def test_any_number_of_variants_has_the_areas_of_the_reference_implementation(variants: int) -> None:
    rng = np.random.default_rng(variants)
    entries, roles = entries_of(rng), rng.integers(0, 4, (variants, CODES)).astype(np.uint8)
    positives = rng.integers(0, 80, (variants, CURVES)).astype(np.float64)
    expected = [
        [area(entries, curve, roles[variant], positives[variant, curve]) for curve in range(CURVES)]
        for variant in range(variants)
    ]
    np.testing.assert_array_equal(coded(entries).areas(roles, positives, WEIGHT), expected)


def equal(one: Curve, other: Curve) -> bool:
    parts: list[Callable[[Curve], NDArray[np.float64]]] = [
        lambda curve: curve.confidences,
        lambda curve: curve.recalls,
        lambda curve: curve.precisions,
    ]
    return all(part(one).tolist() == part(other).tolist() for part in parts)


@pytest.mark.parametrize("most", [2, 5, 500])
@pytest.mark.parametrize("seed", range(20))
def test_the_corners_of_a_curve_give_the_same_simplified_curve_as_all_its_points(seed: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    roles = rng.choice([TRUE, FALSE, FALSE, PARTIAL], CODES).astype(np.uint8)
    confidences, curves, codes = entries = entries_of(rng)
    weights = np.array([WEIGHTS[role] for role in roles[codes].tolist()])
    whole = precision_recall(confidences[curves == 0], weights[curves == 0], 300.0)
    corners = coded(entries).corners(0, roles, 300.0, WEIGHT)
    assert len(corners.recalls) < len(whole.recalls)
    assert equal(simplified(corners, most), simplified(whole, most))


@pytest.mark.parametrize(("curve", "positives"), [(CURVES - 1, 1.0), (0, 0.0)])
def test_a_curve_without_entries_or_positives_has_no_corners(curve: int, positives: float) -> None:
    curves = coded(entries_of(np.random.default_rng(0)))
    assert len(curves.corners(curve, np.full(CODES, TRUE, np.uint8), positives, WEIGHT).recalls) == 0
