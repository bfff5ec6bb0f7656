"""Reads one CSV line cell by cell.

The functions return the offset after a cell, which is a byte position in a block of lines. They return the offset 0 if
they cannot read the cell: it is not a number, or not in plain syntax, for example because of quotes (see
:mod:`evaluator.kernels.reading`).
"""

from evaluator.kernels.jit import inlined, subroutine
from evaluator.kernels.text.bits import byte_at
from evaluator.kernels.text.decimals import long_number_at, number_at, short_number_at
from evaluator.kernels.text.prediction_strings import COMMA, LINE_FEED, after_blanks, after_line


@subroutine
def cell_end(data, at, last):
    """Return the offset after the comma at ``at`` or, after the last cell of a line, the offset of the next line.

    The offset is 0 if there is no comma or line ending at ``at``.
    """
    if last:
        return after_line(data, at)
    return at + 1 if byte_at(data, at) == COMMA else 0


@subroutine
def _any_number_cell_at(data, at, last):
    """Read a number of any length with optional blanks. Return its value and the offset of the next cell or line."""
    value, end = long_number_at(data, at, LINE_FEED if last else COMMA)
    if end > 0:
        return value, end
    value, end = number_at(data, after_blanks(data, at))
    return (value, 0) if end == 0 else (value, cell_end(data, after_blanks(data, end), last))


@inlined
def cell_number_at(data, at, last):
    """Read a cell that contains a number. Return its value and the offset of the next cell or line."""
    value, end = short_number_at(data, at, LINE_FEED if last else COMMA)
    if end == 0:
        return _any_number_cell_at(data, at, last)
    return value, end
