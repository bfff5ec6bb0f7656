"""Checks the compressed run lengths of masks, and computes their areas and tight boxes."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.masks import (
    MAX_CHARACTERS,
    Ints,
    areas_of,
    boxes_of,
    covered_by,
    runs_of,
    with_empty_runs,
)

KERNEL = "evaluator.kernels.masks.measures"
"""Name of the kernel module. It is loaded only if there are many masks, because numba is slow to load."""
KERNEL_FROM_BYTES = 2**18
"""Number of bytes of run lengths from which the kernel is used. Numpy takes 80 ns for a byte, the kernel 3 ns."""
COLUMNS = 7
NEGATIVE, NOT_LENGTHS = -1, -2
"""Values of :attr:`Measures.covered`: a run has a negative length; the text does not consist of run lengths."""
KINDS = bytes(ord("." if 48 <= code < 80 else "~" if 80 <= code < 112 else "!") for code in range(256))
"""The kind of each byte in compressed run lengths: "." ends a length, "~" continues a length, "!" is invalid."""
INVALID_KINDS = (b"!", b"~" * MAX_CHARACTERS)


@dataclass(frozen=True, slots=True)
class Measures:
    """The measures of N masks.

    The area of a mask is undefined if its runs do not add up to the number of pixels in its image. The boxes of all
    masks are then undefined too.

    Attributes
    ----------
    covered : int64 array of shape (N,)
        Total number of pixels in the runs of each mask. It is :data:`NEGATIVE` if a run has a negative length, and
        :data:`NOT_LENGTHS` if the text does not consist of run lengths.
    areas : int64 array of shape (N,)
        Number of pixels inside each mask.
    boxes : float64 array of shape (N, 4)
        Tight box of each mask: XMin, XMax, YMin, YMax as fractions; all 0 where a mask is empty.
    have_empty_runs : bool array of shape (N,)
        Whether a run other than the first is empty.
    """

    covered: Ints
    areas: Ints
    boxes: NDArray[np.float64]
    have_empty_runs: NDArray[np.bool_]


def measures_of(compressed: Sequence[bytes], heights: Ints, widths: Ints) -> Measures:
    """Return the measures of masks.

    Parameters
    ----------
    compressed : sequence of N bytes
        Compressed run lengths. The last character of each mask must be the end of a run length. All other errors are
        detected.
    heights, widths : int64 arrays of shape (N,)
        Size of the image of each mask in pixels, at least 1.

    Examples
    --------
    >>> measures_of([b"112"], np.array([2]), np.array([2])).boxes
    array([[0. , 0.5, 0.5, 1. ]])
    >>> measures_of([b"!", b"4"], np.array([2, 2]), np.array([2, 2])).covered
    array([-2,  4])
    """
    by_kernel = sum(map(len, compressed)) >= KERNEL_FROM_BYTES
    return kernel_measures(compressed, heights, widths) if by_kernel else numpy_measures(compressed, heights, widths)


def numpy_measures(compressed: Sequence[bytes], heights: Ints, widths: Ints) -> Measures:
    """Return the measures of masks. This is the reference implementation of :func:`kernel_measures`."""
    invalid = np.zeros(len(compressed), bool)
    if _has_invalid_lengths(b"".join(compressed)):
        invalid[:] = [_has_invalid_lengths(text) for text in compressed]
        compressed = [b"" if bad else text for bad, text in zip(invalid.tolist(), compressed, strict=True)]
    runs = runs_of(compressed)
    covered, have_empty_runs = covered_by(runs), np.zeros(len(compressed), bool)
    covered[invalid] = NOT_LENGTHS
    have_empty_runs[with_empty_runs(runs)] = True
    # If the runs of a mask do not add up to the size of its image, the runs of the next mask would be shifted.
    # Therefore, no boxes are computed.
    are_whole = bool((covered == heights * widths).all())
    boxes = boxes_of(runs, heights, widths) if are_whole else np.zeros((len(compressed), 4))
    return Measures(covered, areas_of(runs), boxes, have_empty_runs)


def kernel_measures(compressed: Sequence[bytes], heights: Ints, widths: Ints) -> Measures:
    """Return the measures of masks, computed by the kernel."""
    measures = np.empty((len(compressed), COLUMNS), np.int64)
    ends = np.cumsum([*map(len, compressed)], dtype=np.int64)
    texts = np.frombuffer(b"".join(compressed), np.uint8)
    import_module(KERNEL).measure(texts, ends, heights, widths, measures)
    covered, areas, have_empty_runs = measures[:, 0], measures[:, 1], measures[:, 2] > 0
    sides = np.stack([widths, widths, heights, heights], axis=1)
    return Measures(covered, areas, measures[:, 3:] / sides, have_empty_runs)


def _has_invalid_lengths(text: bytes) -> bool:
    kinds = text.translate(KINDS)
    return any(wrong in kinds for wrong in INVALID_KINDS)
