"""A line as cells, by RFC 4180, one row a line."""


def split_cells(line: str) -> list[str] | None:
    """Return the cells of a line, or None where its quotes do not add up.

    A cell is quoted as a whole or not at all; ``""`` inside quotes is one quote.

    >>> split_cells('a,"b, c",')
    ['a', 'b, c', '']
    >>> split_cells('a,"b') is None
    True
    """
    if '"' not in line:
        return line.split(",")
    cells: list[str] = []
    at = 0
    while True:
        if line.startswith('"', at):
            end = _closing_quote(line, at + 1)
            if end < 0:
                return None
            cells.append(line[at + 1 : end].replace('""', '"'))
            end += 1
        else:
            end = line.find(",", at) % (len(line) + 1)  # -1, no comma left, becomes the line's end
            cells.append(line[at:end])
            if '"' in cells[-1]:
                return None
        if end == len(line):
            return cells
        if line[end] != ",":
            return None
        at = end + 1


def _closing_quote(line: str, at: int) -> int:
    """Return where the quoted text from ``at`` ends, or -1."""
    while True:
        at = line.find('"', at)
        if at < 0 or not line.startswith('""', at):
            return at
        at += 2


def shortened(text: str, width: int = 60) -> str:
    """Return ``text`` quoted for a message, cut in the middle where it is long.

    >>> shortened("0,5")
    "'0,5'"
    """
    if len(text) > width:
        text = f"{text[: width // 2]}…{text[-width // 2 :]}"
    return repr(text)
