"""Computes the overlaps of predicted pairs with triplets, and lets pairs compete for triplets and phrases.

The reference implementations are ``evaluator.metrics.boxes`` and ``evaluator.metrics.matching``.
"""

import numpy as np

from evaluator.kernels.jit import inlined
from evaluator.kernels.overlap import precedes


@inlined
def as_float32(coordinates, first):
    """Return the four box coordinates that begin at index ``first``, converted to float32."""
    return (
        np.float32(coordinates[first]),
        np.float32(coordinates[first + 1]),
        np.float32(coordinates[first + 2]),
        np.float32(coordinates[first + 3]),
    )


@inlined
def coordinates_of(boxes, box):
    """Return XMin, XMax, YMin and YMax of a box."""
    return boxes[box, 0], boxes[box, 1], boxes[box, 2], boxes[box, 3]


@inlined
def enclosing(one, two):
    """Return the smallest box that contains both given boxes."""
    return min(one[0], two[0]), max(one[1], two[1]), min(one[2], two[2]), max(one[3], two[3])


@inlined
def float32_iou(box, other):
    """Return the IoU of two float32 boxes.

    The differences of coordinates, the areas of both boxes and the sum of these areas are float32. Other values are
    float64.
    """
    width = min(box[1], other[1]) - max(box[0], other[0])
    height = min(box[3], other[3]) - max(box[2], other[2])
    common = np.float64(height) * np.float64(width)
    area = (box[3] - box[2]) * (box[1] - box[0])
    other_area = (other[3] - other[2]) * (other[1] - other[0])
    overlap = common / (np.float64(area + other_area) - common)
    # The tests are combined without branches, because the CPU could not predict which boxes overlap.
    return overlap if (width > 0) & (height > 0) & (overlap < np.inf) else 0.0


@inlined
def triplet_overlap(truth, triplet, first, second):
    """Return the overlap of a pair of boxes with a triplet: the smaller IoU of the two boxes."""
    one, two = coordinates_of(truth.first, triplet), coordinates_of(truth.second, triplet)
    return min(float32_iou(first, one), float32_iou(second, two))


@inlined
def claim(state, target, entry, confidence, overlap, coordinates):
    """Record that a predicted pair claims a triplet or a phrase of the ground truth.

    Of all pairs that claim the same triplet or phrase, the first in the order of
    :func:`~evaluator.kernels.overlap.precedes` wins it.

    Parameters
    ----------
    target : int64
        Index of the triplet or phrase in ``state.best_candidates``.
    entry : int64
        Index of the pair's curve entry.
    coordinates : eight or nine float64
        The coordinates of both boxes. The optional last number, which encodes the labels and the relation, decides
        between pairs with equal coordinates.
    """
    candidate = state.best_candidates[target]
    if precedes(confidence, overlap, coordinates, candidate[0], candidate[1:]):
        candidate[0], candidate[1] = confidence, overlap
        for coordinate in range(len(coordinates)):
            candidate[2 + coordinate] = coordinates[coordinate]
        state.best_entries[target] = entry
