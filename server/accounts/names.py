"""Detects usernames and team names that look like another name."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from confusable_homoglyphs.confusables import confusables_data

from evaluator.hidden import HIDDEN
from evaluator.texts import BadName

# `UNSEEN` matches characters that readers hardly notice: U+FE0F, which displays the preceding symbol as an emoji, and
# U+0307, which adds a second dot to an i or j. Marks below the letter may come between the letter and U+0307.
UNSEEN = re.compile("([ij][\u0316-\u0333]*)\u0307|\ufe0f")
# The letters "vv" look like "w", but Unicode's list of confusables does not contain this pair.
ALSO_ALIKE = {"w": "vv"}
# The Cyrillic letter palochka is treated as an l, because it looks like one in most fonts. In Unicode's list of
# confusables, it is an i.
PALOCHKA = "\u04cf"


def same_name(text: str) -> str:
    """Return the normalized form of a username. All spellings that identify the same account have the same form.

    >>> same_name(" \uff21DA ") == same_name("ada") == same_name("Ada")
    True
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text.strip()).upper().casefold())


def refuse_look_alike(name: str, others: Iterable[str]) -> None:
    """Raise BadName if a name looks like one of the other names, according to Unicode's list of confusables (TR39).

    In the second example, the first letter of the new name is Cyrillic.

    >>> refuse_look_alike("Owls", ["Crows"])
    >>> refuse_look_alike("\u041ewls", ["owls"])
    Traceback (most recent call last):
        ...
    evaluator.texts.BadName: This name is taken or looks like an existing name. Choose another one.
    """
    if not looks(name).isdisjoint(all_looks(others)):
        raise BadName("This name is taken or looks like an existing name. Choose another one.")


def all_looks(names: Iterable[str]) -> set[str]:
    return {look for name in names for look in looks(name)}


def looks(name: str) -> frozenset[str]:
    """Return the forms used to compare a name. Names that look alike, in any letter case, share at least one form.

    A name has up to two forms, because letter case can be removed after or before look-alike letters are replaced. The
    results differ, because an upper-case I looks like a lower-case l, but a lower-case i does not.

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
    """Return a string in which each letter is replaced by its prototype (TR39, section 4).

    The prototype is the letter, or sequence of letters, that represents all letters of similar appearance.

    Hidden characters are removed. New names cannot contain them, but older names may.
    """
    replaced = unicodedata.normalize("NFD", HIDDEN.sub("", text)).translate(prototypes())
    return UNSEEN.sub(r"\1", unicodedata.normalize("NFD", replaced))


@cache
def prototypes() -> dict[int, str]:
    """Return the prototype of each letter that looks like another one, keyed by code point.

    The library `confusable_homoglyphs` lists pairs of similar letters in both directions. Letters that are connected by
    these pairs form a group, and all letters of a group have the same prototype. If the group contains a sequence of
    letters that looks like one letter, such as "rn", this sequence is the prototype. Otherwise, the prototype is an
    ASCII letter, or the first letter if the group has no ASCII letter.
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
    """Return an entry of Unicode's list of confusables without the direction marks around right-to-left characters."""
    return text.replace("\u200e", "")
