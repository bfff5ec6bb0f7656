"""Masks: their runs, areas and boxes, and how much two of them have in common.

A mask is written as COCO does: the lengths of runs of pixels outside and inside in turn, down the columns from the
left, beginning outside. Compressed, a length is one to six characters of five bits; from the fourth on it is the
difference to the length before the last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
MAX_CHARACTERS = 6
"""Of a length."""
KERNEL = "evaluator.kernels.masks"  # loaded where masks are compared: numba takes time to load
BYTES_AT_ONCE = (
    2**20
)  # of run lengths that are compared at once; a single mask, or one with all its partners, may be more
SMALLEST = np.float32(1e-7)
"""What keeps the official code's divisors from being 0."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of N masks, one after another, in pairs: a run outside and the run inside that follows it.

    Attributes
    ----------
    lengths : int64 array of shape (pairs, 2)
        Outside, inside. A mask whose last run is outside ends with 0 inside.
    starts : int64 array of shape (N,)
        The first pair of each mask; every mask has one or more.
    pairs : int64 array of shape (N,)
        Number of pairs of each mask.
    counts : int64 array of shape (N,)
        Number of runs of each mask as it is written.
    """

    lengths: Ints
    starts: Ints
    pairs: Ints
    counts: Ints


def runs_of(compressed: Sequence[bytes]) -> Runs:
    """Decompress many masks at once.

    Parameters
    ----------
    compressed : sequence of bytes
        Each of characters from ``0`` to ``o``, at most five in turn from ``P`` on, and the last one below it.

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
    return Runs(_sums(differences, starts, pairs, counts), starts, pairs, counts)


def _values(codes: NDArray[np.uint8], ends: Ints) -> tuple[Ints, Ints]:
    """Return the numbers, and how many each mask has."""
    continued = codes >= 32
    if not continued.any():
        return (codes ^ np.uint8(16)).astype(np.int64) - 16, np.diff(ends, prepend=0)
    stops = np.flatnonzero(~continued) + 1
    starts = np.r_[0, stops][: len(stops)]
    sizes = stops - starts
    values = (codes[starts] & 31).astype(np.int64)
    for place in range(1, int(sizes.max(initial=0))):
        which = np.flatnonzero(sizes > place)
        values[which] |= (codes[starts[which] + place] & 31).astype(np.int64) << (5 * place)
    negative = np.flatnonzero(codes[stops - 1] & 16)
    values[negative] -= np.int64(1) << (5 * sizes[negative])
    return values, np.diff(np.searchsorted(stops, ends, side="right"), prepend=0)


def _sums(differences: Ints, starts: Ints, pairs: Ints, counts: Ints) -> Ints:
    """Return the lengths: from the fourth on, each is the difference to the length before the last."""
    sums = np.cumsum(differences, axis=0)
    base = sums[starts] - differences[starts] * [0, 1]  # a chain of lengths outside begins with the second one
    sums -= np.repeat(base, pairs, axis=0)
    sums[starts, 0] = differences[starts, 0]
    sums[(starts + pairs - 1)[counts % 2 == 1], 1] = 0
    return sums


def areas_of(runs: Runs) -> Ints:
    """Return how many pixels are inside each mask, shape (N,)."""
    return _added(runs.lengths[:, 1], runs)


def covered_by(runs: Runs) -> Ints:
    """Return how many pixels the runs of each mask cover, shape (N,); -1 where one has a negative length."""
    outside, inside = runs.lengths.T
    covered = _added(outside + inside, runs)
    if runs.lengths.min(initial=0) < 0:
        covered[np.minimum.reduceat(np.minimum(outside, inside), runs.starts) < 0] = -1
    return covered


def _added(values: Ints, runs: Runs) -> Ints:
    return np.add.reduceat(values, runs.starts) if len(runs.starts) else runs.starts


def with_empty_runs(runs: Runs) -> Ints:
    """Return the masks that have a run of no length, other than the first one, ascending."""
    outside, inside = (runs.lengths == 0).T.copy()
    outside[runs.starts] = False
    last = runs.starts + runs.pairs - 1
    inside[last] &= runs.counts % 2 == 0
    return np.flatnonzero(_added((outside | inside).astype(np.int64), runs))


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
    several = left < right  # a run over more than one column touches the top and the bottom
    whose = masks[groups]
    boxes[whose, 0] = np.minimum.reduceat(left, groups) / widths[whose]
    boxes[whose, 1] = (np.maximum.reduceat(right, groups) + 1) / widths[whose]
    boxes[whose, 2] = np.minimum.reduceat(np.where(several, 0, top), groups) / heights[whose]
    boxes[whose, 3] = (np.maximum.reduceat(np.where(several, tall - 1, bottom), groups) + 1) / heights[whose]
    return boxes


@dataclass(frozen=True, slots=True)
class Masks:
    """Masks as they are written; arrays of shape (N,), sizes (N, 2) as height, width."""

    compressed: NDArray[np.object_]
    areas: Ints
    sizes: Ints

    def __getitem__(self, chosen: NDArray[np.int64]) -> "Masks":
        """Return the chosen ones."""
        return Masks(self.compressed[chosen], self.areas[chosen], self.sizes[chosen])

    def joined(self, chosen: Ints) -> tuple[NDArray[np.uint8], Ints]:
        """Return the run lengths of some of them, one after another, and where each ends."""
        texts = self.compressed[chosen].tolist()
        return np.frombuffer(b"".join(texts), np.uint8), np.cumsum([*map(len, texts)], dtype=np.int64)


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
    ends = np.append(begins[1:], len(mine))[: len(begins)]
    for part in _portions(ours, theirs, mine, its, begins):
        pairs = slice(begins[part][0], ends[part][-1])
        partners, places = np.unique(its[pairs], return_inverse=True)
        ranges = np.stack([places[begins[part] - pairs.start], places[ends[part] - pairs.start - 1] + 1], axis=1)
        texts, their_texts = ours.joined(mine[begins[part]]), theirs.joined(partners)
        longest = int(np.diff(texts[1], prepend=0).max())
        runs, their_runs = np.empty((longest, 2), np.int64), np.empty((len(their_texts[0]), 2), np.int64)
        room = runs, their_runs, np.empty(len(partners), np.int64)
        import_module(KERNEL).intersections(*texts, *their_texts, ranges, *room, common[pairs])
    return common


def _portions(ours: Masks, theirs: Masks, mine: Ints, its: Ints, begins: Ints) -> Iterator[slice]:
    """Yield which of our masks are compared at once; the partners of masks that follow each other are counted once."""
    partners, places = np.unique(its, return_inverse=True)
    their_sizes = np.array([*map(len, theirs.compressed[partners].tolist())], np.int64)[places]
    is_new = np.r_[True, its[begins][1:] != its[begins][:-1]][: len(begins)]
    sizes = np.array([*map(len, ours.compressed[mine[begins]].tolist())], np.int64)
    ends = np.cumsum(sizes + np.where(is_new, np.add.reduceat(their_sizes, begins), 0))
    start = 0
    while start < len(ends):
        done = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, done + BYTES_AT_ONCE, side="right")), start + 1)
        yield slice(start, stop)
        start = stop


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
