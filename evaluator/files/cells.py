"""Splits lines into cells, and prediction strings into tokens. The format is RFC 4180 without line breaks in cells."""

import re
from collections.abc import Iterator

# Maximum number of cells to read from a CSV line with quotes. A line with more cells is a defect in every track.
MAX_CELLS = 20_000
QUOTED = re.compile(r'(?:[^"]++|"")*+')


def split_cells(line: str) -> list[str] | None:
    """Return the cells of a CSV line, or None if its quotes do not match.

    A cell is either quoted as a whole or not quoted at all. Inside quotes, ``""`` stands for one quote. If a line with
    quotes has more than :data:`MAX_CELLS` cells, the remaining cells are ignored.

    >>> split_cells('a,"b, c",')
    ['a', 'b, c', '']
    >>> split_cells('a,"b') is None
    True
    """
    if '"' not in line:
        return line.split(",")
    cells: list[str] = []
    at = 0
    while len(cells) <= MAX_CELLS:
        if line.startswith('"', at):
            end = _closing_quote(line, at + 1)
            if end == len(line):
                return None
            cells.append(line[at + 1 : end].replace('""', '"'))
            end += 1
        else:
            # If there is no further comma, find() returns -1. The modulo operation, whose divisor is the length of the
            # line plus 1, converts -1 to the length of the line.
            end = line.find(",", at) % (len(line) + 1)
            cells.append(line[at:end])
            if '"' in cells[-1]:
                return None
        if end == len(line):
            return cells
        if line[end] != ",":
            return None
        at = end + 1
    return cells


def _closing_quote(line: str, at: int) -> int:
    """Return the index of the quote that closes the string starting at ``at``, or the line length if there is none."""
    found = QUOTED.match(line, at)
    return found.end() if found else at


def shortened(text: str, width: int = 60) -> str:
    """Return ``text`` in quotes, for use in a message. The middle of a long text is omitted.

    >>> shortened("0,5")
    "'0,5'"
    """
    if len(text) > width:
        text = f"{text[: width // 2]}…{text[-width // 2 :]}"
    return repr(text)


def tokens_of(string: str) -> list[str]:
    r"""Return the tokens of a prediction string, separated by spaces or tabs.

    >>> tokens_of("a  b\tc ")
    ['a', 'b', 'c']
    """
    return [token for token in string.replace("\t", " ").split(" ") if token]


def pieces_of(string: str, characters: int) -> Iterator[str]:
    """Split a prediction string between tokens, and yield the pieces.

    Each piece except the last has at least ``characters`` characters.

    >>> list(pieces_of("ab cd e", 1))
    ['ab', 'cd', 'e']
    """
    string = string.replace("\t", " ")
    start, stop = 0, string.find(" ", characters)
    while stop >= 0:
        yield string[start:stop]
        start, stop = stop + 1, string.find(" ", stop + 1 + characters)
    yield string[start:]


def shortened_id(image: str) -> str:
    """Return the first 256 characters of an image id, for use in the description of a defect.

    >>> shortened_id("a" * 300) == "a" * 256
    True
    """
    return image[:256]
