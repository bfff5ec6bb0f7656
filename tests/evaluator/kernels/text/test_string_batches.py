"""Tests the kernels that read the predictions of a string into a batch."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evaluator.kernels.jit import subroutine
from evaluator.kernels.text.csv_blocks import Batch
from evaluator.kernels.text.lookup import index_of
from evaluator.kernels.text.string_batches import read_predictions

LABELS = ["/m/01", "/m/012", "cat", "a_label_of_more_than_sixteen_bytes"]
INDEX = index_of(LABELS)
# The tokens are a label, a number, a label and a number. Kind 0 is the image, and kinds 1 and 2 are the labels.
KIND_OF_TOKEN = (1, 3, 2, 4)
TOKEN_OF_KIND = (-1, 0, 2, 1, 3)
NUMBERS = st.one_of(
    st.decimals(0, 9, places=6).map(str),
    st.floats(0, 1).map(repr),
    st.sampled_from(["0", "1", "1e-05", "-0.25", "+0.5", "0.12345678901234567890"]),
)
PREDICTIONS = st.lists(
    st.tuples(st.sampled_from([*LABELS, "dog"]), NUMBERS, st.sampled_from(LABELS), NUMBERS), min_size=1
)


@subroutine
def _read(data, at, batch):
    closed = (False, False, True)
    return read_predictions(data, at, (INDEX, INDEX, INDEX), closed, KIND_OF_TOKEN, TOKEN_OF_KIND, batch)


def read(text: str) -> tuple[list[tuple[int, float, int, float]], int]:
    """Read the predictions of a line, and return them and the offset after them; 0 if they cannot be read."""
    data, batch = bytes_of(text), Batch.empty(texts=3, numbers=2)
    found: list[tuple[int, float, int, float]] = []
    at, end = 0, text.index("\n")
    while text[at:end].strip():
        at += len(text[at:]) - len(text[at:].lstrip(" \t"))
        rows, at = _read(data, at, batch)
        if rows == 0 or at == 0:
            return found, 0
        columns = (batch.codes[1], batch.numbers[0], batch.codes[2], batch.numbers[1])
        found += zip(*(column[:rows].tolist() for column in columns), strict=True)
    return found, at


def bytes_of(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode() + b"next,0.5 a" + bytes(128), np.uint8)


def expected(predictions: list[tuple[str, str, str, str]]) -> list[tuple[int, float, int, float]]:
    codes = {label: code for code, label in enumerate(LABELS)}
    return [(codes.get(one, -1), float(number), codes[two], float(other)) for one, number, two, other in predictions]


@settings(max_examples=300, deadline=None)
@given(PREDICTIONS, st.sampled_from([" ", "  ", "\t"]), st.sampled_from(["\n", " \n", "\r\n", "  \n"]))
@example([("cat", "0.5", "/m/01", "0.25")] * 65, " ", " \n")
@example([("cat", "0.5", "/m/01", "0.25")] * 130, " ", "\r\n")
@example([("cat", "0.5", "/m/01", "0.25")] * 65, "  ", "\n")
def test_predictions_are_read_whatever_blanks_separate_them(
    predictions: list[tuple[str, str, str, str]], between: str, end: str
) -> None:
    text = between.join(between.join(prediction) for prediction in predictions)
    found, at = read(f"{text}{end}")
    assert at > 0
    assert found == expected(predictions)


@pytest.mark.parametrize(
    "text",
    [
        "cat 0.5 cat\n",
        "cat 0.5 cat 0.5 cat\n",
        "cat 0.5 cat x\n",
        "cat 0.5 0.5 cat\n",
        "cat 0.5 cat 0.5,\n",
        "cat 0.5 cat,0.5\n",
        'cat 0.5 "cat" 0.5\n',
        "cat 0.5\ncat 0.5\n",
        "cat\n0.5 cat 0.5\n",
        "cat 0.5 cat 0.5 \x01\n",
        "cat 0.5 dog 0.5\n",
        "cat  0.5  dog  0.5\n",
    ],
)
def test_other_text_is_left_to_the_reference_implementation(text: str) -> None:
    _, at = read(text)
    assert at == 0


def test_the_codes_of_the_image_are_not_changed() -> None:
    batch = Batch.empty(texts=3, numbers=2)
    batch.codes[0] = 7
    _read(bytes_of("cat 0.5 cat 0.5\n"), 0, batch)
    assert set(batch.codes[0].tolist()) == {7}
