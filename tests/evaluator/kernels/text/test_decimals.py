"""The kernels read the same numbers as Python's ``float()``."""

import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evaluator.kernels.text.decimals import numbers_between_blanks


def read(*texts: str) -> list[float | None]:
    """Return the number that the kernels read from each token, or None if they do not accept the token."""
    tokens = [text.encode() for text in texts]
    data = np.frombuffer(b" " + b"".join(token + b" " for token in tokens) + bytes(64), np.uint8)
    values, ends = np.empty(len(tokens)), np.empty(len(tokens), np.int64)
    numbers_between_blanks(data, values, ends)
    stops = np.cumsum([len(token) + 1 for token in tokens])
    return [
        value if end == stop else None for value, end, stop in zip(values.tolist(), ends.tolist(), stops, strict=True)
    ]


def same(one: float | None, other: float) -> bool:
    return one is not None and struct.pack("d", one) == struct.pack("d", other)


@settings(max_examples=2_000)
@given(
    st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["{!r}", "{:.17g}", "{:.3f}", "{:e}", "{:.30e}"])
)
def test_printed_floats_are_read_as_float_reads_them(value: float, form: str) -> None:
    text = form.format(value)
    if len(text) <= 64:
        assert same(read(text)[0], float(text))


@settings(max_examples=2_000)
@given(st.from_regex(r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][+-]?[0-9]{1,4})?", fullmatch=True))
@example("9007199254740993")
@example("2.2250738585072011e-308")
@example("8.5e-324")
@example("0" * 60 + ".5")
def test_any_decimal_is_read_as_float_reads_it(text: str) -> None:
    expected = float(text)
    (value,) = read(text)
    assert value is None if math.isinf(expected) or len(text) > 64 else same(value, expected)


@settings(max_examples=2_000)
@given(st.integers(0, 9), st.text("0123456789", min_size=1, max_size=17))
def test_one_digit_and_a_fraction_are_read_as_float_reads_them(whole: int, fraction: str) -> None:
    text = f"{whole}.{fraction}"
    assert same(read(text)[0], float(text))


@settings(max_examples=2_000)
@given(st.integers(2**53, 2**54 - 1), st.integers(-40, 40))
def test_ties_between_two_floats_are_rounded_as_float_rounds_them(odd: int, power: int) -> None:
    """The cases are numbers exactly halfway between two floats, and decimals slightly above them."""
    exact = (odd * 2 + 1) * 2**power if power >= 0 else None
    for text in [f"{exact or odd * 2 + 1}{suffix}" for suffix in ("", ".0", ".000000001")]:
        if len(text) <= 64:
            assert same(read(text)[0], float(text))


@pytest.mark.parametrize(
    "text",
    ["", "-", "+", ".", "e5", "1e", "1e+", "nan", "inf", "Infinity", "0x10", "1_0", "1e999", "-1e999", "0,5", "--1"],
)
def test_text_that_is_not_a_finite_decimal_is_refused(text: str) -> None:
    assert read(text) == [None]


@pytest.mark.parametrize("text", ["1" * 65, f"0.{'0' * 63}1", "٣", "1.2.3", "1e5.0"])
def test_a_number_that_is_too_long_or_followed_by_other_text_is_refused(text: str) -> None:
    assert read(text) == [None]


def test_several_tokens_are_read_in_order() -> None:
    texts: list[Any] = ["0.5", "0.123456", "1", "+.5", "1e-5", "0.12345678", "0.123456789"]
    assert read(*texts) == [float(text) for text in texts]
