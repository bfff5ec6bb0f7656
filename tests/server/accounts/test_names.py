"""Names with hidden characters are rejected, and names that look alike are recognized."""

import unicodedata

import pytest
from confusable_homoglyphs.confusables import confusables_data

from evaluator.texts import BadName, clean_name
from server.accounts.names import looks, prototypes, unmarked


@pytest.mark.parametrize(
    "name",
    [
        "att\ufe0f",  # This name and the next two end with an invisible variation selector.
        "att\U000e0100",
        "att\u180b",
        "att\U0001d159",  # The name ends with MUSICAL SYMBOL NULL NOTEHEAD, which is invisible.
        "att\u2065",  # The name ends with an unassigned code point that is not displayed.
        "att\U00016fe4",  # The name ends with KHITAN SMALL SCRIPT FILLER, which is invisible.
        "O\u0338wls",  # In this name and the next, a combining stroke crosses a letter.
        "Ow\u0335ls",
        "Mu\u0308\u0308ller",  # One letter of the name has two diaereses.
    ],
)
def test_a_name_with_hidden_characters_is_refused(name: str) -> None:
    with pytest.raises(BadName, match="characters that are or may be invisible"):
        clean_name(name, 80)


@pytest.mark.parametrize(
    "name", ["\u00d8wls", "M\u00fcller", "\u1ec7", "\u2764\ufe0f Owls", "\u0928\u093f\u0915\u0941"]
)
def test_visible_marks_and_emoji_are_accepted(name: str) -> None:
    assert clean_name(name, 80) == name


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Owls", "Ovvls"),
        ("WIN", "vvin"),
        ("\u00d8wls", "O\u0338wls"),  # Old names may contain a combining stroke, which is now forbidden.
        ("Owls", "Owls\ufe0f"),
        ("\u2764 Owls", "\u2764\ufe0f Owls"),
        ("ix", "i\u0307x"),  # A combining dot above the letter i is invisible.
        ("\u012fx", "\u012f\u0307x"),
        ("paypal", "\u0440\u0430\u0443\u0440\u0430\u04cf"),  # These Cyrillic letters look like the Latin ones.
    ],
)
def test_names_with_confusable_characters_look_alike(name: str, other: str) -> None:
    assert looks(name) & looks(other)


@pytest.mark.parametrize(
    ("name", "other"), [("\u00d8wls", "Owls"), ("M\u00fcller", "Muller"), ("Alice", "Alicia"), ("Clara", "Dara")]
)
def test_names_that_differ_visibly_do_not_look_alike(name: str, other: str) -> None:
    assert not looks(name) & looks(other)


def test_prototypes_have_no_prototypes_of_their_own() -> None:
    found = prototypes()
    assert all(unicodedata.normalize("NFD", first).translate(found) == first for first in found.values())


def test_every_confusable_pair_of_unicode_looks_alike() -> None:
    """Test every pair of characters that Unicode lists as confusable, if both are allowed in names.

    Letters with marks are left out, because Unicode lists letters and marks separately. The only pair that is not
    recognized, in either order, is the letter i and the Cyrillic letter palochka (U+04CF).
    """
    unlike = [
        (one, other)
        for one, more in confusables_data.items()
        for other in (unmarked(pair["c"]) for pair in more)
        if is_compared(unmarked(one)) and is_compared(other) and not looks(unmarked(one)) & looks(other)
    ]
    assert unlike == [("i", "\u04cf"), ("\u04cf", "i")]


def is_compared(text: str) -> bool:
    try:
        kept = clean_name(f"x{text}y", 80) == f"x{text}y"
    except BadName:
        return False
    return kept and unicodedata.normalize("NFD", text) == text
