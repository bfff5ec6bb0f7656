"""Predictions that are compared with several kinds of objects at once have the best object of each kind."""

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluator.metrics import matching
from evaluator.metrics.matching import best_objects, best_objects_of_kinds, pairs

Ints = NDArray[np.int64]


@pytest.mark.parametrize("most", [1, 7, 2**14])
@pytest.mark.parametrize("sizes", [(9, 5), (9, 0), (0, 5), (0, 0), (4, 3, 6)])
def test_the_best_object_of_each_kind_is_found(
    sizes: tuple[int, ...], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "PAIRS_AT_ONCE", most)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        keys, kinds = rng.integers(0, 6, rng.integers(0, 30)), [np.sort(rng.integers(0, 6, size)) for size in sizes]
        table = rng.integers(0, 4, (len(keys), sum(sizes))) / 4
        starts = np.cumsum([0, *sizes])
        together = best_objects_of_kinds(keys, kinds, lambda ours, theirs: table[ours, theirs])  # noqa: B023
        for kind, start, found in zip(kinds, starts, together, strict=False):
            alone = best_objects(keys, kind, lambda ours, theirs: table[ours, theirs + start])  # noqa: B023
            assert [each.tolist() for each in found] == [each.tolist() for each in alone]


def test_a_prediction_without_objects_of_a_kind_is_compared_as_often_as_one_with_an_object() -> None:
    """Otherwise, the scoring time would reveal which keys have objects or groups."""
    objects, groups = np.array([3, 5]), np.array([3, 8])
    counts = {key: sum(len(found) for found, _ in pairs(np.array([key]), objects, groups)) for key in (3, 4, 5, 8)}
    assert counts == dict.fromkeys((3, 4, 5, 8), 2)
