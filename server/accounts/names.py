"""Checks usernames and team names: allowed characters, and names that look alike."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

from confusable_homoglyphs.confusables import confusables_data

from evaluator.hidden import HIDDEN, is_plain

OVERLAY = 1  # combining class (Unicode) of strokes through a letter
# Matches a second dot on i or j, with or without marks below, and U+FE0F (emoji style) after a symbol.
UNSEEN = re.compile("([ij][\u0316-\u0333]*)\u0307|\ufe0f")
ALSO_ALIKE = {"w": "vv"}  # Unicode's list has only the digraph
PALOCHKA = "\u04cf"  # like an i in Unicode's list; in most fonts it looks like an l


class BadName(ValueError):
    """Raised for a name that is not allowed. The message explains the reason."""


def clean_name(text: str, most: int) -> str:
    """Return a name in NFKC with single spaces.

    Raises BadName for control and direction characters, invisible characters, marks that may be invisible (see
    `has_unclear_marks`), names without a letter or digit, and names of more than `most` characters.

    >>> clean_name("  \uff21da   Lovelace ", 80)
    'Ada Lovelace'
    """
    name = " ".join(unicodedata.normalize("NFKC", text).split())
    if not is_plain(name) or has_unclear_marks(name):
        raise BadName("This name contains hidden characters or unclear marks. Use letters, digits and spaces.")
    if not any(unicodedata.category(letter)[0] in "LN" for letter in name):
        raise BadName("A name needs at least one letter or digit.")
    if len(name) > most:
        raise BadName(f"A name has at most {most} characters; this one has {len(name)}.")
    return name


def has_unclear_marks(name: str) -> bool:
    """Return whether a name has a stroke through a letter, or the same mark twice on a letter (TR39, section 5.4).

    Such strokes and second marks may be invisible, because they can coincide with a part of the letter or with the
    first mark. Letters that Unicode encodes together with their mark, such as \u00f8, are allowed.

    >>> has_unclear_marks("O\u0338wls"), has_unclear_marks("u\u0308\u0308"), has_unclear_marks("\u00d8wls")
    (True, True, False)
    """
    if any(unicodedata.combining(letter) == OVERLAY for letter in name):
        return True
    letters = unicodedata.normalize("NFD", name)
    return any(one == next_one and unicodedata.combining(one) for one, next_one in pairwise(letters))


def same_name(text: str) -> str:
    """Return a common form of all spellings of a username that the login form or the database treats as equal.

    >>> same_name(" \uff21DA ") == same_name("ada") == same_name("Ada")
    True
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text.strip()).upper().casefold())


def refuse_look_alike(name: str, others: Iterable[str]) -> None:
    """Raise BadName if a name looks like one of `others`, according to Unicode's list of confusables (TR39).

    >>> refuse_look_alike("Owls", ["Crows"])
    >>> refuse_look_alike("\u041ewls", ["owls"])
    Traceback (most recent call last):
        ...
    server.accounts.names.BadName: This name is taken or looks like an existing name. Choose another one.
    """
    if not looks(name).isdisjoint(all_looks(others)):
        raise BadName("This name is taken or looks like an existing name. Choose another one.")


def all_looks(names: Iterable[str]) -> set[str]:
    return {look for name in names for look in looks(name)}


def looks(name: str) -> frozenset[str]:
    """Return comparison forms of a name. Names that look alike, in any letter case, have at least one form in common.

    There are two forms: letter case is ignored either after or before look-alike letters are replaced. Both are needed,
    because an upper-case I looks like a lower-case l, and a lower-case i does not.

    >>> looks("Alice") & looks("\u0391lice") != frozenset()
    True
    >>> looks("Alice") & looks("AIice") != frozenset()
    True
    >>> looks("modern") & looks("modem") != frozenset()
    True
    >>> looks("Alice") & looks("Alicia")
    frozenset()
    """
    plain = unicodedata.normalize("NFKC", " ".join(name.split()))
    return frozenset(skeleton(text).casefold() for text in (plain, plain.casefold()))


def skeleton(text: str) -> str:
    """Return a text with every letter replaced by the prototype of all letters that look like it (TR39, section 4).

    Hidden characters are left out. They are refused now, but older names may contain them.
    """
    replaced = unicodedata.normalize("NFD", HIDDEN.sub("", text)).translate(prototypes())
    return UNSEEN.sub(r"\1", unicodedata.normalize("NFD", replaced))


@cache
def prototypes() -> dict[int, str]:
    """Return the prototype of each letter that can be confused with others.

    The library lists pairs of similar letters in both directions. All letters that pairs connect form a group. Its
    prototype is a sequence of letters that looks like one letter, such as "rn", if the group has one. Otherwise it is
    an ASCII letter or, without one, the first letter.
    """
    pairs = {unmarked(one): {unmarked(pair["c"]) for pair in more} for one, more in confusables_data.items()}
    for one, other in ALSO_ALIKE.items():
        pairs[one].add(other)
    found: dict[int, str] = {}
    done: set[str] = set()
    for letter in pairs:
        if letter in done:
            continue
        alike, waiting = {letter}, [letter]
        while waiting:
            more = pairs.get(waiting.pop(), set()) - alike
            alike |= more
            waiting += more
        done |= alike
        first = min(alike, key=lambda text: (len(text) == 1, not text.isascii(), text))
        found |= {ord(one): first for one in alike if len(one) == 1 and one != first}
    found[ord(PALOCHKA)] = found[ord("l")]
    return {one: unicodedata.normalize("NFD", first).translate(found) for one, first in found.items()}


def unmarked(text: str) -> str:
    """Return an entry of Unicode's list without the marks that surround right-to-left characters."""
    return text.replace("\u200e", "")
