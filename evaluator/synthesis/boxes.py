"""Generates random boxes, random deviations from boxes, and confidences of a simulated detector, all in millionths."""

import numpy as np

from evaluator.synthesis.random_stream import MILLION, Floats, Ints, RandomStream

WIDEST, NARROWEST = 0.6, 0.05


def random_boxes(stream: RandomStream, count: int) -> Ints:
    """Return boxes at random positions in the image, most of them small.

    Returns
    -------
    int array of shape (count, 4)
        XMin, XMax, YMin, YMax in millionths.
    """
    sides = []
    for _ in range(2):
        size = stream.uniform(count)
        size = NARROWEST + (WIDEST - NARROWEST) * size * size
        low = stream.uniform(count) * (1.0 - size)
        sides += [low, low + size]
    return clipped(np.stack(sides, axis=1))


def clipped(corners: Floats) -> Ints:
    """Return boxes clipped to the image, in millionths. Each box has an area above 0.

    >>> clipped(np.array([[-0.1, 0.5, 1.2, 1.3]])).tolist()
    [[0, 500000, 999999, 1000000]]
    """
    whole = (np.clip(corners, 0.0, 1.0) * MILLION).astype(np.int64)
    for low, high in ((0, 1), (2, 3)):
        whole[:, low] = np.minimum(whole[:, low], MILLION - 1)
        whole[:, high] = np.maximum(whole[:, high], whole[:, low] + 1)
    return whole


def jittered(stream: RandomStream, boxes: Ints, *, by: float) -> Ints:
    """Return boxes with each edge randomly shifted by about the fraction ``by`` of the box size."""
    corners = boxes / MILLION
    for low, high in ((0, 1), (2, 3)):
        size = corners[:, high] - corners[:, low]
        corners[:, low] = corners[:, low] + stream.bell_shaped(len(boxes)) * by * size
        corners[:, high] = corners[:, high] + stream.bell_shaped(len(boxes)) * by * size
    return clipped(corners)


def boxes_within(stream: RandomStream, boxes: Ints, *, share: float) -> Ints:
    """For each box, return a smaller box at a random position inside it. ``share`` scales the width and the height."""
    corners = boxes / MILLION
    for low, high in ((0, 1), (2, 3)):
        size = corners[:, high] - corners[:, low]
        corners[:, low] = corners[:, low] + stream.uniform(len(boxes)) * (1.0 - share) * size
        corners[:, high] = corners[:, low] + share * size
    return clipped(corners)


def confidences(stream: RandomStream, right: Ints, *, quality: float) -> Ints:
    """Return the confidences of a simulated detector, in millionths.

    The higher the quality, the more the confidence depends on ``right``, which is 1 for a correct prediction, else 0.
    """
    base = 0.35 * right + 0.65 * stream.uniform(len(right))
    blend = quality * base + (1.0 - quality) * stream.uniform(len(right))
    return (blend * MILLION).astype(np.int64)
