"""Cells of one CSV line, byte by byte."""

from evaluator.kernels.jit import outlined, part
from evaluator.kernels.text.bits import byte_at
from evaluator.kernels.text.decimals import longer_number_at, number_at, quick_number_at
from evaluator.kernels.text.prediction_strings import COMMA, LINE_FEED, RETURN, after_blanks


@outlined
def cell_end(data, at, last):
    """Return the place after the comma, or after the line end in the last cell, that stands at ``at``; else 0."""
    if not last:
        return at + 1 if byte_at(data, at) == COMMA else 0
    if byte_at(data, at) == RETURN:
        at += 1
    return at + 1 if byte_at(data, at) == LINE_FEED else 0


@outlined
def _blank_number_at(data, at, last):
    """Return (value, place of the next cell) of a number that is long or has blanks around it; 0 where it is odd."""
    value, end = longer_number_at(data, at, LINE_FEED if last else COMMA)
    if end > 0:
        return value, end
    value, end = number_at(data, after_blanks(data, at))
    return (value, 0) if end == 0 else (value, cell_end(data, after_blanks(data, end), last))


@part
def cell_number_at(data, at, last):
    """Return (value, place of the next cell or line); place 0 where it is odd."""
    value, end = quick_number_at(data, at, LINE_FEED if last else COMMA)
    if end == 0:
        return _blank_number_at(data, at, last)
    return value, end
