"""Reading of one CSV line cell by cell.

Offsets are positions of bytes in the block. The offset 0 means that a cell is not plain or is not a number.
"""

from evaluator.kernels.jit import inlined, subroutine
from evaluator.kernels.text.bits import byte_at
from evaluator.kernels.text.decimals import long_number_at, number_at, short_number_at
from evaluator.kernels.text.prediction_strings import COMMA, LINE_FEED, RETURN, after_blanks


@subroutine
def cell_end(data, at, last):
    """Return the offset after the comma at ``at`` (for the last cell, after the line ending); 0 if there is none."""
    if not last:
        return at + 1 if byte_at(data, at) == COMMA else 0
    if byte_at(data, at) == RETURN:
        at += 1
    return at + 1 if byte_at(data, at) == LINE_FEED else 0


@subroutine
def _any_number_cell_at(data, at, last):
    """Return (value, offset of the next cell) of a number of any length, with or without blanks around it."""
    value, end = long_number_at(data, at, LINE_FEED if last else COMMA)
    if end > 0:
        return value, end
    value, end = number_at(data, after_blanks(data, at))
    return (value, 0) if end == 0 else (value, cell_end(data, after_blanks(data, end), last))


@inlined
def cell_number_at(data, at, last):
    """Return (value, offset of the next cell or line) of a cell with a number."""
    value, end = short_number_at(data, at, LINE_FEED if last else COMMA)
    if end == 0:
        return _any_number_cell_at(data, at, last)
    return value, end
