"""With FiftyOne's matching rules, the kernels match the same boxes as the reference implementation."""

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluator.kernels.detection import fiftyone
from evaluator.metrics.boxes import intersection_over_area, intersection_over_union
from evaluator.metrics.fiftyone_matching import matched_in_turn, rounded

# Coordinates have few distinct values, so that many overlaps are equal to each other, to 1 or to the IoU threshold.
STEPS = 6
Floats = NDArray[np.float64]


def drawn(rng: np.random.Generator, count: int) -> Floats:
    low = rng.integers(0, STEPS, (count, 2))
    high = low + rng.integers(1, STEPS, (count, 2))
    return np.ascontiguousarray(np.stack([low[:, 0], high[:, 0], low[:, 1], high[:, 1]], axis=1) / (2 * STEPS))


def by_reference(found: Floats, objects: Floats, groups: Floats, threshold: float) -> NDArray[np.int64]:
    mine, its = (each.ravel() for each in np.indices((len(found), len(objects) + len(groups))))
    both = np.concatenate([objects, groups])
    is_group = its >= len(objects)
    overlaps = rounded(
        np.where(
            is_group,
            intersection_over_area(found[mine], both[its]),
            intersection_over_union(found[mine], both[its]),
        )
    )
    enough = overlaps >= threshold
    kinds = np.repeat([False, True], [len(objects), len(groups)])
    return matched_in_turn(mine[enough], its[enough], overlaps[enough], kinds, count=len(found), threshold=threshold)


@pytest.mark.parametrize("threshold", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(40))
def test_predictions_match_as_in_the_reference_implementation(seed: int, threshold: float) -> None:
    rng = np.random.default_rng(seed)
    found, objects, groups = (drawn(rng, int(rng.integers(0, most))) for most in (30, 8, 4))
    ranges, group_ranges = (np.tile([0, len(theirs)], (len(found), 1)).astype(np.int64) for theirs in (objects, groups))
    taken, overlaps, most = np.empty((len(found), 2), np.int64), np.empty((len(found), 2)), np.empty(len(found))
    fiftyone.match_in_turn(
        np.arange(len(found)),
        found,
        objects,
        ranges,
        groups,
        group_ranges,
        threshold,
        np.ones(len(objects), bool),
        taken,
        overlaps,
    )
    ours = np.where(taken[:, 1] >= 0, taken[:, 1] + len(objects), taken[:, 0])
    assert ours.tolist() == by_reference(found, objects, groups, threshold).tolist()
    for mine, its in zip(*np.nonzero(taken >= 0), strict=True):
        theirs = (objects, groups)[its][taken[mine, its]][None]
        overlap = (intersection_over_union, intersection_over_area)[its](found[mine][None], theirs)
        assert overlaps[mine, its] == rounded(overlap)[0]
    fiftyone.highest_overlaps(found, objects, ranges, threshold, most)
    highest = [max([0.0, *rounded(intersection_over_union(box[None], objects))]) for box in found]
    assert most.tolist() == [overlap if overlap >= threshold else 0.0 for overlap in highest]
