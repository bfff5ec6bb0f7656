"""Where cells end, and what many of them say at once.

A number's end is known before the number is read, so the processor reads several side by side instead of waiting for
each one's length (Langdale and Lemire 2019, "Parsing gigabytes of JSON per second"). Only the plainest rows are read
like this; whatever else stands there is left to the kernels that go from byte to byte.
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from evaluator.kernels.jit import outlined, part
from evaluator.kernels.text.bits import byte_at, digits_in, first_bytes, trailing_zeros, word_at
from evaluator.kernels.text.decimals import BYTE, POINT_AFTER_XOR, TENS, WHOLE_TENS, ZEROS, number_at, number_of
from evaluator.kernels.text.lookup import SPREAD, hashed, is_plain, slot_of, text_at

WIDTH = 64
BATCH_ROWS = 64
EIGHT = 8
LANES = 16
COMMA, BLANK = 0x2C, 0x20
_0, _1, _2, _8, _9 = (np.uint64(number) for number in (0, 1, 2, 8, 9))


@intrinsic
def _ends_at(context: Any, data: Any, at: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(ir.IntType(8), WIDTH)
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]])
        there = builder.load(builder.bitcast(place, vector.as_pointer()), align=1)
        comma, blank = (ir.Constant(vector, [value] * WIDTH) for value in (COMMA, BLANK))
        ends = builder.or_(builder.icmp_unsigned("==", there, comma), builder.icmp_unsigned("<=", there, blank))
        return builder.bitcast(ends, ir.IntType(WIDTH))

    return types.uint64(data, types.int64), build


@part
def _checked_ends_at(data, at):
    ends = _0
    for place in range(WIDTH):
        ends |= np.uint64(data[at + place] == COMMA or data[at + place] <= BLANK) << np.uint64(place)
    return ends


ends_at = _checked_ends_at if config.BOUNDSCHECK else _ends_at
"""``ends_at(data, at)``: which of the 64 bytes from ``at`` are commas, blanks or control characters, a bit each."""


@intrinsic
def ones_in(context: Any, word: Any) -> Any:
    """Return how many bits of a word are set."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


@intrinsic
def _equal_at(context: Any, codes: Any, at: Any, code: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lane, mask = ir.IntType(32), ir.IntType(LANES)
        vector = ir.VectorType(lane, LANES)
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]])
        there = builder.load(builder.bitcast(place, vector.as_pointer()), align=4)
        wanted = ir.Constant(vector, ir.Undefined)
        for number in range(LANES):
            wanted = builder.insert_element(wanted, builder.trunc(arguments[2], lane), ir.Constant(lane, number))
        equal = builder.bitcast(builder.icmp_unsigned("==", there, wanted), mask)
        return builder.zext(equal, ir.IntType(64))

    return types.uint64(codes, types.int64, types.int64), build


@part
def place_in(codes, first, stop, code):
    """Return where a code stands from ``first`` to ``stop``, -1 where it does not."""
    while first < stop and first + LANES <= len(codes):
        there = first + np.int64(trailing_zeros(_equal_at(codes, first, code)))
        if there < min(first + LANES, stop):
            return there
        first += LANES
    for place in range(first, stop):
        if codes[np.uint64(place)] == code:
            return place
    return np.int64(-1)


@outlined
def find_ends(data, at, stop, ends):
    """Find where the cells from ``at`` on end.

    Parameters
    ----------
    data : uint8 array
        Readable for 64 bytes beyond ``stop``.
    at, stop : int64
    ends : int64 array
        Receives ``at - 1`` and then the place of the byte after each cell; its last 72 places are room to work in.

    Returns
    -------
    int64 : how many cells were found; all there are, unless they are as many as fit.
    """
    ends[0] = at - 1
    count = np.int64(1)
    while at < stop and count <= len(ends) - WIDTH - EIGHT:
        found = ends_at(data, at)
        if stop - at < WIDTH:
            found &= (_1 << np.uint64(stop - at)) - _1
        first, count = count, count + np.int64(ones_in(found))
        while found:
            for place in range(EIGHT):  # mostly enough, and a fixed number is foretold
                ends[np.uint64(first + place)] = at + np.int64(trailing_zeros(found))
                found &= found - _1
            first += EIGHT
        at += WIDTH
    return count - 1


@part
def _plain_number(data, begin, size):
    """Return (value, True) of one digit, a point and one to eight more; else (NaN, False)."""
    head, word = word_at(data, begin) ^ ZEROS, word_at(data, begin + 2) ^ ZEROS
    digits = size - 2
    plain = (head & BYTE) <= _9 and ((head >> _8) & BYTE) == POINT_AFTER_XOR
    if not (plain and 0 < digits <= 8 and digits_in(word) >= digits):
        return np.nan, False
    whole = (head & BYTE) * WHOLE_TENS[np.uint64(digits)] + number_of(word, digits)
    return np.float64(np.int64(whole)) / TENS[np.uint64(digits)], True


@part
def _longer_number(data, begin, size):
    """Return (value, True) of one digit, a point and nine to fourteen more; else (NaN, False)."""
    head, word = word_at(data, begin) ^ ZEROS, word_at(data, begin + 2) ^ ZEROS
    more, digits = word_at(data, begin + 10) ^ ZEROS, size - 10
    plain = (head & BYTE) <= _9 and ((head >> _8) & BYTE) == POINT_AFTER_XOR
    if not (plain and 0 < digits <= 6 and digits_in(word) == 8 and digits_in(more) >= digits):
        return np.nan, False
    whole = (head & BYTE) * WHOLE_TENS[8] + number_of(word, 8)
    whole = whole * WHOLE_TENS[np.uint64(digits)] + number_of(more, digits)
    return np.float64(np.int64(whole)) / TENS[np.uint64(8 + digits)], True


@outlined
def _odd_numbers(data, ends, first, step, values):
    """Read those that are NaN so far in every way there is; tell whether all are numbers."""
    for row in range(len(values)):
        if np.isnan(values[row]):
            cell = first + row * step
            values[row], end = number_at(data, ends[cell] + 1)
            if end == 0 or end != ends[cell + 1]:
                return False
    return True


@outlined
def numbers_of(data, ends, first, step, values):
    """Read a number out of every ``step``-th cell from ``first`` on; tell whether all are numbers.

    Parameters
    ----------
    data, ends
        As :func:`find_ends` left them.
    first, step : int64
    values : float64 array
        Receives as many as it has places.
    """
    plain = True
    if ends[first + 1] - ends[first] <= 11:
        for row in range(len(values)):
            cell = np.uint64(first + row * step)
            begin = ends[cell] + 1
            values[np.uint64(row)], fine = _plain_number(data, begin, ends[cell + _1] - begin)
            plain &= fine
    else:
        for row in range(len(values)):
            cell = np.uint64(first + row * step)
            begin = ends[cell] + 1
            values[np.uint64(row)], fine = _longer_number(data, begin, ends[cell + _1] - begin)
            plain &= fine
    return plain or _odd_numbers(data, ends, first, step, values)


@outlined
def _rare_code(data, begin, end, index, closed):
    """Return (code, True) of a text that is long, unknown or not where it is looked for first."""
    code, its_end, _ = text_at(data, begin, index)
    return code, its_end == end and (code >= 0 or not (closed or not is_plain(data, begin, end)))


@outlined
def codes_of(data, ends, first, step, index, closed, codes):
    """Look up the text of every ``step``-th cell from ``first`` on; tell whether all are sound.

    Parameters
    ----------
    data, ends, first, step
        As for :func:`numbers_of`.
    index : TextIndex
    closed : bool
        Whether an unknown text is a defect.
    codes : int64 array
        Receives as many as it has places, -1 for what the index does not have.
    """
    for row in range(len(codes)):
        cell = np.uint64(first + row * step)
        begin = ends[cell] + 1
        size = ends[cell + _1] - begin
        one = first_bytes(word_at(data, begin), min(size, 8))
        two = first_bytes(word_at(data, begin + 8), min(max(size - 8, 0), 8))
        code = np.int64(index.slots[np.uint64(slot_of(hashed(SPREAD, one, two), index.slots))])
        start = np.uint64(index.starts[np.uint64(max(code, 0))])
        short = code >= 0 and 0 < size <= 16 and np.uint64(index.starts[np.uint64(code + 1)]) == start + _2
        if short and index.words[start] == one and index.words[start + _1] == two:
            codes[np.uint64(row)] = code
        else:
            codes[np.uint64(row)], sound = _rare_code(data, begin, begin + size, index, closed)
            if not sound:
                return False
    return True


class Batch(NamedTuple):
    """Predictions that have been read and not yet taken; one thread's, to work in.

    Attributes
    ----------
    ends : int64 array
        As :func:`find_ends` leaves them.
    codes : int64 array of shape (texts, BATCH_ROWS)
    places : int64 array of shape (BATCH_ROWS,)
        The class of each among all verified ones, -1 where it is not verified in the image.
    numbers : float64 array of shape (numbers, BATCH_ROWS)
    """

    ends: NDArray[np.int64]
    codes: NDArray[np.int64]
    places: NDArray[np.int64]
    numbers: NDArray[np.float64]

    @classmethod
    def empty(cls, *, texts: int, numbers: int) -> "Batch":
        """Return one for predictions of so many cells."""
        ends = np.empty((texts + numbers) * BATCH_ROWS + 1 + WIDTH + EIGHT, np.int64)
        codes, places = np.empty((texts, BATCH_ROWS), np.int64), np.empty(BATCH_ROWS, np.int64)
        return cls(ends, codes, places, np.empty((numbers, BATCH_ROWS)))


BATCH = types.NamedTuple((types.int64[::1], types.int64[:, ::1], types.int64[::1], types.float64[:, ::1]), Batch)


@part
def follows(data, ends, cell, byte):
    """Tell whether this byte stands after a cell."""
    return byte_at(data, ends[np.uint64(cell + 1)]) == byte
