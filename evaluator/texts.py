"""Defines rules for one-line strings, such as titles, and for the names of users and teams."""

import unicodedata
from itertools import pairwise

from evaluator.hidden import HIDDEN, is_plain

OVERLAY = 1  # The Unicode combining class of overlays, such as a stroke through a letter.


def one_line(text: str, most: int) -> str:
    r"""Return a string with every run of white space replaced by one space.

    Raises ValueError if the result is empty, has more than `most` characters, or contains control characters, direction
    marks or other invisible characters.

    >>> one_line(" Cats  and\ndogs ", 80)
    'Cats and dogs'
    """
    line = " ".join(text.split())
    if not 1 <= len(line) <= most or not is_plain(line):
        raise ValueError(f"expected one line of 1 to {most} visible characters")
    return line


def without_hidden(text: str) -> str:
    r"""Return a string without invisible characters and line breaks.

    >>> without_hidden("a\u202eb\ufe0f\n")
    'ab'
    """
    return "".join(sign for sign in HIDDEN.sub("", text) if sign.isprintable())


def counted(count: float, one: str, several: str = "") -> str:
    """Return a number followed by a noun in the singular or plural. `several` is the plural if it is irregular.

    >>> counted(1, "label"), counted(1200, "label"), counted(2, "class", "classes")
    ('1 label', '1,200 labels', '2 classes')
    """
    noun = one if count == 1 else several or f"{one}s"
    return f"{count:,} {noun}" if isinstance(count, int) else f"{count:g} {noun}"


class BadName(ValueError):
    """Raised if a name is not allowed. The message explains why."""


def clean_name(text: str, most: int) -> str:
    """Return a name in Unicode normalization form NFKC, with single spaces.

    Raises BadName if the name contains control characters, direction marks, invisible characters or marks that may be
    invisible (see `has_unclear_marks`), if it has no letter or digit, or if it is longer than `most` characters.

    >>> clean_name("  \uff21da   Lovelace ", 80)
    'Ada Lovelace'
    """
    name = " ".join(unicodedata.normalize("NFKC", text).split())
    if not is_plain(name) or has_unclear_marks(name):
        raise BadName("This name contains characters that are or may be invisible. Use letters, digits and spaces.")
    if not any(unicodedata.category(letter)[0] in "LN" for letter in name):
        raise BadName("A name needs at least one letter or digit.")
    if len(name) > most:
        raise BadName(f"A name can have at most {most} characters; this name has {len(name)}.")
    return name


def has_unclear_marks(name: str) -> bool:
    """Return whether a name has a stroke through a letter, or the same mark twice on a letter (TR39, section 5.4).

    Such strokes and repeated marks may be invisible, because they can coincide with a part of the letter or with
    the first mark. Letters that Unicode encodes together with their mark, such as \u00f8, are allowed.

    >>> has_unclear_marks("O\u0338wls"), has_unclear_marks("u\u0308\u0308"), has_unclear_marks("\u00d8wls")
    (True, True, False)
    """
    if any(unicodedata.combining(letter) == OVERLAY for letter in name):
        return True
    letters = unicodedata.normalize("NFD", name)
    return any(one == next_one and unicodedata.combining(one) for one, next_one in pairwise(letters))
