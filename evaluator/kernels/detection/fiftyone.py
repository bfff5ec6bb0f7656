"""FiftyOne's rules: predictions take boxes in turn. The readable twin is ``evaluator.metrics.fiftyone_matching``."""

import numpy as np
from numba import types

from evaluator.kernels.jit import inlined, kernel, read_only

STEPS = 10.0**10  # overlaps are rounded to ten decimals
NEARLY_ONE = 1 - 1e-10
BOXES, RANGES = read_only(types.float64, 2), read_only(types.int64, 2)


@inlined
def _overlap(boxes, mine, objects, its, of_union):
    """Return IoU, or else IoA, rounded half up; 0 where it is not finite."""
    width = min(boxes[mine, 1], objects[its, 1]) - max(boxes[mine, 0], objects[its, 0])
    height = min(boxes[mine, 3], objects[its, 3]) - max(boxes[mine, 2], objects[its, 2])
    common = max(height, 0.0) * max(width, 0.0)
    whole = (boxes[mine, 3] - boxes[mine, 2]) * (boxes[mine, 1] - boxes[mine, 0])
    if of_union:
        whole = whole + (objects[its, 3] - objects[its, 2]) * (objects[its, 1] - objects[its, 0]) - common
    share = common / whole
    return np.floor(share * STEPS + 0.5) / STEPS if np.isfinite(share) else 0.0


@kernel(BOXES, BOXES, RANGES, types.float64, types.float64[::1])
def highest_overlaps(boxes, objects, ranges, threshold, most):
    """Find the highest IoU of each prediction with its objects; 0 where none reaches the threshold.

    ``ranges``, shape (N, 2): the first object of a prediction, and the one after its last.
    """
    for mine in range(len(boxes)):
        most[mine] = 0.0
        for its in range(ranges[mine, 0], ranges[mine, 1]):
            overlap = _overlap(boxes, mine, objects, its, True)
            if overlap >= threshold and overlap > most[mine]:
                most[mine] = overlap


@inlined
def _object(boxes, mine, objects, first, stop, threshold, free):
    """Walk the ordinary objects; return the best one, its overlap, and the highest overlap with a taken one."""
    least = min(threshold, NEARLY_ONE)
    best, best_overlap, lost = np.int64(-1), least, least
    for its in range(first, stop):
        overlap = _overlap(boxes, mine, objects, its, True)
        if overlap < threshold:
            continue
        if not free[its]:
            best, best_overlap = (np.int64(-1), least) if overlap > max(lost, best_overlap) else (best, best_overlap)
            lost = max(lost, overlap)
        elif best_overlap != 1.0 and overlap >= best_overlap:
            best, best_overlap = np.int64(its), overlap
    return best, best_overlap, lost


@inlined
def _group(boxes, mine, groups, first, stop, threshold):
    """Return the group that holds most of a prediction, the last of equals, and the share; (-1, 0) for none."""
    best, most = np.int64(-1), 0.0
    for its in range(first, stop):
        share = _overlap(boxes, mine, groups, its, False)
        if share >= threshold and share >= most and most != 1.0:
            best, most = np.int64(its), share
    return best, most


@kernel(
    types.int64[::1],
    BOXES,
    BOXES,
    RANGES,
    BOXES,
    RANGES,
    types.float64,
    types.boolean[::1],
    types.int64[:, ::1],
    types.float64[:, ::1],
)
def take_in_turn(order, boxes, objects, ranges, groups, group_ranges, threshold, free, taken, overlaps):
    """Find what each prediction takes, in the order of their turns; nothing is kept of any pair.

    Parameters
    ----------
    order : int64 array of shape (N,)
    free : bool array of shape (objects,), all true
    taken : int64 array of shape (N, 2)
        Receives object and group, -1 where there is none.
    overlaps : float64 array of shape (N, 2)
        Receives IoU with the object and IoA with the group, 0 where there is none.
    """
    for turn in range(len(order)):
        mine = order[turn]
        best, overlap, lost = _object(boxes, mine, objects, ranges[mine, 0], ranges[mine, 1], threshold, free)
        group, share = np.int64(-1), 0.0
        if best < 0:
            overlap = 0.0
            group, share = _group(boxes, mine, groups, group_ranges[mine, 0], group_ranges[mine, 1], threshold)
        elif lost > overlap:
            best, overlap = np.int64(-1), 0.0
        else:
            free[best] = False
        taken[mine, 0], taken[mine, 1] = best, group
        overlaps[mine, 0], overlaps[mine, 1] = overlap, share
