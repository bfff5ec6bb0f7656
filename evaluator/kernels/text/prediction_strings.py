"""Tokens of a prediction string: numbers and labels between blanks, up to the end of the line."""

from evaluator.kernels.jit import outlined, part
from evaluator.kernels.text.bits import byte_at
from evaluator.kernels.text.decimals import longer_number_at, number_at, quick_number_at

TAB, LINE_FEED, RETURN, BLANK, COMMA = 0x09, 0x0A, 0x0D, 0x20, 0x2C


@part
def after_blanks(data, at):
    """Return the place of the next byte that is neither space nor tab."""
    while byte_at(data, at) == BLANK or byte_at(data, at) == TAB:
        at += 1
    return at


@part
def after_line(data, at):
    """Return where the next line begins, if one ends here; else 0."""
    if byte_at(data, at) == RETURN:
        at += 1
    return at + 1 if byte_at(data, at) == LINE_FEED else 0


@outlined
def _spaced_number_at(data, at):
    """Return (value, place of the next token or line end); place 0 where it is no number or ends in something else."""
    if at == 0:
        return 0.0, 0
    value, end = longer_number_at(data, at, BLANK)
    if end > 0:
        return value, end
    value, at = number_at(data, after_blanks(data, at))
    if at == 0 or byte_at(data, at) not in (BLANK, TAB, LINE_FEED, RETURN):
        return 0.0, 0
    return value, after_blanks(data, at)


@part
def token_number_at(data, at):
    """Return (value, place of the next token, of a blank before it, or of the line's end); place 0 if it is odd."""
    value, end = quick_number_at(data, at, BLANK)
    if end == 0:
        return _spaced_number_at(data, at)
    return value, end
