"""Computes the runs, areas, boxes and overlaps of masks.

Masks are in COCO format: the lengths of alternating runs of pixels outside and inside the mask. The runs go down the
columns of the image, from left to right. The first run is outside the mask. In compressed form, a length has one to six
characters of five bits each. Starting with the fourth length, the difference from the length two positions earlier is
encoded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.mapped_bytes import MappedBytes

Ints = NDArray[np.int64]
MAX_CHARACTERS = 6
"""Maximum number of characters that encode the length of one run of pixels."""
KERNEL = "evaluator.kernels.masks.overlaps"
"""Name of the kernel module. It is loaded only if masks are compared, because numba is slow to load."""
BYTES_AT_ONCE = 2**20
"""Approximate maximum number of bytes of run lengths that are compared at once. A single mask, together with the masks
that it is compared with, may exceed it."""
SMALLEST = np.float32(1e-7)
"""A small number that prevents division by zero, as in the official Open Images code. It is the smallest divisor of an
IoU, and is added to the divisor of an IoA."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of N masks, one after another, in pairs: a run outside the mask and the following run inside it.

    Attributes
    ----------
    lengths : int64 array of shape (pairs, 2)
        Numbers of pixels outside and inside. If a mask ends with a run outside, its last pair has 0 pixels inside.
    starts : int64 array of shape (N,)
        Index of the first pair of each mask; every mask has at least one.
    pairs : int64 array of shape (N,)
        Number of pairs of each mask.
    counts : int64 array of shape (N,)
        Number of runs of each mask in its compressed form.
    """

    lengths: Ints
    starts: Ints
    pairs: Ints
    counts: Ints


def runs_of(compressed: Sequence[bytes]) -> Runs:
    """Return the runs of many masks, given their compressed run lengths.

    Parameters
    ----------
    compressed : sequence of bytes
        Each mask has characters from ``0`` to ``o`` only. A character at or above ``P`` means that the next character
        belongs to the same length. At most five such characters are adjacent, and the last character is below ``P``.

    Examples
    --------
    >>> runs_of([b"63", b"0200"]).lengths.tolist()
    [[6, 3], [0, 2], [0, 2]]
    """
    codes = np.frombuffer(b"".join(compressed), np.uint8) - np.uint8(48)
    ends = np.cumsum(np.array([*map(len, compressed)], np.int64))
    values, counts = _values(codes, ends)
    pairs = np.maximum((counts + 1) // 2, 1)
    starts = np.cumsum(pairs) - pairs
    missing = np.repeat(np.cumsum(counts), 2 * pairs - counts)
    differences = (np.insert(values, missing, 0) if len(missing) else values).reshape(-1, 2)
    return Runs(_lengths(differences, starts, pairs, counts), starts, pairs, counts)


def _values(codes: NDArray[np.uint8], ends: Ints) -> tuple[Ints, Ints]:
    """Return the numbers that the characters of all compressed masks encode, and how many numbers each mask has."""
    continued = codes >= 32
    if not continued.any():
        return (codes ^ np.uint8(16)).astype(np.int64) - 16, np.diff(ends, prepend=0)
    stops = np.flatnonzero(~continued) + 1
    starts = np.r_[0, stops][: len(stops)]
    sizes = stops - starts
    values = (codes[starts] & 31).astype(np.int64)
    for position in range(1, int(sizes.max(initial=0))):
        longer = np.flatnonzero(sizes > position)
        values[longer] |= (codes[starts[longer] + position] & 31).astype(np.int64) << (5 * position)
    negative = np.flatnonzero(codes[stops - 1] & 16)
    values[negative] -= np.int64(1) << (5 * sizes[negative])
    return values, np.diff(np.searchsorted(stops, ends, side="right"), prepend=0)


def _lengths(differences: Ints, starts: Ints, pairs: Ints, counts: Ints) -> Ints:
    """Return the lengths of the runs of pixels of all masks.

    In compressed form, most lengths are given as the difference from an earlier length of the same mask.
    """
    sums = np.cumsum(differences, axis=0)
    # COCO encodes most run lengths of a mask as differences, so cumulative sums decode them. Column 0 contains the runs
    # outside the mask. Its sums begin in the second row of each mask, because no length is encoded as a difference from
    # the length of the first run.
    base = sums[starts] - differences[starts] * [0, 1]
    sums -= np.repeat(base, pairs, axis=0)
    sums[starts, 0] = differences[starts, 0]
    sums[(starts + pairs - 1)[counts % 2 == 1], 1] = 0
    return sums


def areas_of(runs: Runs) -> Ints:
    """Return the number of pixels inside each mask, shape (N,)."""
    return _summed_by_mask(runs.lengths[:, 1], runs)


def covered_by(runs: Runs) -> Ints:
    """Return the total number of pixels in the runs of each mask, shape (N,); -1 if a run has a negative length."""
    outside, inside = runs.lengths.T
    covered = _summed_by_mask(outside + inside, runs)
    if runs.lengths.min(initial=0) < 0:
        covered[np.minimum.reduceat(np.minimum(outside, inside), runs.starts) < 0] = -1
    return covered


def _summed_by_mask(values: Ints, runs: Runs) -> Ints:
    """Add up ``values``, one number for each pair of runs, and return the sum for each mask, shape (N,)."""
    return np.add.reduceat(values, runs.starts) if len(runs.starts) else runs.starts


def with_empty_runs(runs: Runs) -> Ints:
    """Return the indices, in ascending order, of the masks in which a run other than the first is empty."""
    outside, inside = (runs.lengths == 0).T.copy()
    outside[runs.starts] = False
    last = runs.starts + runs.pairs - 1
    inside[last] &= runs.counts % 2 == 0
    return np.flatnonzero(_summed_by_mask((outside | inside).astype(np.int64), runs))


def boxes_of(runs: Runs, heights: Ints, widths: Ints) -> NDArray[np.float64]:
    """Return the tight bounding box of each mask.

    Parameters
    ----------
    runs : Runs
        Runs whose lengths add up to ``heights`` × ``widths``.
    heights, widths : int64 arrays of shape (N,)

    Returns
    -------
    float64 array of shape (N, 4): XMin, XMax, YMin, YMax as fractions; all 0 where a mask is empty.

    Examples
    --------
    >>> boxes_of(runs_of([b"112"]), np.array([2]), np.array([2]))
    array([[0. , 0.5, 0.5, 1. ]])
    """
    boxes = np.zeros((len(heights), 4))
    inside = np.flatnonzero(runs.lengths[:, 1])
    masks = np.repeat(np.arange(len(heights)), runs.pairs)[inside]
    groups = np.flatnonzero(np.r_[True, masks[1:] != masks[:-1]][: len(masks)])
    if not len(groups):
        return boxes
    pixels = np.cumsum(heights * widths) - heights * widths
    stops = np.cumsum(runs.lengths[:, 0] + runs.lengths[:, 1])[inside] - pixels[masks]
    tall = heights[masks]
    left, top = np.divmod(stops - runs.lengths[inside, 1], tall)
    right, bottom = np.divmod(stops - 1, tall)
    # A run of mask pixels that spans several columns touches the top and the bottom of the image, so the bounding box
    # of the mask has the full height.
    several = left < right
    not_empty = masks[groups]
    boxes[not_empty, 0] = np.minimum.reduceat(left, groups) / widths[not_empty]
    boxes[not_empty, 1] = (np.maximum.reduceat(right, groups) + 1) / widths[not_empty]
    boxes[not_empty, 2] = np.minimum.reduceat(np.where(several, 0, top), groups) / heights[not_empty]
    boxes[not_empty, 3] = (np.maximum.reduceat(np.where(several, tall - 1, bottom), groups) + 1) / heights[not_empty]
    return boxes


@dataclass(frozen=True, slots=True)
class Masks:
    """N masks in their compressed form.

    The run lengths of all masks are in one array, because an object for each mask would need more memory than the run
    lengths of a small mask.

    Attributes
    ----------
    run_lengths : MappedBytes
        Contains the compressed run lengths of the masks, in any order. Masks may share them.
    ranges : int64 array of shape (N, 2)
        Begin and end of each mask in ``run_lengths``.
    areas : int64 array of shape (N,)
        Number of pixels inside each mask.
    """

    run_lengths: MappedBytes
    ranges: Ints
    areas: Ints

    def __getitem__(self, chosen: NDArray[np.int64]) -> "Masks":
        """Return the masks at the given indices. The run lengths are not copied."""
        return Masks(self.run_lengths, self.ranges[chosen], self.areas[chosen])

    def compressed(self) -> list[bytes]:
        """Return the compressed run lengths of each mask. This copies the run lengths."""
        return [self.run_lengths.data[begin:end].tobytes() for begin, end in self.ranges.tolist()]


def intersections(masks: Masks, others: Masks, first: Ints, second: Ints) -> NDArray[np.float32]:
    """Return how many pixels the masks of each pair have in common.

    Parameters
    ----------
    masks, others : Masks
    first, second : int64 arrays of shape (P,)
        The pairs: indices into ``masks`` and into ``others``. The pairs of one mask must be adjacent, because it is
        decoded once for all of them. The function is fastest if masks with the same partners are adjacent too.

    Returns
    -------
    float32 array of shape (P,): numbers of pixels, in the precision of the official Open Images code.
    """
    common = np.empty(len(first), np.float32)
    begins = np.flatnonzero(np.r_[True, first[1:] != first[:-1]][: len(first)])
    ends = np.append(begins[1:], len(first))[: len(begins)]
    for part in _portions(masks.ranges[first[begins]], others.ranges[second], second, begins):
        pairs = slice(begins[part][0], ends[part][-1])
        partners, positions = np.unique(second[pairs], return_inverse=True)
        ranges, other_ranges = masks.ranges[first[begins[part]]], others.ranges[partners]
        runs = np.empty((int(_sizes(ranges).max()), 2), np.int64)
        other_runs = np.empty((int(_sizes(other_ranges).sum()), 2), np.int64)
        texts = masks.run_lengths.data, ranges, others.run_lengths.data, other_ranges
        room = runs, other_runs, np.empty(len(partners), np.int64)
        import_module(KERNEL).intersections(*texts, ends[part] - pairs.start, positions, *room, common[pairs])
        masks.run_lengths.release()
    return common


def _sizes(ranges: Ints) -> Ints:
    """Return the number of bytes in each range, shape (N,)."""
    return ranges[:, 1] - ranges[:, 0]


def _portions(ranges: Ints, other_ranges: Ints, second: Ints, begins: Ints) -> Iterator[slice]:
    """Yield slices of masks to compare in one call, each with at most about :data:`BYTES_AT_ONCE` compressed bytes.

    The limit includes the masks of ``others`` with which these masks are compared. If adjacent masks are compared with
    the same masks of ``others``, the masks of ``others`` count only once.

    Parameters
    ----------
    ranges : int64 array of shape (M, 2)
        Begin and end of the run lengths of each of the M masks that are compared.
    other_ranges, second : int64 arrays of shapes (P, 2) and (P,)
        The mask of ``others`` in each pair: begin and end of its run lengths, and its index.
    begins : int64 array of shape (M,)
        Index of the first pair of each mask.
    """
    # As the others are in ascending order for each kind of object, the first and the last one identify all of them.
    firsts, lasts = second[begins], second[np.append(begins[1:], len(second))[: len(begins)] - 1]
    is_new = np.r_[True, (firsts[1:] != firsts[:-1]) | (lasts[1:] != lasts[:-1])][: len(begins)]
    ends = np.cumsum(_sizes(ranges) + np.where(is_new, np.add.reduceat(_sizes(other_ranges), begins), 0))
    start = 0
    while start < len(ends):
        done = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, done + BYTES_AT_ONCE, side="right")), start + 1)
        yield slice(start, stop)
        start = stop


def mask_iou(masks: Masks, others: Masks, first: Ints, second: Ints) -> NDArray[np.float64]:
    """Return the IoU of each pair of masks, computed in single precision: intersection / max(union, 1e-7).

    Source: the official Open Images code. The parameters are the same as for :func:`intersections`. Returns float64 of
    shape (P,), in [0, 1].
    """
    common = intersections(masks, others, first, second)
    both = masks.areas[first].astype(np.float32) + others.areas[second].astype(np.float32)
    return np.asarray(common / np.maximum(both - common, SMALLEST), np.float64)


def mask_overlaps(masks: Masks, others: Masks, first: Ints, second: Ints, groups_from: int) -> NDArray[np.float64]:
    """Return the overlap of each pair of masks: the IoU with an ordinary object, the IoA with a group.

    The IoU is that of :func:`mask_iou`. The IoA is the fraction of the first mask that lies in the second mask:
    intersection / (area + 1e-7), also in single precision. Source: the official Open Images code. In ``others``, groups
    begin at index ``groups_from``. The other parameters are the same as for :func:`intersections`. Returns float64 of
    shape (P,), in [0, 1].
    """
    common, areas = intersections(masks, others, first, second), masks.areas[first].astype(np.float32)
    union = np.maximum(areas + others.areas[second].astype(np.float32) - common, SMALLEST)
    return np.asarray(common / np.where(second < groups_from, union, areas + SMALLEST), np.float64)
