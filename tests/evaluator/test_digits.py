"""Tests how numbers are published: rounded intervals contain the exact intervals, and zero never has a minus sign.

The width of an interval determines its number of digits.
"""

from decimal import Decimal
from math import floor, log10

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.cli import compare, scoreboard
from evaluator.comparison import Difference, SplitComparison
from evaluator.digits import Interval, outward, published, supported_decimals, written
from evaluator.report import SplitReport

ends = st.floats(-1, 1, allow_nan=False)
intervals = st.tuples(ends, ends).map(lambda pair: (min(pair), max(pair)))


@given(intervals)
def test_a_published_interval_contains_the_exact_one_and_is_at_most_a_tenth_wider(exact: Interval) -> None:
    low, high = published(exact)
    assert low <= exact[0] <= exact[1] <= high
    width = Decimal(repr(exact[1])) - Decimal(repr(exact[0]))
    # The ends of a published interval are rounded to two significant digits of the half-width, that is, by at most a
    # tenth of the half-width.
    step = width / 2 / 10
    assert Decimal(repr(high)) - Decimal(repr(low)) <= width + 2 * step


@given(intervals)
def test_a_published_interval_has_two_digits_of_the_half_width(exact: Interval) -> None:
    """The endpoints of a published interval are rounded to the second significant digit of its half-width.

    For example, they are rounded to 0.001 if the half-width is 0.0123.
    """
    half = (Decimal(repr(exact[1])) - Decimal(repr(exact[0]))) / 2
    if half:
        for end in published(exact):
            assert Decimal(repr(end)) % Decimal(1).scaleb(half.adjusted() - 1) == 0


@given(intervals, st.integers(1, 10))
def test_ends_have_no_more_decimals_than_rounded_scores(exact: Interval, decimals: int) -> None:
    low, high = published(exact, decimals=decimals)
    assert low <= exact[0] <= exact[1] <= high
    assert all(Decimal(repr(end)) % Decimal(1).scaleb(-decimals) == 0 for end in (low, high))


@pytest.mark.parametrize(
    ("exact", "shown"),
    [
        # An interval from 0.1 to 0.3 is published unchanged, although floats cannot represent its ends exactly.
        ((0.1, 0.3), (0.1, 0.3)),
        ((0.600124, 0.606131), (0.6001, 0.6062)),
        ((0.98765, 1.0), (0.9876, 1.0)),
        ((-0.0123, -0.0001), (-0.0123, -0.0001)),
        ((0.5, 0.5), (0.5, 0.5)),
    ],
)
def test_interval_ends_are_rounded_outward_when_published(exact: Interval, shown: Interval) -> None:
    assert published(exact) == shown


def test_numpy_floats_are_published_like_python_floats() -> None:
    low, high = np.array([0.123456, 0.223456]).tolist()
    assert published((np.float64(low), np.float64(high))) == published((low, high))


@pytest.mark.parametrize(("half", "decimals"), [(0.4, 0), (0.05, 1), (0.0499, 1), (0.003, 2), (0.0005, 3), (6e-5, 3)])
def test_the_number_of_decimals_depends_on_the_width(half: float, decimals: int) -> None:
    assert supported_decimals((0.5 - half, 0.5 + half)) == decimals
    # If the width is a power of ten, floor(-log10(width)) can be off by one, because logarithms are rounded.
    assert half in (0.05, 0.0005) or decimals == floor(-log10(2 * half))


@given(st.floats(-2, 2), st.integers(0, 8), st.booleans())
def test_no_zero_is_negative(value: float, decimals: int, sign: bool) -> None:
    text = written(value, decimals, sign=sign)
    assert float(text) == round(float(f"{value:.{decimals}f}"), decimals)
    assert text[0] != "-" or float(text) != 0


def test_the_score_table_rounds_outward() -> None:
    part = SplitReport("mAP", {"mAP": 0.5}, intervals={"mAP": (0.400009, 0.600001)})
    assert scoreboard._score(part, "mAP") == "0.50000 [0.40000, 0.60001]"


def test_the_table_of_a_comparison_rounds_outward_and_has_no_negative_zero(capsys: pytest.CaptureFixture[str]) -> None:
    found = Difference(0.5, 0.5 - 1e-9, -1e-9, (-0.000019, -1e-9), "a_better")
    splits = {"all": SplitComparison("mAP", {"mAP": found}, [], won=0, lost=0, even=0)}
    compare._print(splits, compare_arguments(), "signature")
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("mAP")]
    assert line.split() == ["mAP", "0.50000", "0.50000", "+0.00000", "[-0.00002,", "+0.00000]", "A", "is", "better"]


def compare_arguments() -> compare.Namespace:
    return compare.Namespace(first="a.csv", second="b.csv", track="objectnet")


def test_a_difference_that_rounds_to_zero_is_zero() -> None:
    assert (compare.signed(-1e-9), compare.signed(-0.00002), compare.signed(0.25)) == (
        "+0.00000",
        "-0.00002",
        "+0.25000",
    )
    assert scoreboard._cell(-1e-9) == "0.00000"


@given(intervals, st.none() | st.integers(0, 10))
def test_no_end_is_a_negative_zero(exact: Interval, decimals: int | None) -> None:
    ends = published(exact, decimals=decimals)
    assert "-0.0" not in map(repr, ends)


@pytest.mark.parametrize("exact", [(-0.0123, -0.00001), (-0.0, 0.0), (-0.0, -0.0)])
def test_a_zero_end_of_a_difference_has_no_sign(exact: Interval) -> None:
    assert repr(published(exact)[1]) == repr(outward(exact, 3)[1]) == "0.0"


def test_an_interval_without_width_supports_no_decimal() -> None:
    assert supported_decimals((1.0, 1.0)) == supported_decimals((0.25, 0.25)) == 0


def test_outward_rounds_a_negative_lower_end_down() -> None:
    assert outward((-0.00019, -0.00011), 4) == (-0.0002, -0.0001)
