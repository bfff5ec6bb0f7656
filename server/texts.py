"""The rule for texts of one line, such as titles. Bundles, tokens and the admin check with the same function."""

INVISIBLE = frozenset("\u115f\u1160\u3164\u2800\u034f\u17b4\u17b5")  # though Unicode calls them letters and marks


def one_line(text: str, most: int) -> str:
    """Return a text with single spaces.

    Raises ValueError where it is empty or has more than `most` characters, and for control characters, direction
    marks and whatever else cannot be seen.

    >>> one_line(" Cats  and\\ndogs ", 80)
    'Cats and dogs'
    """
    line = " ".join(text.split())
    if not 1 <= len(line) <= most or not line.isprintable() or not INVISIBLE.isdisjoint(line):
        raise ValueError(f"expected one line of 1 to {most} characters that can be seen")
    return line
