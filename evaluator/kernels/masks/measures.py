"""Checks the compressed run lengths of masks, and computes their areas and tight boxes, without storing the runs."""

import numpy as np
from numba import types

from evaluator.kernels.jit import inlined, kernel, read_only

# The lowest character code that occurs in compressed run lengths, and the number of different characters.
ZERO, CHARACTERS = 48, 64
# Maximum number of characters that encode the length of one run of pixels.
MAX_CHARACTERS = 6
# Bits of a character: whether another character of the same length follows, and the sign of the length.
CONTINUED, SIGN = 32, 16
# Columns of the array ``measures``.
COVERED, AREA, EMPTY_RUNS, LEFT, RIGHT, TOP, BOTTOM = range(7)
# Values of the column COVERED: a run has a negative length, or the text does not consist of run lengths.
NEGATIVE, NOT_LENGTHS = -1, -2


@inlined
def _length_at(text, at, end):
    """Return the number that begins at index ``at``, and the index after it, which is -1 if the number is invalid."""
    length, characters, code = np.int64(0), 0, np.int64(CONTINUED)
    while code & CONTINUED and at < end and characters < MAX_CHARACTERS:
        code = np.int64(text[at]) - ZERO
        if code < 0 or code >= CHARACTERS:
            return length, np.int64(-1)
        length |= (code & (CONTINUED - 1)) << (5 * characters)
        characters += 1
        at += 1
    if code & CONTINUED:
        return length, np.int64(-1)
    if code & SIGN:
        length -= np.int64(1) << (5 * characters)
    return length, at


@inlined
def _column_of(pixel, column, height):
    """Return the first pixel of the column that contains ``pixel``. The column begins at or after ``column``."""
    if pixel - column < height:
        return column
    # The next column is tested before dividing, because consecutive runs are mostly in consecutive columns. A division
    # would take longer than all other steps.
    return column + height if pixel - column < 2 * height else pixel // height * height


@kernel(
    read_only(types.uint8), read_only(types.int64), read_only(types.int64), read_only(types.int64), types.int64[:, ::1]
)
def measure(texts, ends, heights, widths, measures):
    """Compute the area and the tight box of each mask, and check its run lengths.

    Parameters
    ----------
    texts : uint8 array
        Compressed run lengths, one mask after another. Any bytes are allowed.
    ends, heights, widths : int64 arrays of shape (N,)
        End of each mask in ``texts``, and size of its image in pixels.
    measures : int64 array of shape (N, 7)
        Receives the total length of the runs of each mask, or a negative number if the mask is invalid; its area;
        whether a run other than the first is empty; and its box in pixels: left, right, top, bottom. If the total
        length is not the number of pixels of the image, the other columns are undefined.
    """
    at = np.int64(0)
    for mask in range(len(ends)):
        end, height = ends[mask], heights[mask]
        run, edge, area, has_empty_runs, is_negative = 0, np.int64(0), np.int64(0), False, False
        left, column, top, bottom = np.int64(-1), np.int64(0), height, np.int64(0)
        before_last, last = np.int64(0), np.int64(0)
        while at < end:
            length, at = _length_at(texts, at, end)
            if at < 0:
                break
            if run > 2:
                length += before_last
            before_last, last = last, length
            is_negative |= length < 0
            has_empty_runs |= length == 0 and run > 0
            if run & 1 and length > 0:
                area += length
                column = _column_of(edge, column, height)
                left = column if left < 0 else left
                stop = edge + length - column
                # A run that spans several columns touches the top and the bottom of the image.
                top, bottom = min(top, edge - column), max(bottom, min(stop, height))
                if stop > height:
                    top = np.int64(0)
                    column = _column_of(edge + length - 1, column, height)
            edge += length
            run += 1
        covered = NEGATIVE if is_negative else edge
        measures[mask, COVERED] = NOT_LENGTHS if at < 0 else covered
        measures[mask, AREA], measures[mask, EMPTY_RUNS] = area, has_empty_runs
        measures[mask, LEFT] = left // height if area else 0
        measures[mask, RIGHT] = column // height + 1 if area else 0
        measures[mask, TOP], measures[mask, BOTTOM] = top if area else 0, bottom
        at = end
