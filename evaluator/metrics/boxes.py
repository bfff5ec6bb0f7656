"""Computes areas and overlaps of boxes.

A box is (XMin, XMax, YMin, YMax), as in the Open Images files, in any unit: fractions or pixels.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

BOXES_AT_ONCE = 16_384  # Number of boxes to process at once, chosen so that they fit into the CPU cache.

Boxes = NDArray[np.float64]
Float = TypeVar("Float", np.float32, np.float64)


def areas(boxes: NDArray[Float]) -> NDArray[Float]:
    """Return the area (width × height) of each box, shape (N,), in the precision of the input.

    >>> areas(np.array([[0.0, 2.0, 0.0, 3.0]]))
    array([6.])
    """
    return np.asarray((boxes[:, 3] - boxes[:, 2]) * (boxes[:, 1] - boxes[:, 0]))


def is_inverted(boxes: NDArray[Float]) -> NDArray[np.bool_]:
    """Return whether each box has no area because XMin >= XMax or YMin >= YMax, shape (N,).

    >>> is_inverted(np.array([[0.0, 2.0, 0.0, 3.0], [0.0, 2.0, 3.0, 3.0]]))
    array([False,  True])
    """
    return np.asarray((boxes[:, 0] >= boxes[:, 1]) | (boxes[:, 2] >= boxes[:, 3]))


def intersections(boxes: Boxes, others: Boxes) -> NDArray[np.float64]:
    """Return the intersection area of each pair of boxes, shape (N,); 0 if they do not overlap."""
    widths = np.minimum(boxes[:, 1], others[:, 1]) - np.maximum(boxes[:, 0], others[:, 0])
    heights = np.minimum(boxes[:, 3], others[:, 3]) - np.maximum(boxes[:, 2], others[:, 2])
    return np.asarray(np.maximum(heights, 0.0) * np.maximum(widths, 0.0))


def intersection_over_union(boxes: Boxes, others: Boxes) -> NDArray[np.float64]:
    """Return the IoU of each pair of boxes.

    Parameters
    ----------
    boxes, others : float64 arrays of shape (N, 4)

    Returns
    -------
    float64 array of shape (N,), in [0, 1]; 0 where the union has no area or is not finite.

    Notes
    -----
    The side lengths of a box are the differences of its coordinates. PASCAL VOC adds one pixel to them. Source: Open
    Images V4, 5.2.1.

    Examples
    --------
    >>> intersection_over_union(np.array([[0.0, 1.0, 0.0, 1.0]]), np.array([[0.0, 1.0, 0.0, 0.5]]))
    array([0.5])
    """
    with np.errstate(all="ignore"):  # The area of a very large box can overflow. Its IoU is then 0.
        common = intersections(boxes, others)
        return _ratios(common, areas(boxes) + areas(others) - common)


def highest_iou(boxes: Boxes, others: Boxes) -> NDArray[np.float64]:
    """Return the highest IoU of each box with any of the others, shape (N,); 0 if there are no others.

    The values equal those of :func:`intersection_over_union`, but are computed faster for large arrays.

    Parameters
    ----------
    boxes, others : float64 arrays of shapes (N, 4) and (M, 4)

    Examples
    --------
    >>> highest_iou(np.array([[0.0, 1.0, 0.0, 1.0]]), np.array([[0.0, 1.0, 0.0, 0.5], [2.0, 3.0, 0.0, 1.0]]))
    array([0.5])
    """
    highest = np.zeros(len(boxes))
    for first in range(0, len(boxes), BOXES_AT_ONCE):
        part = slice(first, first + BOXES_AT_ONCE)
        columns = np.asfortranarray(boxes[part])
        for one in range(len(others)):
            np.maximum(highest[part], intersection_over_union(columns, others[one : one + 1]), out=highest[part])
    return highest


def intersection_over_area(boxes: Boxes, others: Boxes) -> NDArray[np.float64]:
    """Return the IoA of each pair of boxes: the fraction of the first box's area that lies in the second box.

    IoA is used for group-of boxes and is not symmetric. Shapes and undefined cases are the same as for
    :func:`intersection_over_union`.

    >>> intersection_over_area(np.array([[0.0, 1.0, 0.0, 1.0]]), np.array([[0.0, 9.0, 0.0, 0.5]]))
    array([0.5])
    """
    with np.errstate(all="ignore"):
        return _ratios(intersections(boxes, others), areas(boxes))


def _ratios(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``part`` divided by ``whole``, and 0 where the quotient is not finite."""
    ratios = part / whole
    return np.asarray(np.where(np.isfinite(ratios), ratios, 0.0))


def float32_iou(boxes: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the IoU of each pair of single-precision boxes, as in the official Open Images code for relationships.

    Differences and areas are float32. The intersection is the float64 product of two float32 differences. The sum of
    the areas is rounded to float32 before the intersection is subtracted. For example, two boxes that differ only in
    their x range, 0.1–0.2 and 0.1–0.3, have an IoU just below one half.

    Parameters
    ----------
    boxes, others : float32 arrays of shape (N, 4)

    Returns
    -------
    float64 array of shape (N,); 0 where the union has no area.

    Examples
    --------
    >>> a = np.array([[0.1, 0.2, 0.1, 0.9]], np.float32)
    >>> float32_iou(a, np.array([[0.1, 0.3, 0.1, 0.9]], np.float32)) < 0.5
    array([ True])
    """
    with np.errstate(all="ignore"):
        widths = np.minimum(boxes[:, 1], others[:, 1]) - np.maximum(boxes[:, 0], others[:, 0])
        heights = np.minimum(boxes[:, 3], others[:, 3]) - np.maximum(boxes[:, 2], others[:, 2])
        zero = np.float32(0)
        common = np.maximum(heights, zero).astype(np.float64) * np.maximum(widths, zero).astype(np.float64)
        # The sum of the areas of both boxes is rounded to float32.
        both = (areas(boxes) + areas(others)).astype(np.float64)
        return _ratios(common, both - common)


def enclosing(first: NDArray[Float], second: NDArray[Float]) -> NDArray[Float]:
    """Return the smallest box around each pair of boxes, shape (N, 4), in the precision of the input.

    >>> enclosing(np.array([[0.0, 1.0, 0.0, 1.0]]), np.array([[2.0, 3.0, 0.0, 0.5]]))
    array([[0., 3., 0., 1.]])
    """
    low, high = np.minimum(first, second), np.maximum(first, second)
    return np.stack([low[:, 0], high[:, 1], low[:, 2], high[:, 3]], axis=1)
