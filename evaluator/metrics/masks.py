"""Masks: their runs, areas and boxes, and how much two of them have in common.

A mask is written as COCO does: the lengths of runs of pixels outside and inside in turn, down the columns from the
left, beginning outside. Compressed, a length is one to six characters of five bits; from the fourth on it is the
difference to the length before the last.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pycocotools import mask as coco

Ints = NDArray[np.int64]
SMALLEST = np.float32(1e-7)
"""What keeps the official code's divisors from being 0."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of N masks, one after another.

    Attributes
    ----------
    lengths : int64 array of shape (runs,)
    masks : int64 array of shape (runs,)
        Which mask each run belongs to, ascending.
    places : int64 array of shape (runs,)
        Which of its mask's runs it is, from 0; the odd ones are inside.
    """

    lengths: Ints
    masks: Ints
    places: Ints


def runs_of(compressed: Sequence[bytes]) -> Runs:
    """Decompress many masks at once.

    Parameters
    ----------
    compressed : sequence of bytes
        Each of characters from ``0`` to ``o``, the last one below ``P``.

    Examples
    --------
    >>> runs_of([b"63", b"0200"]).lengths
    array([6, 3, 0, 2, 0, 2])
    """
    codes = np.frombuffer(b"".join(compressed), np.uint8).astype(np.int64) - 48
    is_last = codes < 32  # of its length
    stops = np.flatnonzero(is_last) + 1
    starts = np.r_[0, stops][: len(stops)]
    shifts = 5 * (np.arange(len(codes)) - np.repeat(starts, stops - starts))
    values = np.add.reduceat((codes & 31) << shifts, starts) if len(starts) else starts
    negative = (codes[stops - 1] & 16) > 0
    values = values - (negative.astype(np.int64) << (5 * (stops - starts)))
    per_mask = np.diff(np.searchsorted(starts, np.cumsum([0, *map(len, compressed)])))
    masks = np.repeat(np.arange(len(compressed)), per_mask)
    places = np.arange(len(values)) - np.repeat(np.cumsum(per_mask) - per_mask, per_mask)
    return Runs(_sums(values, 4 * masks + 2 * (places > 0) + places % 2), masks, places)


def _sums(differences: Ints, chains: Ints) -> Ints:
    """Return running sums, each chain by itself."""
    order = np.argsort(chains, kind="stable")
    sums, sizes = np.cumsum(differences[order]), np.unique(chains, return_counts=True)[1]
    before = np.r_[0, sums[np.cumsum(sizes) - 1]][: len(sizes)]
    undone = np.empty_like(differences)
    undone[order] = sums - np.repeat(before, sizes)
    return undone


def areas_of(runs: Runs, count: int) -> Ints:
    """Return how many pixels are inside each mask, shape (count,)."""
    inside = np.where(runs.places % 2 == 1, runs.lengths, 0)
    return np.bincount(runs.masks, inside, count).astype(np.int64)


def boxes_of(runs: Runs, heights: Ints, widths: Ints) -> NDArray[np.float64]:
    """Return the tight box of each mask.

    Parameters
    ----------
    runs : Runs
        Of lengths that add up to ``heights`` × ``widths``.
    heights, widths : int64 arrays of shape (N,)

    Returns
    -------
    float64 array of shape (N, 4): XMin, XMax, YMin, YMax as fractions; all 0 where a mask is empty.

    Examples
    --------
    >>> boxes_of(runs_of([b"112"]), np.array([2]), np.array([2]))
    array([[0. , 0.5, 0.5, 1. ]])
    """
    before = np.repeat(np.cumsum(heights * widths) - heights * widths, np.bincount(runs.masks, minlength=len(heights)))
    stops = np.cumsum(runs.lengths) - before
    inside = np.flatnonzero((runs.places % 2 == 1) & (runs.lengths > 0))
    masks, first, last = runs.masks[inside], (stops - runs.lengths)[inside], stops[inside] - 1
    tall = heights[masks]
    several = first // tall < last // tall  # a run over more than one column touches the top and the bottom
    boxes = np.zeros((len(heights), 4))
    groups = np.flatnonzero(np.r_[True, masks[1:] != masks[:-1]][: len(masks)])
    if len(groups):
        whose = masks[groups]
        boxes[whose, 0] = np.minimum.reduceat(first // tall, groups) / widths[whose]
        boxes[whose, 1] = (np.maximum.reduceat(last // tall, groups) + 1) / widths[whose]
        boxes[whose, 2] = np.minimum.reduceat(np.where(several, 0, first % tall), groups) / heights[whose]
        boxes[whose, 3] = (np.maximum.reduceat(np.where(several, tall - 1, last % tall), groups) + 1) / heights[whose]
    return boxes


@dataclass(frozen=True, slots=True)
class Masks:
    """Masks as the RLE library takes them; arrays of shape (N,), sizes (N, 2) as height, width."""

    compressed: NDArray[np.object_]
    areas: Ints
    sizes: Ints

    def __getitem__(self, chosen: NDArray[np.int64]) -> "Masks":
        """Return the chosen ones."""
        return Masks(self.compressed[chosen], self.areas[chosen], self.sizes[chosen])

    def encoded(self, places: Sequence[int]) -> list[dict[str, object]]:
        """Return some of them as the library's own objects."""
        return [{"size": self.sizes[place].tolist(), "counts": self.compressed[place]} for place in places]


def intersections(ours: Masks, theirs: Masks, mine: Ints, its: Ints) -> NDArray[np.float32]:
    """Return how many pixels each pair has in common.

    Parameters
    ----------
    ours, theirs : Masks
    mine, its : int64 arrays of shape (P,)
        The pairs. Each run of equal ``mine`` goes with a run of consecutive ``its``, as
        :func:`evaluator.metrics.matching.best_objects` makes them; it is fastest where equal runs follow each other.

    Returns
    -------
    float32 array of shape (P,): counts of pixels, in the precision of the official code.
    """
    common = np.empty(len(mine), np.float32)
    begins = np.flatnonzero(np.r_[True, mine[1:] != mine[:-1]][: len(mine)])
    sizes = np.diff(np.r_[begins, len(mine)])
    is_new = np.r_[True, (its[begins][1:] != its[begins][:-1]) | (sizes[1:] != sizes[:-1])][: len(begins)]
    blocks = np.flatnonzero(is_new)
    for block, stop in zip(blocks.tolist(), [*blocks[1:].tolist(), len(begins)], strict=True):
        first, width = int(begins[block]), int(sizes[block])
        rows = mine[begins[block:stop]]
        columns = its[first : first + width].tolist()
        # as crowds, so that what is common is divided by the area of ours and can be had back without loss
        parts = coco.iou(ours.encoded(rows.tolist()), theirs.encoded(columns), [1] * width)
        common[first : first + width * len(rows)] = np.rint(parts * ours.areas[rows][:, None]).ravel()
    return common


def mask_iou(ours: Masks, theirs: Masks, mine: Ints, its: Ints) -> NDArray[np.float64]:
    """Return the IoU of each pair of masks: intersection / max(union, 1e-7), in single precision.

    Source: the official code. Parameters as for :func:`intersections`; float64 array of shape (P,), in [0, 1].
    """
    common = intersections(ours, theirs, mine, its)
    both = ours.areas[mine].astype(np.float32) + theirs.areas[its].astype(np.float32)
    return np.asarray(common / np.maximum(both - common, SMALLEST), np.float64)


def mask_ioa(ours: Masks, theirs: Masks, mine: Ints, its: Ints) -> NDArray[np.float64]:
    """Return which share of each of ``ours`` lies in its partner: intersection / (area + 1e-7), in single precision.

    Source: the official code. Parameters as for :func:`intersections`; float64 array of shape (P,), in [0, 1].
    """
    areas = ours.areas[mine].astype(np.float32)
    return np.asarray(intersections(ours, theirs, mine, its) / (areas + SMALLEST), np.float64)
