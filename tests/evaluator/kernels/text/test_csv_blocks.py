"""Tests the kernels that read many CSV cells in one call."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evaluator.kernels.text import bits, csv_blocks
from evaluator.kernels.text.csv_blocks import (
    BATCH_ROWS,
    Batch,
    codes_of,
    find_cell_ends,
    numbers_of,
    position_in,
    searchable,
)
from evaluator.kernels.text.lookup import TextIndex, code_of_short, index_of

CELLS = st.lists(st.text("ab0./-", max_size=20), max_size=300)
ENDS = st.sampled_from([b",", b"\n", b" ", b"\t", b"\r"])
NUMBERS = st.one_of(
    st.floats(0, 1).map(repr),
    st.decimals(0, 9, places=6).map(str),
    st.decimals(0, 9, places=12).map(str),
    st.sampled_from(["0", "1", "1.", ".5", "1e-05", "-0.25", "+0.5", "12.75", "0.12345678901234567890"]),
)


def laid_out(cells: list[str], after: bytes = b",") -> tuple[NDArray[np.uint8], int]:
    text = b"".join(cell.encode() + after for cell in cells)
    return np.frombuffer(text + b"," * 128, np.uint8), len(text)


def ends_in(data: NDArray[np.uint8], stop: int) -> NDArray[np.int64]:
    ends = np.zeros(stop + 200, np.int64)
    count, without_comma = find_cell_ends(data, 0, stop, ends)
    assert without_comma == count - np.count_nonzero(data[:stop] == ord(","))
    return ends[: count + 1]


# The first example may exceed the deadline of Hypothesis, because running it compiles the kernel.
@settings(deadline=None)
@given(CELLS, st.lists(ENDS, min_size=1, max_size=7))
def test_cells_end_at_commas_blanks_and_line_ends(cells: list[str], after: list[bytes]) -> None:
    text = b"".join(cell.encode() + after[index % len(after)] for index, cell in enumerate(cells))
    found = ends_in(np.frombuffer(text + b"," * 128, np.uint8), len(text))
    expected = np.cumsum([len(cell) + 1 for cell in cells], dtype=np.int64) - 1
    assert found.tolist() == [-1, *expected.tolist()]


def test_cells_beyond_a_batch_are_left_for_the_next_batch() -> None:
    batch = Batch.empty(texts=2, numbers=5)
    data, stop = laid_out([""] * 2_000)
    count, _ = find_cell_ends(data, 0, stop, batch.ends)
    assert 7 * BATCH_ROWS <= count < len(batch.ends)
    assert batch.ends[: count + 1].tolist() == list(range(-1, count))


@settings(max_examples=300, deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=BATCH_ROWS))
def test_numbers_are_read_as_float_reads_them(tokens: list[str]) -> None:
    data, stop = laid_out([cell for token in tokens for cell in ("x", token)])
    values = np.empty(len(tokens))
    assert numbers_of(data, ends_in(data, stop), 1, 2, values)
    assert values.tolist() == [float(token) for token in tokens]


@pytest.mark.parametrize("bad", ["", "x", "nan", "0x1", "1_0", "0.5x", "1e999", "0.5.5", "--1", "0.1234567x", "\xb2"])
@pytest.mark.parametrize("index", [0, 1, 63])
def test_one_bad_cell_is_reported_at_any_index(bad: str, index: int) -> None:
    for plain in ("0.250000", "0.123456789012"):
        tokens = [plain] * BATCH_ROWS
        tokens[index] = bad
        data, stop = laid_out(tokens)
        assert not numbers_of(data, ends_in(data, stop), 0, 1, np.empty(BATCH_ROWS))


@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 16, 17, 24, 40])
def test_texts_with_a_common_beginning_have_different_codes(length: int) -> None:
    known = ["a" * length, "a" * length + "b", "a" * length + "bc"]
    data, stop = laid_out([*known, "a" * (length + 5)])
    codes = np.empty(4, np.int64)
    assert codes_of(data, ends_in(data, stop), 0, 1, index_of(known), False, codes)
    assert codes.tolist() == [0, 1, 2, -1]


def test_successive_texts_with_an_equal_beginning_have_different_codes() -> None:
    known = ["a" * 16, "a" * 17, "a" * 15, "b"]
    asked = [1, 0, 1, 1, 0, 0, 2, 3, 3, 2, 0]
    data, stop = laid_out([cell for code in asked for cell in (known[code], "x")])
    codes = np.empty(len(asked), np.int64)
    assert codes_of(data, ends_in(data, stop), 0, 2, index_of(known), True, codes)
    assert codes.tolist() == asked


def test_an_unknown_text_does_not_get_the_code_of_the_text_before_it() -> None:
    data, stop = laid_out(["a" * 16, "a" * 17, "a" * 16, "b", "b", "a" * 15])
    codes = np.empty(6, np.int64)
    assert codes_of(data, ends_in(data, stop), 0, 1, index_of(["a" * 16]), False, codes)
    assert codes.tolist() == [0, -1, 0, -1, -1, -1]


@pytest.mark.parametrize("known", [["a" * 16], ["b"]])
def test_a_repeated_text_is_looked_up_once_whether_it_is_known_or_not(
    known: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up = []

    def look_up(one: int, two: int, size: int, index: TextIndex) -> int:
        looked_up.append(size)
        return int(code_of_short(one, two, size, index))

    monkeypatch.setattr(csv_blocks, "short_words", bits._checked_short_words)
    monkeypatch.setattr(csv_blocks, "code_of_short", look_up)
    data, stop = laid_out(["a" * 16] * BATCH_ROWS)
    codes = np.empty(BATCH_ROWS, np.int64)
    assert codes_of.py_func(data, ends_in(data, stop), 0, 1, index_of(known), False, codes)
    assert set(codes.tolist()) == {0 if known == ["a" * 16] else -1}
    assert looked_up == [16]


@pytest.mark.parametrize(("asked", "closed", "sound"), [("b", False, True), ("b", True, False), ('"a"', False, False)])
def test_an_unknown_text_is_valid_if_it_is_plain_and_the_list_is_open(asked: str, closed: bool, sound: bool) -> None:
    data, stop = laid_out(["a", asked])
    assert codes_of(data, ends_in(data, stop), 0, 1, index_of(["a"]), closed, np.empty(2, np.int64)) is sound


@settings(deadline=None)
@given(st.lists(st.sets(st.integers(0, 60)).map(sorted), max_size=5))
def test_a_code_is_found_only_in_the_given_range(ranges: list[list[int]]) -> None:
    starts = np.append(0, np.cumsum([*map(len, ranges)], dtype=np.int32)).astype(np.int32)
    codes, steps = searchable(np.array([*chain.from_iterable(ranges)], np.int32), starts)
    for first, codes_of_range in zip(starts.tolist(), ranges, strict=False):
        for code in range(-1, 62):
            found = first + codes_of_range.index(code) if code in codes_of_range else -1
            assert position_in(codes, first, first + len(codes_of_range), code, steps) == found


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 31, 32, 33, 64, 200])
def test_the_longest_range_is_searched_completely(size: int) -> None:
    codes, steps = searchable(np.arange(size, dtype=np.int32), np.array([0, size], np.int32))
    assert [position_in(codes, 0, size, code, steps) for code in range(-1, size + 1)] == [-1, *range(size), -1]
