"""Tests the kernels that look up ids and labels as byte strings."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.kernels.text.lookup import codes_between_commas, index_of

PLAIN = st.text(
    st.characters(min_codepoint=0x21, exclude_characters=',"', exclude_categories=["Cs"]), min_size=1, max_size=40
)


def look_up(known: list[str], asked: list[str]) -> list[int]:
    data = np.frombuffer("".join(f"{text}," for text in asked).encode() + bytes(64), np.uint8)
    codes = np.empty(len(asked), np.int64)
    codes_between_commas(data, index_of(known), codes)
    return codes.tolist()


@settings(max_examples=500)
@given(st.lists(PLAIN, unique=True, max_size=30), st.lists(PLAIN, max_size=30))
def test_the_index_finds_the_same_codes_as_a_dict(known: list[str], others: list[str]) -> None:
    codes = {text: code for code, text in enumerate(known)}
    asked = [*others, *known, *(text[:-1] or "x" for text in known), *(f"{text}x" for text in known)]
    assert look_up(known, asked) == [codes.get(text, -1) for text in asked]


def test_texts_of_every_length_are_found() -> None:
    known = ["x" * length for length in range(1, 70)]
    assert look_up(known, known) == list(range(69))
    assert look_up(known, ["x" * 70]) == [-1]


def test_texts_that_are_almost_equal_have_different_codes() -> None:
    """Among 2,000 known strings, about one in eight shares its first slot in the hash table with another string."""
    known = [f"the_same{number:08}" for number in range(2_000)]
    others = [f"the_same{number:08}" for number in range(2_000, 4_000)]
    near = [
        *others,
        *(f"{text}x" for text in known),
        *(text[:-1] for text in known),
        *(f"T{text[1:]}" for text in known),
    ]
    assert look_up(known, near) == [-1] * len(near)
    assert look_up(known, known) == list(range(len(known)))


def test_texts_that_no_plain_cell_can_contain_are_not_in_the_index() -> None:
    assert look_up(["a b", "a", "b,c", 'say "x"'], ["a", "b"]) == [1, -1]
