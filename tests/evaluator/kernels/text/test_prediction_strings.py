"""Tests the function that finds the ends of all tokens of a prediction string."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evaluator.kernels.text.prediction_strings import token_ends_at


def bytes_of(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode() + bytes(128), np.uint8)


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
