"""Overlaps of boxes, pair by pair.

A box is (XMin, XMax, YMin, YMax), the order of the Open Images files, in any unit: fractions or pixels.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

BOXES_AT_ONCE = 16_384  # so that they stay near the processor

Boxes = NDArray[np.float64]
Float = TypeVar("Float", np.float32, np.float64)


def areas(boxes: NDArray[Float]) -> NDArray[Float]:
    """Return width × height of each box, shape (N,), in the precision of the input; no +1.

    >>> areas(np.array([[0.0, 2.0, 0.0, 3.0]]))
    array([6.])
    """
    return np.asarray((boxes[:, 3] - boxes[:, 2]) * (boxes[:, 1] - boxes[:, 0]))


def intersections(ours: Boxes, theirs: Boxes) -> NDArray[np.float64]:
    """Return the common area of each pair, shape (N,); 0 where the boxes are apart."""
    widths = np.minimum(ours[:, 1], theirs[:, 1]) - np.maximum(ours[:, 0], theirs[:, 0])
    heights = np.minimum(ours[:, 3], theirs[:, 3]) - np.maximum(ours[:, 2], theirs[:, 2])
    return np.asarray(np.maximum(heights, 0.0) * np.maximum(widths, 0.0))


def intersection_over_union(ours: Boxes, theirs: Boxes) -> NDArray[np.float64]:
    """Return the IoU of each pair.

    Parameters
    ----------
    ours, theirs : float64 arrays of shape (N, 4)

    Returns
    -------
    float64 array of shape (N,), in [0, 1]; 0 where the union has no area or is not finite.

    Notes
    -----
    Areas without the +1 of PASCAL VOC's pixels: coordinates are fractions. Source: Open Images V4, 5.2.1.

    Examples
    --------
    >>> intersection_over_union(np.array([[0.0, 1.0, 0.0, 1.0]]), np.array([[0.0, 1.0, 0.0, 0.5]]))
    array([0.5])
    """
    with np.errstate(all="ignore"):  # coordinates may be anything finite; what overflows overlaps nothing
        common = intersections(ours, theirs)
        return _share(common, areas(ours) + areas(theirs) - common)


def highest_iou(ours: Boxes, theirs: Boxes) -> NDArray[np.float64]:
    """Return the highest IoU that each of ours has with any of theirs, shape (N,); 0 where there are none.

    The same numbers as :func:`intersection_over_union`, some times faster where many boxes meet many.

    Parameters
    ----------
    ours, theirs : float64 arrays of shapes (N, 4) and (M, 4)

    Examples
    --------
    >>> highest_iou(np.array([[0.0, 1.0, 0.0, 1.0]]), np.array([[0.0, 1.0, 0.0, 0.5], [2.0, 3.0, 0.0, 1.0]]))
    array([0.5])
    """
    highest = np.zeros(len(ours))
    for first in range(0, len(ours), BOXES_AT_ONCE):
        part = slice(first, first + BOXES_AT_ONCE)
        corners = np.asfortranarray(ours[part])
        for one in range(len(theirs)):
            np.maximum(highest[part], intersection_over_union(corners, theirs[one : one + 1]), out=highest[part])
    return highest


def intersection_over_area(ours: Boxes, theirs: Boxes) -> NDArray[np.float64]:
    """Return which share of each of ``ours`` lies in its partner: IoA, for group-of boxes.

    Same shapes and undefined case as :func:`intersection_over_union`; not symmetric.

    >>> intersection_over_area(np.array([[0.0, 1.0, 0.0, 1.0]]), np.array([[0.0, 9.0, 0.0, 0.5]]))
    array([0.5])
    """
    with np.errstate(all="ignore"):
        return _share(intersections(ours, theirs), areas(ours))


def _share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    share = part / whole
    return np.asarray(np.where(np.isfinite(share), share, 0.0))


def pair_overlap(ours: NDArray[np.float32], theirs: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the IoU of each pair of single-precision boxes, as the official relationships code computes it.

    Differences and areas are float32; the intersection is the float64 product of two float32 differences; the sum
    of the areas is rounded to float32 before the intersection is taken off. So 0.1–0.2 against 0.1–0.3 is just below
    one half.

    Parameters
    ----------
    ours, theirs : float32 arrays of shape (N, 4)

    Returns
    -------
    float64 array of shape (N,); 0 where the union has no area.

    Examples
    --------
    >>> a = np.array([[0.1, 0.2, 0.1, 0.9]], np.float32)
    >>> pair_overlap(a, np.array([[0.1, 0.3, 0.1, 0.9]], np.float32)) < 0.5
    array([ True])
    """
    with np.errstate(all="ignore"):
        widths = np.minimum(ours[:, 1], theirs[:, 1]) - np.maximum(ours[:, 0], theirs[:, 0])
        heights = np.minimum(ours[:, 3], theirs[:, 3]) - np.maximum(ours[:, 2], theirs[:, 2])
        zero = np.float32(0)
        common = np.maximum(heights, zero).astype(np.float64) * np.maximum(widths, zero).astype(np.float64)
        both = (areas(ours) + areas(theirs)).astype(np.float64)  # float32 until here
        return _share(common, both - common)


def enclosing(first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the smallest box around each pair, shape (N, 4), in the precision of the input.

    >>> enclosing(np.array([[0.0, 1.0, 0.0, 1.0]]), np.array([[2.0, 3.0, 0.0, 0.5]]))
    array([[0., 3., 0., 1.]])
    """
    low, high = np.minimum(first, second), np.maximum(first, second)
    return np.stack([low[:, 0], high[:, 1], low[:, 2], high[:, 3]], axis=1)
