"""Tests the functions that read several tokens of a prediction string at once."""

import re

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evaluator.kernels.text.prediction_strings import four_numbers_after, six_ends_at, token_ends_at

SHORT = re.compile(r"[0-9]\.[0-9]{1,8}")
NUMBERS = st.one_of(
    st.decimals(0, 9, places=6).map(str),
    st.from_regex(r"[0-9]\.[0-9]{0,9}", fullmatch=True),
    st.sampled_from(["0", "1", "", ".5", "0.", "0,5", "-0.25", "0.x", "0.1234567x", "x.25", "10.25", "0.123456789012"]),
)
TOKENS = st.lists(st.text("ab0./", max_size=14), min_size=6, max_size=6)


def bytes_of(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode() + bytes(128), np.uint8)


@settings(max_examples=500, deadline=None)
@given(st.lists(NUMBERS, min_size=4, max_size=4))
def test_four_numbers_are_read_if_all_are_short(tokens: list[str]) -> None:
    ends = np.cumsum([0, *(len(token) + 1 for token in tokens)])
    numbers, are_short = four_numbers_after(bytes_of(" " + " ".join(tokens)), tuple(ends.tolist()))
    assert are_short == all(SHORT.fullmatch(token) for token in tokens)
    if are_short:
        assert list(numbers) == [float(token) for token in tokens]


@settings(max_examples=500, deadline=None)
@given(TOKENS, st.sampled_from(" \n\t\r,"))
@example(["/m/0abc", "0.123456", "0.123456", "0.123456", "0.123456", "0.123456"], "\n")
@example(["a" * 58, "", "", "", "", ""], " ")
@example(["a" * 59, "", "", "", "", ""], " ")
def test_six_tokens_are_found_within_64_bytes(tokens: list[str], last: str) -> None:
    ends, found = six_ends_at(bytes_of(" ".join(tokens) + last), 0)
    expected = np.cumsum([len(token) + 1 for token in tokens]) - 1
    assert found == (expected[-1] < 64)
    if found:
        assert list(ends) == expected.tolist()


@settings(deadline=None)
@given(TOKENS, st.integers(0, 4), st.sampled_from("\n\t\r,\x01"))
def test_only_blanks_separate_tokens(tokens: list[str], place: int, other: str) -> None:
    between = [" "] * 5
    between[place] = other
    _, found = six_ends_at(bytes_of("".join(map("".join, zip(tokens, [*between, " "], strict=True)))), 0)
    assert not found


@settings(deadline=None)
@given(st.lists(st.text("ab0./", max_size=14), min_size=1, max_size=100), st.sampled_from("\n\t\r,\x01"))
def test_all_tokens_of_a_line_are_found_and_none_of_the_next_line(tokens: list[str], last: str) -> None:
    ends = np.zeros(300, np.int64)
    count = token_ends_at(bytes_of(" ".join(tokens) + last + "next line"), 0, ends)
    expected = np.cumsum([0, *(len(token) + 1 for token in tokens)]) - 1
    assert ends[: count + 1].tolist() == expected.tolist()


def test_tokens_beyond_a_batch_are_left_for_the_next_batch() -> None:
    ends = np.zeros(201, np.int64)
    count = token_ends_at(bytes_of(" " * 2_000), 0, ends)
    assert len(ends) - 72 <= count < len(ends)
    assert ends[: count + 1].tolist() == list(range(-1, count))
