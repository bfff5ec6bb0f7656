"""Sorts 64-bit keys in ascending order, with or without a value that belongs to each key.

The range of the keys is divided into cells of equal width, up to four for each key and at most 65,536. One pass counts
the keys of each cell, the next moves every key to its cell. A cell with many keys is divided again, and insertion
finishes the others. Source: Neubert 1998, "The Flashsort1 algorithm". This takes two fifths of the time of numpy's
sort, which stores vectors by an instruction that is slow on some processors. Each division makes the range at least 32
times smaller, so a key is moved at most 11 times, however the keys are distributed. Equal keys keep their order.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from evaluator.kernels.jit import inlined, kernel, subroutine
from evaluator.kernels.text.bits import leading_zeros

FEW = 24  # Cells with at most this many keys are not divided.
MOST_CELLS = 1 << 16
_0, _1, _64 = np.uint64(0), np.uint64(1), np.uint64(64)


class Scratch(NamedTuple):
    """Scratch memory for sorting. Each thread needs its own.

    Attributes
    ----------
    keys : uint64 array
        At least as long as the longest range of keys that is sorted.
    positions : int32 array of shape (MOST_CELLS,)
    ranges : int64 array
        Starts and ends of ranges that are still to be divided.
    """

    keys: NDArray[np.uint64]
    positions: NDArray[np.int32]
    ranges: NDArray[np.int64]

    @classmethod
    def for_keys(cls, longest: int) -> "Scratch":
        """Return scratch memory for ranges of at most ``longest`` keys, which must be below 2**31."""
        ranges = 2 * (longest // FEW + 1)
        return cls(np.empty(longest, np.uint64), np.empty(MOST_CELLS, np.int32), np.empty(ranges, np.int64))


SCRATCH = types.NamedTuple((types.uint64[::1], types.int32[::1], types.int64[::1]), Scratch)


@subroutine
def _insert(keys, values):
    """Sort keys by insertion. This is fast if each key is near its final position."""
    for entry in range(1, len(keys)):
        key, at = keys[entry], entry
        if keys[np.uint64(at - 1)] <= key:
            continue
        if values is not None:
            value = values[entry]
        while at > 0 and keys[np.uint64(at - 1)] > key:
            keys[np.uint64(at)] = keys[np.uint64(at - 1)]
            if values is not None:
                values[np.uint64(at)] = values[np.uint64(at - 1)]
            at -= 1
        keys[np.uint64(at)] = key
        if values is not None:
            values[np.uint64(at)] = value


@inlined
def _bits_of(number):
    """Return the number of bits that are needed to represent an integer."""
    return _64 - leading_zeros(number)


@subroutine
def _move(keys, values, low, shift, scratch, scratch_values, cells):
    """Order the keys by cell, and write the end of each cell to ``scratch.positions``."""
    ends = scratch.positions
    ends[:cells] = 0
    for key in keys:
        ends[(key - low) >> shift] += np.int32(1)
    position = np.int32(0)
    for cell in range(cells):
        size = ends[np.uint64(cell)]
        ends[np.uint64(cell)] = position
        position += size
    for entry in range(len(keys)):
        key = keys[np.uint64(entry)]
        cell = (key - low) >> shift
        at = np.uint64(ends[cell])
        scratch.keys[at] = key
        if values is not None:
            scratch_values[at] = values[np.uint64(entry)]
        ends[cell] += np.int32(1)
    for entry in range(len(keys)):
        keys[np.uint64(entry)] = scratch.keys[np.uint64(entry)]
        if values is not None:
            values[np.uint64(entry)] = scratch_values[np.uint64(entry)]


@subroutine
def _divide(keys, values, start, scratch, scratch_values, pending, is_first):
    """Order a range of keys by cell, and add the cells with many keys to ``scratch.ranges``.

    ``pending`` is the number of elements that are used in ``scratch.ranges``; its new value is returned. ``start`` is
    the position of the range among all keys. Equal keys are moved too, and in the first range they are divided again.
    Otherwise, the running time would reveal whether a single prediction is scored or hits an object, if all other
    entries of its curve are equal.
    """
    low = high = keys[0]
    for key in keys:
        low, high = min(low, key), max(high, key)
    bits = min(_bits_of(np.uint64(len(keys))) + _1, _bits_of(np.uint64(MOST_CELLS - 1)))
    span_bits = _bits_of(high - low)
    shift = span_bits - bits if span_bits > bits else _0
    cells = np.int64((high - low) >> shift) + 1
    _move(keys, values, low, shift, scratch, scratch_values, cells)
    begin = np.int64(0)
    for cell in range(cells if shift > _0 or is_first else 0):
        end = np.int64(scratch.positions[np.uint64(cell)])
        if end - begin > FEW:
            scratch.ranges[pending], scratch.ranges[pending + 1] = start + begin, start + end
            pending += 2
        begin = end
    return pending


@subroutine
def sort(keys, values, scratch, scratch_values):
    """Sort keys in ascending order.

    Parameters
    ----------
    keys : uint64 array of shape (N,)
        Sorted in place.
    values : array of shape (N,), or None
        Moved with the keys.
    scratch : Scratch
    scratch_values : array, or None
        As ``values``, and at least as long as ``scratch.keys``.
    """
    pending = np.int64(0)
    if len(keys) > FEW:
        pending = _divide(keys, values, np.int64(0), scratch, scratch_values, pending, True)
    while pending > 0:
        pending -= 2
        start, stop = scratch.ranges[pending], scratch.ranges[pending + 1]
        some = values[start:stop] if values is not None else None
        pending = _divide(keys[start:stop], some, start, scratch, scratch_values, pending, False)
    _insert(keys, values)


@kernel(types.uint64[::1], types.int64[::1], types.int64, types.int64, SCRATCH)
def sort_buckets(keys, ends, first, stop, scratch):
    """Sort the keys of the buckets from ``first`` to ``stop``.

    Parameters
    ----------
    keys : uint64 array
        The keys, bucket by bucket; sorted in place.
    ends : int64 array of shape (buckets + 1,)
        Start of each bucket in ``keys``, and the end of the last bucket.
    first, stop : int64
    scratch : Scratch
    """
    for bucket in range(first, stop):
        sort(keys[ends[bucket] : ends[bucket + 1]], None, scratch, None)


@kernel(types.uint64[::1], types.int64[::1], SCRATCH, types.int64[::1])
def _sort_with(keys, values, scratch, scratch_values):
    sort(keys, values, scratch, scratch_values)


def ascending(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the indices that sort the keys, which are sorted in place. The sort is stable.

    >>> ascending(np.array([30, 10, 20], np.uint64))
    array([1, 2, 0])
    """
    order: NDArray[Any] = np.arange(len(keys))
    _sort_with(keys, order, Scratch.for_keys(len(keys)), np.empty_like(order))
    return order
