"""Which box a detection points at, and which of two detections comes first.

The twins are ``evaluator.metrics.boxes`` and ``evaluator.metrics.matching``: the same sums in the same order.
"""

import numpy as np

from evaluator.kernels.jit import part


@part
def best_box(boxes, first, stop, corners):
    """Return (the box of highest IoU, its IoU), the first of equals; (-1, 0) where none overlaps."""
    x_min, x_max, y_min, y_max = corners
    area = (y_max - y_min) * (x_max - x_min)
    best, most = np.int64(-1), 0.0
    for box in range(first, stop):
        width = min(x_max, boxes[box, 1]) - max(x_min, boxes[box, 0])
        height = min(y_max, boxes[box, 3]) - max(y_min, boxes[box, 2])
        common = height * width
        its_area = (boxes[box, 3] - boxes[box, 2]) * (boxes[box, 1] - boxes[box, 0])
        overlap = common / (area + its_area - common)
        better = (width > 0.0) & (height > 0.0) & (most < overlap) & (overlap < np.inf)  # no branch to be foretold
        best, most = (np.int64(box), overlap) if better else (best, most)
    return best, most


@part
def best_group(groups, first, stop, corners):
    """Return (the group-of box that holds most of the detection, which share: IoA), the first of equals."""
    x_min, x_max, y_min, y_max = corners
    area = (y_max - y_min) * (x_max - x_min)
    best, most = np.int64(-1), 0.0
    for group in range(first, stop):
        width = min(x_max, groups[group, 1]) - max(x_min, groups[group, 0])
        height = min(y_max, groups[group, 3]) - max(y_min, groups[group, 2])
        if width > 0.0 and height > 0.0:
            share = height * width / area
            if most < share < np.inf:
                best, most = np.int64(group), share
    return best, most


@part
def is_before(confidence, overlap, corners, suitor):
    """Tell whether a detection comes before the one that points at the box so far.

    Confidence, then overlap, then the smaller corners: metrics.md's order of equals. Only equal detections are left
    undecided, and which of those wins changes nothing.
    """
    if confidence != suitor[0]:
        return confidence > suitor[0]
    if overlap != suitor[1]:
        return overlap > suitor[1]
    for place in range(len(corners)):
        if corners[place] != suitor[2 + place]:
            return corners[place] < suitor[2 + place]
    return False
