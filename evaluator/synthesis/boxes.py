"""Boxes of a made-up picture, in millionths: throw them, shake them, mirror a detector's doubts about them."""

import numpy as np

from evaluator.synthesis.draws import MILLION, Floats, Ints, Stream

WIDEST, NARROWEST = 0.6, 0.05


def thrown(stream: Stream, count: int) -> Ints:
    """Return boxes anywhere in the picture, most of them small.

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
    return settled(np.stack(sides, axis=1))


def settled(corners: Floats) -> Ints:
    """Return the boxes inside the picture, in millionths, none of them empty.

    >>> settled(np.array([[-0.1, 0.5, 1.2, 1.3]])).tolist()
    [[0, 500000, 999999, 1000000]]
    """
    whole = (np.clip(corners, 0.0, 1.0) * MILLION).astype(np.int64)
    for low, high in ((0, 1), (2, 3)):
        whole[:, low] = np.minimum(whole[:, low], MILLION - 1)
        whole[:, high] = np.maximum(whole[:, high], whole[:, low] + 1)
    return whole


def shaken(stream: Stream, boxes: Ints, *, by: float) -> Ints:
    """Return boxes whose every edge moved by about ``by`` of the box's own size."""
    corners = boxes / MILLION
    for low, high in ((0, 1), (2, 3)):
        size = corners[:, high] - corners[:, low]
        corners[:, low] = corners[:, low] + stream.bell(len(boxes)) * by * size
        corners[:, high] = corners[:, high] + stream.bell(len(boxes)) * by * size
    return settled(corners)


def within(stream: Stream, boxes: Ints, *, share: float) -> Ints:
    """Return boxes of ``share`` of the size, each lying somewhere inside its box."""
    corners = boxes / MILLION
    for low, high in ((0, 1), (2, 3)):
        size = corners[:, high] - corners[:, low]
        corners[:, low] = corners[:, low] + stream.uniform(len(boxes)) * (1.0 - share) * size
        corners[:, high] = corners[:, low] + share * size
    return settled(corners)


def confidences(stream: Stream, right: Ints, *, quality: float) -> Ints:
    """Return how sure a detector of this quality is, in millionths.

    A good one is surer of what is right; a poor one tells nothing with its confidence.
    """
    base = 0.35 * right + 0.65 * stream.uniform(len(right))
    blend = quality * base + (1.0 - quality) * stream.uniform(len(right))
    return (blend * MILLION).astype(np.int64)
