"""Finds the box that a detection overlaps most, and orders the detections that compete for a box.

The reference implementations are ``evaluator.metrics.boxes`` and ``evaluator.metrics.matching``; the kernels
add numbers in the same order.
"""

import numpy as np

from evaluator.kernels.jit import inlined


@inlined
def best_box(boxes, first, stop, coordinates):
    """Return the index and the IoU of the box that a detection overlaps most; (-1, 0) if it overlaps no box.

    In a tie, the first box is chosen.
    """
    x_min, x_max, y_min, y_max = coordinates
    area = (y_max - y_min) * (x_max - x_min)
    best, highest = np.int64(-1), 0.0
    for box in range(np.uint64(first), np.uint64(stop)):
        left, right, low, high = boxes[box, 0], boxes[box, 1], boxes[box, 2], boxes[box, 3]
        width, height = min(x_max, right) - max(x_min, left), min(y_max, high) - max(y_min, low)
        common = height * width
        box_area = (high - low) * (right - left)
        overlap = common / (area + box_area - common)
        # The overlaps of boxes are compared without branches, because the CPU could not predict which box is better.
        better = (width > 0.0) & (height > 0.0) & (highest < overlap) & (overlap < np.inf)
        best, highest = (np.int64(box), overlap) if better else (best, highest)
    return best, highest


@inlined
def best_group(groups, first, stop, coordinates):
    """Return the index and the IoA of the group-of box with the highest IoA; (-1, 0) if the detection overlaps none.

    In a tie, the first box is chosen. IoA is the fraction of the detection's area that lies inside the group-of box.
    """
    x_min, x_max, y_min, y_max = coordinates
    area = (y_max - y_min) * (x_max - x_min)
    best, highest = np.int64(-1), 0.0
    for group in range(first, stop):
        width = min(x_max, groups[group, 1]) - max(x_min, groups[group, 0])
        height = min(y_max, groups[group, 3]) - max(y_min, groups[group, 2])
        if width > 0.0 and height > 0.0:
            share = height * width / area
            if highest < share < np.inf:
                best, highest = np.int64(group), share
    return best, highest


@inlined
def precedes(confidence, overlap, coordinates, best, candidate):
    """Return whether a detection precedes the best candidate so far for the same object.

    The order is: higher confidence, then higher overlap, then smaller coordinates. Equal detections are
    interchangeable, so it does not matter which of them comes first.

    Parameters
    ----------
    confidence, overlap : float64
    coordinates : tuple of float64
    best : float64
        Confidence of the best candidate so far; UNCLAIMED if there is none.
    candidate : float64 array
        Overlap and coordinates of the best candidate so far.
    """
    # All numbers are compared, from the last to the first, because the CPU could not predict branches between them.
    comes_first = False
    for coordinate in range(len(coordinates) - 1, -1, -1):
        value, other = coordinates[coordinate], candidate[1 + coordinate]
        comes_first = (value < other) | ((value == other) & comes_first)
    comes_first = (overlap > candidate[0]) | ((overlap == candidate[0]) & comes_first)
    return (confidence > best) | ((confidence == best) & comes_first)
