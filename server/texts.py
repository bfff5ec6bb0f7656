"""The rule for single lines of text, such as titles. Bundles, tokens and the admin all follow it."""

from evaluator.hidden import HIDDEN, is_plain


def one_line(text: str, most: int) -> str:
    """Return a text with every run of whitespace replaced by one space.

    Raises ValueError if it is empty, has more than `most` characters, or contains control characters, direction marks
    or other invisible characters.

    >>> one_line(" Cats  and\\ndogs ", 80)
    'Cats and dogs'
    """
    line = " ".join(text.split())
    if not 1 <= len(line) <= most or not is_plain(line):
        raise ValueError(f"expected one line of 1 to {most} visible characters")
    return line


def without_hidden(text: str) -> str:
    r"""Return a text without invisible characters and line breaks.

    >>> without_hidden("a\u202eb\ufe0f\n")
    'ab'
    """
    return "".join(sign for sign in HIDDEN.sub("", text) if sign.isprintable())
