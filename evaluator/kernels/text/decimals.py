"""Converts decimal strings to the nearest float64. The results equal those of Python's ``float()``.

There are three algorithms. Each is used for numbers that the previous algorithm cannot convert:

* up to 15 digits and a small power of ten: one exact product or quotient
  (Clinger 1990, "How to read floating point numbers accurately");
* up to 19 digits: a 128-bit product with a truncated power of five
  (Lemire 2021, "Number parsing at a gigabyte per second", after Eisel);
* all other numbers, about one in several million: the C library's ``strtod``, which also rounds correctly.
"""

from typing import Any

import numpy as np
from numba import types

from evaluator.kernels.jit import inlined, kernel, read_only, subroutine
from evaluator.kernels.text.bits import (
    as_float,
    byte_at,
    digits_in,
    first_bytes,
    high_product,
    leading_zeros,
    strtod,
    word_at,
)

CHARACTERS = 64
BLANK, PLUS, MINUS, POINT = 0x20, 0x2B, 0x2D, 0x2E
ZEROS = np.uint64(0x3030303030303030)
BYTE = np.uint64(0xFF)
POINT_AFTER_XOR = np.uint64(POINT ^ 0x30)
TENS = np.array([float(f"1e{power}") for power in range(23)])
WHOLE_TENS = 10 ** np.arange(20, dtype=np.uint64)
# If an integer is at most element i of this array, any i digits can be appended to it without reaching 10**19.
LARGEST_BEFORE = (np.uint64(10**19) - np.uint64(1)) // WHOLE_TENS - np.uint64(1)
LOWEST_POWER, HIGHEST_POWER = -342, 308
UNDECIDED = np.uint64(0xFFFFFFFFFFFFFFFF)
LONG_DECIMALS = 14  # The most decimals of a number that :func:`long_number` can convert.
EXACT_INTEGERS = np.uint64(1 << 53)


def _powers_of_five() -> Any:
    """Return the 128 most significant bits of 5**q, beginning with a 1, for each q from -342 to 308.

    The bits are truncated if q is positive, and rounded up if q is negative. The result is a uint64 array of shape
    (651, 2). The first column contains the upper 64 bits.
    """
    table = []
    for power in range(LOWEST_POWER, HIGHEST_POWER + 1):
        if power >= 0:
            size = (5**power).bit_length()
            bits = 5**power << (128 - size) if size <= 128 else 5**power >> (size - 128)
        else:
            divisor = 5**-power
            bits = (1 << (127 + divisor.bit_length())) // divisor + 1
        table.append((bits >> 64, bits & (2**64 - 1)))
    return np.array(table, np.uint64)


POWERS_OF_FIVE = _powers_of_five()
_0, _1, _2, _8, _9, _16, _32, _64 = (np.uint64(number) for number in (0, 1, 2, 8, 9, 16, 32, 64))
_PAIRS = np.uint64(0x000000FF000000FF)
_TO_MILLIONS = np.uint64(0x000F424000000064)
_TO_TEN_THOUSANDS = np.uint64(0x0000271000000001)


@inlined
def number_of(word, count):
    """Parse the first ``count`` bytes (1 to 8) of a word as an integer, with three multiplications (Lemire 2021)."""
    digits = word << np.uint64(64 - 8 * count)
    digits = digits * np.uint64(10) + (digits >> _8)
    return (((digits & _PAIRS) * _TO_MILLIONS) + (((digits >> _16) & _PAIRS) * _TO_TEN_THOUSANDS)) >> _32


@inlined
def short_number(data, begin, size):
    """Convert the most common notation: one digit, a point and one to eight digits.

    Parameters
    ----------
    data : uint8 array
        Must be readable for 10 bytes from ``begin`` on.
    begin, size : int64
        Offset and length of the text.

    Returns
    -------
    value : float64
        NaN if the text has a different notation, which :func:`number_at` may be able to read.
    is_short : bool
        Whether the text has this notation.
    """
    head, word, digits = word_at(data, begin) ^ ZEROS, word_at(data, begin + 2) ^ ZEROS, size - 2
    plain = (head & BYTE) <= _9 and ((head >> _8) & BYTE) == POINT_AFTER_XOR
    if not (plain and 0 < digits <= 8 and digits_in(word) >= digits):
        return np.nan, False
    # All numbers are read as multiples of 10**-8. A float64 represents such an integer and 10**8 exactly, so the
    # quotient is rounded only once.
    whole = (head & BYTE) * WHOLE_TENS[8] + number_of(first_bytes(word, digits), 8)
    return np.float64(np.int64(whole)) / TENS[8], True


@inlined
def short_number_at(data, at, stop):
    """Read a number in the notation of :func:`short_number`, which must be followed by the byte ``stop``.

    Return the value and the offset after ``stop``; the offset is 0 if the number has a different notation. ``data`` and
    ``at`` are as for :func:`number_at`.
    """
    size = 2 + digits_in(word_at(data, at + 2) ^ ZEROS)
    value, is_short = short_number(data, at, size)
    return (value, at + size + 1) if is_short and byte_at(data, at + size) == stop else (0.0, 0)


@inlined
def long_number(data, begin, size):
    """Convert a number that consists of one digit, a point and 9 to 14 digits.

    The parameters and the result are the same as for :func:`short_number`, but ``data`` must be readable for 18 bytes.
    A float64 represents integers of 15 digits and 10**14 exactly, so their quotient is rounded only once.
    """
    head, word, more = word_at(data, begin) ^ ZEROS, word_at(data, begin + 2) ^ ZEROS, word_at(data, begin + 10) ^ ZEROS
    plain, digits = (head & BYTE) <= _9 and ((head >> _8) & BYTE) == POINT_AFTER_XOR, size - 10
    if not (plain and 0 < digits <= 6 and digits_in(word) == 8 and digits_in(more) >= digits):
        return np.nan, False
    whole = (head & BYTE) * WHOLE_TENS[8] + number_of(word, 8)
    whole = whole * WHOLE_TENS[6] + number_of(first_bytes(more, digits), 6)
    return np.float64(np.int64(whole)) / TENS[LONG_DECIMALS], True


@subroutine
def long_number_at(data, at, stop):
    """Read a number in the notation of :func:`long_number`.

    The parameters and the result are the same as for :func:`short_number_at`.
    """
    size = 10 + digits_in(word_at(data, at + 10) ^ ZEROS)
    value, is_long = long_number(data, at, size)
    return (value, at + size + 1) if is_long and byte_at(data, at + size) == stop else (0.0, 0)


@subroutine
def _digits_at(data, at, whole):
    """Append the digits that start at the offset ``at`` to the integer ``whole``.

    Return the new integer, the offset after the digits, and whether the integer is certainly below 10**19. If it is
    not, it may have overflowed.
    """
    fits = True
    while True:
        word = word_at(data, at) ^ ZEROS
        count = digits_in(word)
        if count == 0:
            return whole, at, fits
        fits = fits and whole <= LARGEST_BEFORE[count]
        whole = whole * WHOLE_TENS[count] + number_of(word, count)
        at += count
        if count < 8:
            return whole, at, fits


@subroutine
def _exponent_at(data, at):
    """Return (exponent, offset after it); (0, ``at``) if there is no exponent, (0, 0) if the exponent has no digits."""
    # The exponent of a number begins with "e" or "E", which differ only in the bit 0x20.
    if byte_at(data, at) | 0x20 != 0x65:
        return 0, at
    at += 1
    negative = byte_at(data, at) == MINUS
    if negative or byte_at(data, at) == PLUS:
        at += 1
    begin, exponent = at, 0
    while 0x30 <= byte_at(data, at) <= 0x39:
        exponent = min(exponent * 10 + np.int64(byte_at(data, at)) - 0x30, 99_999)
        at += 1
        if at - begin > CHARACTERS:
            break
    if at == begin:
        return 0, 0
    return (-exponent if negative else exponent), at


@subroutine
def _nearest(whole, power):
    """Return the float64 nearest to ``whole`` × 10**power, and whether it could be determined."""
    if whole <= EXACT_INTEGERS and -22 <= power <= 22:
        exact = np.float64(np.int64(whole))
        return (exact / TENS[-power] if power < 0 else exact * TENS[power]), True
    if whole == _0 or power < LOWEST_POWER:
        return 0.0, True
    if power > HIGHEST_POWER:
        return np.inf, True
    bits = _eisel_lemire(whole, power)
    return as_float(bits), bits != UNDECIDED


@subroutine
def _eisel_lemire(whole, power):
    """Return the bits of the float64 nearest to whole × 10**power, or UNDECIDED.

    The result is UNDECIDED if the number is subnormal, or too near a tie for the precision of a 128-bit product.
    """
    shift = leading_zeros(whole)
    whole <<= shift
    high_five, low_five = POWERS_OF_FIVE[power - LOWEST_POWER, 0], POWERS_OF_FIVE[power - LOWEST_POWER, 1]
    low, high = whole * high_five, high_product(whole, high_five)
    if (high & np.uint64(0x1FF)) == np.uint64(0x1FF):
        more = high_product(whole, low_five)
        low += more
        if low < more:
            high += _1
    if low == UNDECIDED and not -27 <= power <= 55:
        return UNDECIDED
    upper = high >> np.uint64(63)
    mantissa = high >> (upper + np.uint64(9))
    exponent = ((217706 * power) >> 16) + 1086 + np.int64(upper) - np.int64(shift)
    if exponent <= 0:
        return UNDECIDED
    half = low <= _1 and -4 <= power <= 23 and (mantissa & np.uint64(3)) == _1
    if half and (mantissa << (upper + np.uint64(9))) == high:
        mantissa &= ~_1  # A number halfway between two float64 values is rounded to the even mantissa.
    mantissa = (mantissa + (mantissa & _1)) >> _1
    if mantissa >= np.uint64(1 << 53):
        mantissa = np.uint64(1 << 52)
        exponent += 1
    if exponent >= 2047:
        return np.uint64(2047 << 52)
    return (mantissa & np.uint64((1 << 52) - 1)) | (np.uint64(exponent) << np.uint64(52))


@subroutine
def _by_library(data, at, end):
    """Return the number that ``strtod`` reads, or infinity if it stops before ``end``. Callers reject infinity."""
    value, length = strtod(data, at)
    return value if length == end - at else np.inf


@subroutine
def number_at(data, at):
    """Read a decimal number.

    Parameters
    ----------
    data : uint8 array
        Must be readable for 24 bytes beyond the first byte that cannot belong to a number.
    at : int64

    Returns
    -------
    value : float64, finite
    end : int64
        The offset after the number; 0 if there is no finite decimal of at most 64 characters. The caller has to check
        the byte at ``end``.
    """
    begin = at
    if byte_at(data, at) == MINUS or byte_at(data, at) == PLUS:
        at += 1
    whole, point, fits = _digits_at(data, at, _0)
    end, power = point, 0
    if byte_at(data, point) == POINT:
        whole, end, still = _digits_at(data, point + 1, whole)
        fits = fits and still
        power = point + 1 - end
    if end - at - (end > point) == 0:
        return 0.0, 0
    exponent, end = _exponent_at(data, end)
    power += exponent
    if end == 0 or end - begin > CHARACTERS:
        return 0.0, 0
    value, decided = _nearest(whole, power) if fits else (0.0, False)
    if not decided:
        value = _by_library(data, at, end)
    if not value < np.inf:
        return 0.0, 0
    return (-value if byte_at(data, begin) == MINUS else value), end


@kernel(read_only(types.uint8), types.float64[::1], types.int64[::1])
def numbers_between_blanks(data, values, ends):
    """Read numbers that are separated by blanks. Only tests use this function.

    ``ends`` receives 0 for a token that is not a number.
    """
    at = 1
    for token in range(len(values)):
        values[token], end = short_number_at(data, at, BLANK)
        if end == 0:
            values[token], end = long_number_at(data, at, BLANK)
        ends[token] = end - 1
        if end == 0:
            values[token], ends[token] = number_at(data, at)
        while byte_at(data, at) != BLANK:
            at += 1
        at += 1
