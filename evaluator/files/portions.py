"""A part of a submission's lines, as much as is held at once: sound rows, and the defects of lines that are none."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evaluator.files.cells import pieces_of, tokens_of
from evaluator.problems import Problem

PORTION_TEXTS = 1 << 16  # what is held of a file at once, and read in vain once enough defects are known
ROW_TEXTS = 6  # what a row takes beside its predictions, in texts
LONG_CHARACTERS = 1 << 18  # a longer prediction string is read in pieces


class Row(NamedTuple):
    """One line that has the right number of cells, or one piece of a long line.

    Attributes
    ----------
    line : int
    image : str
    beside : sequence of str
        What else is said of the image, in the order of the declaration.
    texts : sequence of str
        The predictions, one after another.
    before : int
        Number of tokens in earlier pieces of the same line.
    """

    line: int
    image: str
    beside: Sequence[str]
    texts: Sequence[str]
    before: int = 0


Defect = tuple[int, str, Problem | None]
"""Line and code; the problem itself while it is among the first of its code."""


@dataclass(slots=True)
class Portion:
    """Some lines of a file: the sound rows, and the defects of lines that are none; both in file order."""

    rows: list[Row] = field(default_factory=list)
    defects: list[Defect] = field(default_factory=list)
    texts: int = 0


def pieced(row: Row, string: str, width: int) -> Iterator[Row]:
    """Yield the row of a long string in pieces of whole predictions, at least one."""
    tokens: list[str] = []
    for piece in pieces_of(string, LONG_CHARACTERS):
        tokens += tokens_of(piece)
        stop = len(tokens) // width * width
        if stop:
            yield row._replace(texts=tokens[:stop])
            row = row._replace(before=row.before + stop)
            tokens = tokens[stop:]
    if not row.before:
        yield row
