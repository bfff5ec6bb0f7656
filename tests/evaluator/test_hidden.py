"""The set of hidden characters agrees with the Unicode data in Python."""

import sys
import unicodedata

import pytest

from evaluator.hidden import HIDDEN, is_plain, reveal, revealed

EVERY = [chr(code) for code in range(sys.maxunicode + 1)]
# Characters that enclose or precede digits. They are visible, although Unicode classifies them as format characters
# (category Cf).
SEEN_FORMATS = {*"\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"}
VISIBLE_JOINERS = {
    "TIFINAGH CONSONANT JOINER",
    "BRAHMI NUMBER JOINER",
    "ZANABAZAR SQUARE SUBJOINER",
    "SOYOMBO SUBJOINER",
}


def test_control_and_format_characters_are_hidden_except_tab_and_line_breaks() -> None:
    seen = {sign for sign in EVERY if unicodedata.category(sign) in ("Cc", "Cf", "Zl", "Zp") and not HIDDEN.match(sign)}
    assert seen == {*"\t\n\r"} | SEEN_FORMATS


@pytest.mark.parametrize("words", ["VARIATION SELECTOR", "HANGUL FILLER", "VOWEL INHERENT", "JOINER", "NULL NOTEHEAD"])
def test_characters_that_unicode_defines_as_invisible_are_hidden(words: str) -> None:
    named = {sign for sign in EVERY if words in unicodedata.name(sign, "")}
    assert {unicodedata.name(sign) for sign in named if not HIDDEN.match(sign)} <= VISIBLE_JOINERS
    assert named


def test_ignorable_code_points_are_hidden_before_they_are_assigned() -> None:
    reserved = [0x2065, *range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000)]
    assert all(HIDDEN.match(chr(code)) for code in reserved)


@pytest.mark.parametrize(("text", "plain"), [("\u2764\ufe0f", True), ("\u2764\ufe0e", False), ("a\ufe0f", False)])
def test_a_variation_selector_is_allowed_after_a_symbol_only(text: str, plain: bool) -> None:
    assert is_plain(text) is plain


def test_no_letter_digit_or_punctuation_is_hidden() -> None:
    letters = [sign for sign in EVERY if unicodedata.category(sign)[0] in "LNP" and HIDDEN.match(sign)]
    assert letters == [*"\u115f\u1160\u3164\uffa0"]


def test_a_page_in_utf_8_is_escaped_like_its_text() -> None:
    for sign in EVERY:
        if not "\ud800" <= sign <= "\udfff":
            page = f"<p>\u2764 {sign}caf\u00e9\t\r\n\u2764{sign}</p>"
            assert revealed(page.encode()) == reveal(page).encode()
