"""Matches detections by FiftyOne's rules: each prediction in turn takes the best box that is still available.

The reference implementation is ``evaluator.metrics.fiftyone_matching``.
"""

import numpy as np
from numba import types

from evaluator.kernels.jit import inlined, kernel, read_only

ROUNDING = 10.0**10  # Overlaps are rounded to 10 decimals, so that rounding errors do not matter near the threshold.
NEARLY_ONE = 1 - 1e-10
CLEARLY_BELOW = 1e-9  # An overlap that is lower than the threshold by this amount cannot reach it by rounding.
BOXES, RANGES = read_only(types.float64, 2), read_only(types.int64, 2)


@inlined
def _coordinates_of(boxes, box):
    return boxes[box, 0], boxes[box, 1], boxes[box, 2], boxes[box, 3]


@inlined
def _overlap(coordinates, objects, target, of_union, threshold):
    """Return the IoU of a box and an object or, if ``of_union`` is false, their IoA; 0 if the value is not finite.

    IoA is the fraction of the box's area that lies inside the object. The value is rounded half up. If it is clearly
    below the threshold, 0 is returned without a division.
    """
    x_min, x_max, y_min, y_max = coordinates
    width = min(x_max, objects[target, 1]) - max(x_min, objects[target, 0])
    height = min(y_max, objects[target, 3]) - max(y_min, objects[target, 2])
    common = max(height, 0.0) * max(width, 0.0)
    whole = (y_max - y_min) * (x_max - x_min)
    if of_union:
        area = (objects[target, 3] - objects[target, 2]) * (objects[target, 1] - objects[target, 0])
        whole = whole + area - common
    if common < (threshold - CLEARLY_BELOW) * whole:
        return 0.0
    ratio = common / whole
    return np.floor(ratio * ROUNDING + 0.5) / ROUNDING if np.isfinite(ratio) else 0.0


@inlined
def highest_overlap(coordinates, objects, first, stop, threshold):
    """Return the highest IoU of a prediction with the objects from ``first`` to ``stop``.

    The result is 0 if no IoU reaches the threshold.
    """
    highest = 0.0
    for target in range(first, stop):
        overlap = _overlap(coordinates, objects, target, True, threshold)
        if overlap >= threshold and overlap > highest:
            highest = overlap
    return highest


@kernel(BOXES, BOXES, RANGES, types.float64, types.float64[::1])
def highest_overlaps(boxes, objects, ranges, threshold, highest):
    """Compute the highest IoU of each prediction with the objects it may match; 0 if no IoU reaches the threshold.

    Parameters
    ----------
    boxes, objects : float64 arrays of shapes (N, 4) and (M, 4)
    ranges : int64 array of shape (N, 2)
        Half-open range of the objects that each prediction may match.
    threshold : float64
    highest : float64 array of shape (N,)
        Receives the IoU.
    """
    for box in range(len(boxes)):
        coordinates = _coordinates_of(boxes, box)
        highest[box] = highest_overlap(coordinates, objects, ranges[box, 0], ranges[box, 1], threshold)


@inlined
def best_object(coordinates, objects, first, stop, threshold, available, offset):
    """Return the index of the best available object, its IoU, and the highest IoU with an already matched object.

    As in FiftyOne, the best object so far is discarded if a later object is already matched and has a higher IoU than
    all objects before it. The index is -1 if no object remains. An IoU for which there is no object has the initial
    value of the search, which is ``threshold`` or, if ``threshold`` is 1, slightly less than 1. A search that starts at
    1 would not find an IoU of 1. ``offset`` is the index of the object to which the first element of ``available``
    belongs.
    """
    lowest = min(threshold, NEARLY_ONE)
    best, best_overlap, highest_taken = np.int64(-1), lowest, lowest
    for target in range(first, stop):
        overlap = _overlap(coordinates, objects, target, True, threshold)
        if overlap < threshold:
            continue
        if not available[target - offset]:
            if overlap > max(highest_taken, best_overlap):
                best, best_overlap = np.int64(-1), lowest
            highest_taken = max(highest_taken, overlap)
        elif best_overlap != 1.0 and overlap >= best_overlap:
            best, best_overlap = np.int64(target), overlap
    return best, best_overlap, highest_taken


@inlined
def best_group(coordinates, groups, first, stop, threshold):
    """Return the index and the IoA of the group-of box with the highest IoA; (-1, 0) if no IoA reaches the threshold.

    IoA is the fraction of the prediction's area that lies inside the group-of box. In a tie, the last of these
    boxes is chosen, or the first if the IoA is 1.
    """
    best, highest = np.int64(-1), 0.0
    for target in range(first, stop):
        overlap = _overlap(coordinates, groups, target, False, threshold)
        if overlap >= threshold and overlap >= highest and highest != 1.0:
            best, highest = np.int64(target), overlap
    return best, highest


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
def match_in_turn(order, boxes, objects, ranges, groups, group_ranges, threshold, available, taken, overlaps):
    """Match predictions, one after another, with ordinary boxes (objects) and group-of boxes (groups).

    Parameters
    ----------
    order : int64 array of shape (N,)
        Indices of the predictions, in matching order.
    boxes, objects, groups : float64 arrays of shapes (N, 4), (M, 4) and (G, 4)
    ranges, group_ranges : int64 arrays of shape (N, 2)
        Half-open ranges of the objects and of the groups that each prediction may match.
    threshold : float64
    available : bool array of shape (M,), all true
        Becomes false for each object that is matched.
    taken : int64 array of shape (N, 2)
        Receives the object and the group of each prediction, -1 if there is none.
    overlaps : float64 array of shape (N, 2)
        Receives the IoU with the object, and the fraction of the prediction's area that lies inside the group; 0 if
        there is none.
    """
    for turn in range(len(order)):
        box = order[turn]
        coordinates = _coordinates_of(boxes, box)
        best, overlap, highest_taken = best_object(
            coordinates, objects, ranges[box, 0], ranges[box, 1], threshold, available, 0
        )
        group, share = np.int64(-1), 0.0
        if best < 0:
            overlap = 0.0
            group, share = best_group(coordinates, groups, group_ranges[box, 0], group_ranges[box, 1], threshold)
        elif highest_taken > overlap:
            best, overlap = np.int64(-1), 0.0
        else:
            available[best] = False
        taken[box, 0], taken[box, 1] = best, group
        overlaps[box, 0], overlaps[box, 1] = overlap, share
