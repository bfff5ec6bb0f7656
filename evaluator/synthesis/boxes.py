"""Generates random boxes and the confidences of a simulated detector, as whole numbers of millionths."""

import numpy as np

from evaluator.synthesis.random_stream import MILLION, Floats, Ints, RandomStream

WIDEST, NARROWEST = 0.6, 0.05


def random_boxes(stream: RandomStream, count: int) -> Ints:
    """Return boxes with random positions and sizes. Most of the boxes are small.

    Returns
    -------
    int array of shape (count, 4)
        XMin, XMax, YMin, YMax in millionths of the width or height of the image.
    """
    sides = []
    for _ in range(2):
        size = stream.uniform(count)
        size = NARROWEST + (WIDEST - NARROWEST) * size * size
        low = stream.uniform(count) * (1.0 - size)
        sides += [low, low + size]
    return clipped(np.stack(sides, axis=1))


def clipped(corners: Floats) -> Ints:
    """Return boxes in millionths, clipped to the image. Each box has a positive area.

    >>> clipped(np.array([[-0.1, 0.5, 1.2, 1.3]])).tolist()
    [[0, 500000, 999999, 1000000]]
    """
    whole = (np.clip(corners, 0.0, 1.0) * MILLION).astype(np.int64)
    for low, high in ((0, 1), (2, 3)):
        whole[:, low] = np.minimum(whole[:, low], MILLION - 1)
        whole[:, high] = np.maximum(whole[:, high], whole[:, low] + 1)
    return whole


def jittered(stream: RandomStream, boxes: Ints, *, by: float) -> Ints:
    """Return boxes with randomly shifted edges. The shifts have a standard deviation of ``by`` times the box size."""
    corners = boxes / MILLION
    for low, high in ((0, 1), (2, 3)):
        size = corners[:, high] - corners[:, low]
        corners[:, low] = corners[:, low] + stream.bell_shaped(len(boxes)) * by * size
        corners[:, high] = corners[:, high] + stream.bell_shaped(len(boxes)) * by * size
    return clipped(corners)


def boxes_within(stream: RandomStream, boxes: Ints, *, share: float) -> Ints:
    """Return a smaller box at a random position inside each box. ``share`` is the factor for width and height."""
    corners = boxes / MILLION
    for low, high in ((0, 1), (2, 3)):
        size = corners[:, high] - corners[:, low]
        corners[:, low] = corners[:, low] + stream.uniform(len(boxes)) * (1.0 - share) * size
        corners[:, high] = corners[:, low] + share * size
    return clipped(corners)


def confidences(stream: RandomStream, right: Ints, *, quality: float) -> Ints:
    """Return the confidences of a simulated detector, in millionths.

    ``right`` is 1 for correct predictions and 0 for others. The higher ``quality`` is, the more the confidences
    depend on ``right``.
    """
    base = 0.35 * right + 0.65 * stream.uniform(len(right))
    blend = quality * base + (1.0 - quality) * stream.uniform(len(right))
    return (blend * MILLION).astype(np.int64)
