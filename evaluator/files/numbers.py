"""Parses ASCII strings as finite numbers. The results are correctly rounded to float64."""

import re
from collections.abc import Sequence
from math import isinf

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import Limits
from evaluator.files.cells import shortened

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
SIZE = re.compile(r"[1-9][0-9]{0,4}")
MAX_SIDE = 2**14
# Number of strings that are parsed together as numbers. If parsing fails, the strings of the group are checked one by
# one.
PARSED_TOGETHER = 64
NUMBER_CHARACTERS = b"0123456789.eE+- "
NOT_FINITE_WORDS = frozenset({"nan", "inf", "infinity"})


def parse(texts: Sequence[str], limits: Limits) -> NDArray[np.float64] | None:
    """Return the numbers that strings represent, or None if any string is not a finite decimal number.

    Each number is the float64 nearest to the decimal string, as in Python's ``float()``. Some strings that ``float()``
    accepts are rejected: nan, inf, and strings with underscores or non-ASCII digits.

    Parameters
    ----------
    texts : sequence of N str, without surrounding white space

    Returns
    -------
    float64 array of shape (N,), or None. If None, :func:`invalid_indices` returns which strings are invalid.

    Examples
    --------
    >>> parse(["0.5", "+.5", "5e-1"], Limits())
    array([0.5, 0.5, 0.5])
    >>> parse(["1_0"], Limits()) is None
    True
    """
    if max(map(len, texts), default=0) > limits.number_characters:
        return None
    # Strings with other characters are rejected here, because float() accepts some of them, such as underscores.
    if " ".join(texts).encode().translate(None, NUMBER_CHARACTERS):
        return None
    try:
        numbers = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def size_defect(text: str) -> tuple[str, str] | None:
    """Return the code and message of a defect if ``text`` is not a valid image width or height, otherwise None.

    >>> size_defect("640") is None
    True
    """
    if not text:
        return "missing_value", "a size is missing"
    if SIZE.fullmatch(text) and int(text) <= MAX_SIDE:
        return None
    return "not_a_number", f"{shortened(text)} is not a size; expected a whole number from 1 to {MAX_SIDE}"


def invalid_indices(texts: Sequence[str], limits: Limits) -> list[int]:
    """Return the indices of the strings that are not finite decimal numbers, in ascending order.

    >>> invalid_indices(["0.5", "nan", "0.5", "0,5"], Limits())
    [1, 3]
    """
    wrong: list[int] = []
    for start in range(0, len(texts), PARSED_TOGETHER):
        part = texts[start : start + PARSED_TOGETHER]
        if parse(part, limits) is None:
            wrong += [index for index, text in enumerate(part, start) if not _is_number(text, limits)]
    return wrong


def _is_number(text: str, limits: Limits) -> bool:
    return len(text) <= limits.number_characters and bool(NUMBER.fullmatch(text)) and not isinf(float(text))


def number_defect(text: str, limits: Limits) -> tuple[str, str]:
    """Return the code and message of the defect in a string that is not a finite decimal number.

    >>> number_defect("nan", Limits())
    ('not_finite', "'nan' is not finite; expected a decimal number such as 0.25")
    """
    if not text:
        return "missing_value", "a number is missing"
    if len(text) > limits.number_characters:
        return (
            "field_too_long",
            f"{shortened(text)} has {len(text)} characters; a number can have at most {limits.number_characters}",
        )
    if NUMBER.fullmatch(text):
        return "not_finite", f"{shortened(text)} is too large for a float64"
    if text.lstrip("+-").lower() in NOT_FINITE_WORDS:
        return "not_finite", f"{shortened(text)} is not finite; expected a decimal number such as 0.25"
    return "not_a_number", f"{shortened(text)} is not a number; expected a decimal number such as 0.25"
