"""Reads many CSV rows at once: finds the ends of all cells first, then reads column by column.

Because the end of each number is known in advance, the CPU can read several numbers at the same time instead of waiting
for the length of each one (Langdale and Lemire 2019, "Parsing gigabytes of JSON per second"). Rows with blanks or CRLF
are read by :mod:`evaluator.kernels.text.cells`.
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from evaluator.kernels.jit import inlined, subroutine
from evaluator.kernels.text.bits import bits_set_in, byte_at, prefetch, short_words, trailing_zeros
from evaluator.kernels.text.decimals import long_number, number_at, short_number
from evaluator.kernels.text.lookup import EMPTY, UNDECIDED, code_of_short, is_accepted, text_at
from evaluator.kernels.text.vectors import (
    AHEAD,
    COMMA,
    EIGHT,
    WIDTH,
    ends_and_separators_at,
    four_long_numbers,
    four_numbers,
    write_ends,
)

BATCH_ROWS = 64
CODES_PER_LINE = 16  # Number of int32 values in a cache line.
_0, _1, _2, _3 = (np.uint64(number) for number in (0, 1, 2, 3))


@intrinsic
def _equal_at(context: Any, codes: Any, at: Any, code: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lane, mask = ir.IntType(32), ir.IntType(CODES_PER_LINE)
        vector = ir.VectorType(lane, CODES_PER_LINE)
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.gep(array.data, [arguments[1]])
        there = builder.load(builder.bitcast(address, vector.as_pointer()), align=4)
        wanted = ir.Constant(vector, ir.Undefined)
        for number in range(CODES_PER_LINE):
            wanted = builder.insert_element(wanted, builder.trunc(arguments[2], lane), ir.Constant(lane, number))
        equal = builder.bitcast(builder.icmp_unsigned("==", there, wanted), mask)
        return builder.zext(equal, ir.IntType(64))

    return types.uint64(codes, types.int64, types.int64), build


def searchable(codes: NDArray[np.int32], starts: NDArray[np.int32]) -> tuple[NDArray[np.int32], int]:
    """Return the arguments ``codes`` and ``steps`` with which :func:`position_in` searches ranges of ``codes``.

    ``starts`` has the start of each range, and the end of the last one. The first result is read-only; its elements
    after the last range are never found.
    """
    steps = -(-int(np.diff(starts).max(initial=0)) // CODES_PER_LINE)
    padded = np.append(codes, np.full(steps * CODES_PER_LINE, -1, np.int32))
    padded.flags.writeable = False
    return padded, steps


@inlined
def position_in(codes, first, stop, code, steps):
    """Search for an integer code in ``codes[first:stop]``. Return its index; -1 if it is not found.

    The codes of the range must be distinct. The search takes the same time for every range and every code, because a
    file may search for the same code a million times. Otherwise, the running time would reveal which classes are
    verified in an image, and how many.

    Parameters
    ----------
    codes : int32 array
    steps : int64
        See :func:`searchable`.
    """
    found = np.int64(-1)
    # The search goes from the last step to the first, so it finds the lowest index of the code from ``first`` on. If
    # the code is in the range, this is its index there. Otherwise, the index is not lower than ``stop``.
    for step in range(steps - 1, -1, -1):
        begin = first + step * CODES_PER_LINE
        equal = _equal_at(codes, begin, code)
        found = begin + np.int64(trailing_zeros(equal)) if equal != _0 else found
    return found if found < stop else np.int64(-1)


@subroutine
def find_cell_ends(data, at, stop, ends):
    """Find the ends of the cells from ``at`` to ``stop``.

    Parameters
    ----------
    data : uint8 array
        Must be readable for 64 bytes beyond ``stop``.
    at, stop : int64
    ends : int64 array
        Receives ``at - 1``, followed by the offset of the byte after each cell. Its last 72 elements are scratch
        memory.

    Returns
    -------
    cells : int64
        The number of cells found; if ``ends`` is full, the remaining cells are not counted.
    without_comma : int64
        The number of these cells that are not followed by a comma.
    """
    ends[0] = at - 1
    count, without_comma = np.int64(1), np.int64(0)
    while at < stop and count <= len(ends) - WIDTH - EIGHT:
        prefetch(data, at + AHEAD)
        found, commas = ends_and_separators_at(data, at, COMMA)
        if stop - at < WIDTH:
            found &= (_1 << np.uint64(stop - at)) - _1
        without_comma += np.int64(bits_set_in(found & ~commas))
        count = write_ends(found, at, ends, count)
        at += WIDTH
    return count - 1, without_comma


@subroutine
def _read_remaining(data, ends, first, step, values):
    """Read the cells that are still NaN because their notation is rare. Return whether all of them are numbers."""
    for row in range(len(values)):
        if np.isnan(values[row]):
            cell = first + row * step
            values[row], end = number_at(data, ends[cell] + 1)
            if end == 0 or end != ends[cell + 1]:
                return False
    return True


@inlined
def _read_cells(data, ends, first, step, values, read_four, read):
    """Read every ``step``-th cell with two functions, which read four numbers and one number, respectively.

    Return whether all cells have the notation that these functions read. If not, the others become NaN.
    """
    all_read = True
    for row in range(0, len(values) - 3, 4):
        one, place = np.uint64(first + row * step), np.uint64(row)
        two, three, four = one + np.uint64(step), one + np.uint64(2 * step), one + np.uint64(3 * step)
        begins = (ends[one] + 1, ends[two] + 1, ends[three] + 1, ends[four] + 1)
        stops = (ends[one + _1], ends[two + _1], ends[three + _1], ends[four + _1])
        sizes = (stops[0] - begins[0], stops[1] - begins[1], stops[2] - begins[2], stops[3] - begins[3])
        values[place], values[place + _1], values[place + _2], values[place + _3], are_read = read_four(
            data, begins, sizes
        )
        if not are_read:
            for number in range(4):
                values[place + np.uint64(number)], _ = read(data, begins[number], sizes[number])
        all_read &= are_read
    for row in range(len(values) // 4 * 4, len(values)):
        begin = ends[first + row * step] + 1
        values[row], is_read = read(data, begin, ends[first + row * step + 1] - begin)
        all_read &= is_read
    return all_read


@subroutine
def numbers_of(data, ends, first, step, values):
    """Read every ``step``-th cell, starting with cell ``first``, as a number. Return whether all are numbers.

    Parameters
    ----------
    data, ends
        The arguments with which :func:`find_cell_ends` was called, or
        :func:`~evaluator.kernels.text.prediction_strings.token_ends_at`. A token counts as a cell.
    first, step : int64
    values : float64 array
        Receives the numbers; its length is the number of cells to read.
    """
    # The length of the first cell decides which notation is tried first: that with at most 8 decimals, or a longer one.
    if ends[first + 1] - ends[first] <= 11:
        all_read = _read_cells(data, ends, first, step, values, four_numbers, short_number)
    else:
        all_read = _read_cells(data, ends, first, step, values, four_long_numbers, long_number)
    return all_read or _read_remaining(data, ends, first, step, values)


@subroutine
def _code_of_any(data, begin, end, index, closed):
    """Return the integer code of a string, which may be long or unknown, and whether the string is accepted.

    :func:`codes_of` explains which strings are accepted.
    """
    code, text_end, _ = text_at(data, begin, index)
    return code, text_end == end and is_accepted(data, begin, end, code, closed)


@subroutine
def codes_of(data, ends, first, step, index, closed, codes):
    """Look up the integer code of every ``step``-th cell, starting with cell ``first``.

    Return whether all these strings are accepted. A string is accepted if it is in the index, or if it is in plain
    syntax and unknown strings are allowed.

    Parameters
    ----------
    data, ends, first, step
        As for :func:`numbers_of`.
    index : TextIndex
    closed : bool
        Whether an unknown string is a defect.
    codes : int64 array
        Receives the codes, -1 for unknown strings; its length is the number of cells to read.
    """
    one, two, size, code = _0, _0, np.int64(-1), np.int64(-1)
    for row in range(len(codes)):
        cell = np.uint64(first + row * step)
        begin, last_one, last_two, last_size = ends[cell] + 1, one, two, size
        size = ends[cell + _1] - begin
        one, two = short_words(data, begin, min(size, 16))
        # Successive rows often have the same image, so a string that equals the previous one is not looked up again.
        # This applies to unknown strings, too. Otherwise, the running time would reveal which labels are in the ground
        # truth.
        # All differences are combined into one condition, because the CPU could not predict which strings have the same
        # length as the previous one. The last term is 0 if the length is from 1 to 16.
        if (one ^ last_one) | (two ^ last_two) | np.uint64((size ^ last_size) | ((size - 1) >> 4)):
            code = code_of_short(one, two, size, index)
            accepted = code >= 0
            if code == UNDECIDED:
                code, accepted = _code_of_any(data, begin, begin + size, index, closed)
            elif code == EMPTY:
                accepted = is_accepted(data, begin, begin + size, code, closed)
            if not accepted:
                return False
        codes[np.uint64(row)] = code
    return True


class Batch(NamedTuple):
    """Per-thread scratch memory for predictions that have been read but not yet matched. Each is a row of the batch.

    Attributes
    ----------
    ends : int64 array
        Ends of cells or tokens, as :func:`numbers_of` expects them.
    codes : int64 array of shape (texts, BATCH_ROWS)
    positions : int64 array of shape (BATCH_ROWS,)
        For detections, position of each prediction's class in ``KernelTruth.verified``, -1 if the class is not verified
        in the image. For relationships, result of
        :func:`evaluator.kernels.relationships.matching.first_triplet_of`. For image-level labels, position in
        :attr:`evaluator.kernels.classification.state.ClassificationState.highest`.
    numbers : float64 array of shape (numbers, BATCH_ROWS)
    usual : bool array of shape (BATCH_ROWS,)
        For detections, whether the values of each row are usual.
    chosen : int64 array of shape (2, BATCH_ROWS)
        For detections, two lists of rows.
    """

    ends: NDArray[np.int64]
    codes: NDArray[np.int64]
    positions: NDArray[np.int64]
    numbers: NDArray[np.float64]
    usual: NDArray[np.bool_]
    chosen: NDArray[np.int64]

    @classmethod
    def empty(cls, *, texts: int, numbers: int) -> "Batch":
        """Return an empty batch for predictions with ``texts`` text cells and ``numbers`` number cells."""
        ends = np.empty((texts + numbers) * BATCH_ROWS + 1 + WIDTH + EIGHT, np.int64)
        codes, positions = np.empty((texts, BATCH_ROWS), np.int64), np.empty(BATCH_ROWS, np.int64)
        usual, chosen = np.empty(BATCH_ROWS, bool), np.empty((2, BATCH_ROWS), np.int64)
        return cls(ends, codes, positions, np.empty((numbers, BATCH_ROWS)), usual, chosen)


BATCH = types.NamedTuple(
    (
        types.int64[::1],
        types.int64[:, ::1],
        types.int64[::1],
        types.float64[:, ::1],
        types.boolean[::1],
        types.int64[:, ::1],
    ),
    Batch,
)


@inlined
def follows(data, ends, cell, byte):
    """Return whether the byte directly after a CSV cell is ``byte``, such as a comma or a line feed."""
    return byte_at(data, ends[np.uint64(cell + 1)]) == byte
