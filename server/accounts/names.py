"""Names that people choose: what they may be made of, so that nobody hides behind what cannot be seen."""

import unicodedata

INVISIBLE = frozenset("\u115f\u1160\u3164\u2800\u034f\u17b4\u17b5")
FORBIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


class BadName(ValueError):
    """A name that cannot be taken, with the reason in a sentence."""


def clean_name(text: str) -> str:
    """Return a name in NFKC with single spaces.

    Raises BadName for control and direction characters, for letters that show nothing, and for names without a
    letter or digit.

    >>> clean_name("  \uff21da   Lovelace ")
    'Ada Lovelace'
    """
    name = " ".join(unicodedata.normalize("NFKC", text).split())
    if any(unicodedata.category(letter) in FORBIDDEN or letter in INVISIBLE for letter in name):
        raise BadName("This name holds characters that cannot be seen. Write it with letters, digits and spaces.")
    if not any(unicodedata.category(letter)[0] in "LN" for letter in name):
        raise BadName("A name needs at least one letter or digit.")
    return name


def same_name(text: str) -> str:
    """Return what all spellings of a login name share that the login form, or a database, takes for the same.

    >>> same_name(" \uff21DA ") == same_name("ada") == same_name("Ada")
    True
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text.strip()).upper().casefold())
