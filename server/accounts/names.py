"""Names that people choose: what they may be made of, so that nobody hides behind what cannot be seen."""

import unicodedata
from collections.abc import Iterable
from functools import cache

from confusable_homoglyphs.confusables import confusables_data

from server.texts import INVISIBLE

FORBIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


class BadName(ValueError):
    """A name that cannot be taken, with the reason in a sentence."""


def clean_name(text: str, most: int) -> str:
    """Return a name in NFKC with single spaces.

    Raises BadName for control and direction characters, for letters that show nothing, for names without a letter or
    digit, and for more than `most` characters.

    >>> clean_name("  \uff21da   Lovelace ", 80)
    'Ada Lovelace'
    """
    name = " ".join(unicodedata.normalize("NFKC", text).split())
    if any(unicodedata.category(letter) in FORBIDDEN or letter in INVISIBLE for letter in name):
        raise BadName("This name contains invisible characters. Use letters, digits and spaces.")
    if not any(unicodedata.category(letter)[0] in "LN" for letter in name):
        raise BadName("A name needs at least one letter or digit.")
    if len(name) > most:
        raise BadName(f"A name has at most {most} characters; this one has {len(name)}.")
    return name


def same_name(text: str) -> str:
    """Return what all spellings of a login name share that the login form, or a database, takes for the same.

    >>> same_name(" \uff21DA ") == same_name("ada") == same_name("Ada")
    True
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text.strip()).upper().casefold())


def refuse_look_alike(name: str, others: Iterable[str]) -> None:
    """Raise BadName where a name cannot be told from one of the others: by Unicode's list of confusables (TR39).

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
    """Return what a name has in common with every name that looks like it in any letter case.

    Two texts, as case comes first or last: an upper I looks like a small l, which a small i does not.

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
    """Return a text with every letter replaced by what stands for all that look like it (TR39, section 4)."""
    replaced = unicodedata.normalize("NFD", text).translate(prototypes())
    return unicodedata.normalize("NFD", replaced)


@cache
def prototypes() -> dict[int, str]:
    """Return what stands for each letter that can be confused with others.

    The library lists pairs, in both directions. Letters that are linked by pairs look alike; several letters that look
    like one ("rn") stand for all of them, else an ASCII letter, else the first one.
    """
    pairs = {unmarked(one): {unmarked(pair["c"]) for pair in more} for one, more in confusables_data.items()}
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
    return found


def unmarked(text: str) -> str:
    """Return a text of the list without the marks around what is written from right to left."""
    return text.replace("\u200e", "")
