"""Complements of precision-recall curves make the amount of work independent of secret annotations.

An image is crowded if it has many predictions. A complement has an entry for each prediction of such an image that is
not in the curve. Complements do not affect any score.
"""

import numpy as np
import pytest

from evaluator.kernels.curves import bootstrap as kernels
from evaluator.metrics.resampling import HIT, MISS, CurveSteps


def steps_of(curves: list[int], crowded: list[bool], kinds: list[int], rows: list[int]) -> CurveSteps:
    confidences = np.linspace(0.1, 0.9, len(curves))
    arrays = np.array(curves), confidences, np.array(kinds, np.uint8), np.array(rows, np.int32)
    return CurveSteps.of(*arrays, 2, crowded=np.array(crowded))


def test_a_curve_or_its_complement_is_summed_so_that_the_work_is_equal() -> None:
    """Two predictions in a crowded image are entries of the precision-recall curve in the first case only.

    In the second case, they are entries of the curve's complement instead. A complement does not affect any score. Its
    only purpose is to keep the amount of work equal.
    """
    crowded, kinds, rows = [True, True, False, False], [MISS, MISS, HIT, MISS], [0, 0, 1, 1]
    counts = steps_of([0, 0, 0, 1], crowded, kinds, rows)
    does_not = steps_of([2, 2, 0, 1], crowded, kinds, rows)
    # `rows` contains the image index of each entry: first the entries of all curves, then those of their complements,
    # which are additional curves that keep the amount of work equal.
    assert counts.rows.tolist() == [0, 0, 1, 1, 1, 1]
    assert does_not.rows.tolist() == [1, 1, 0, 0, 1, 1]
    assert len(counts.ends) == len(does_not.ends)


def test_a_crowded_image_outside_the_split_causes_the_same_work() -> None:
    crowded, kinds = [True, True, False, False], [MISS, MISS, HIT, MISS]
    inside, outside = (steps_of([0, 0, 0, 1], crowded, kinds, [row, row, 1, 1]) for row in (0, -1))
    assert (len(inside.rows), len(inside.ends)) == (len(outside.rows), len(outside.ends))


@pytest.mark.parametrize("envelope", [True, False])
def test_treating_images_as_crowded_changes_no_area(envelope: bool) -> None:
    rng = np.random.default_rng(5)
    entries, images, count = 4_000, 20, 6
    curves, images_of = rng.integers(0, 2 * count, entries), rng.integers(0, images, entries).astype(np.int32)
    kinds, confidences = rng.integers(0, 3, entries).astype(np.uint8), rng.integers(0, 50, entries) / 50
    weights = rng.integers(0, 4, (images, 64)).astype(np.uint8)
    positives = rng.integers(0, 900, (count, 64)).astype(float)
    crowded = np.isin(images_of, [3, 4])
    areas = [
        kernels.average_precisions(
            weights,
            CurveSteps.of(curves, confidences, kinds, images_of, count, envelope=envelope, crowded=mask),
            positives,
            0.3,
        )
        for mask in (None, crowded, ~crowded)
    ]
    assert np.array_equal(areas[0], areas[1], equal_nan=True)
    assert np.array_equal(areas[0], areas[2], equal_nan=True)
