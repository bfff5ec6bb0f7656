"""Reads the tokens of a prediction string: numbers and labels separated by blanks.

The functions return the offset after a token, which is a byte position in a block of lines. They return the offset 0 if
they cannot read the token, for example because it is not in plain syntax (see :mod:`evaluator.kernels.reading`).
"""

import numpy as np

from evaluator.kernels.jit import inlined, subroutine
from evaluator.kernels.text.bits import byte_at, prefetch
from evaluator.kernels.text.decimals import long_number_at, number_at, short_number_at
from evaluator.kernels.text.vectors import AHEAD, EIGHT, WIDTH, ends_and_separators_at, write_ends

TAB, LINE_FEED, RETURN, BLANK, COMMA = 0x09, 0x0A, 0x0D, 0x20, 0x2C
_0, _1 = np.uint64(0), np.uint64(1)


@inlined
def after_blanks(data, at):
    """Return the offset of the next byte that is neither space nor tab."""
    while byte_at(data, at) == BLANK or byte_at(data, at) == TAB:
        at += 1
    return at


@inlined
def after_line(data, at):
    """Return the offset of the next line if a line ends at ``at``; otherwise, return 0."""
    if byte_at(data, at) == RETURN:
        at += 1
    return at + 1 if byte_at(data, at) == LINE_FEED else 0


@subroutine
def _any_token_number_at(data, at):
    """Read a number of any length. Return its value and an offset after it.

    The offset is that of the next token or the line end, or of a blank before it.
    """
    value, end = long_number_at(data, at, BLANK)
    if end > 0:
        return value, end
    value, at = number_at(data, after_blanks(data, at))
    if at == 0 or byte_at(data, at) not in (BLANK, TAB, LINE_FEED, RETURN):
        return 0.0, 0
    return value, after_blanks(data, at)


@inlined
def token_number_at(data, at):
    """Read a number. Return its value and an offset after it.

    The offset is that of the next token or the line end, or of a blank before it.
    """
    value, end = short_number_at(data, at, BLANK)
    if end == 0:
        return _any_token_number_at(data, at)
    return value, end


@subroutine
def token_ends_at(data, at, ends):
    """Find the ends of the next tokens of a line, which must be separated by single blanks.

    Parameters
    ----------
    data : uint8 array
        Must be readable for 64 bytes beyond the end of the line.
    at : int64
        Offset of the first token.
    ends : int64 array
        Receives ``at - 1``, followed by the offset after each token. Its last 72 elements are scratch memory.

    Returns
    -------
    int64
        The number of tokens found, at least 1. If it is less than the length of ``ends`` minus 72, a byte that is not a
        blank, such as a line feed, follows the last of them. Two blanks in succession enclose an empty token.
    """
    ends[0] = at - 1
    count, others = np.int64(1), _0
    while others == _0 and count <= len(ends) - WIDTH - EIGHT:
        prefetch(data, at + AHEAD)
        found, blanks = ends_and_separators_at(data, at, BLANK)
        others = found & ~blanks
        # The separators after the first one that is not a blank belong to the next line. Without such a separator, the
        # mask has all bits.
        found &= others ^ (others - _1)
        count = write_ends(found, at, ends, count)
        at += WIDTH
    return count - 1
