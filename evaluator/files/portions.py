"""The portion of a submission that is in memory at one time: rows without defects, and the defects of other lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evaluator.files.cells import pieces_of, tokens_of
from evaluator.problems import Problem

PORTION_TEXTS = 1 << 16  # Number of texts in memory at one time; reading stops between portions.
ROW_TEXTS = 6  # A row without its predictions takes as much memory as this number of texts.
LONG_CHARACTERS = 1 << 18  # A longer prediction string is read in pieces.


class Row(NamedTuple):
    """A line with the right number of cells, or a piece of a long line.

    Attributes
    ----------
    line : int
    image : str
    image_cells : sequence of str
        The other cells that describe the image, in the order of the track's declaration.
    texts : sequence of str
        The values of all predictions, one prediction after another.
    tokens_before : int
        Number of tokens in earlier pieces of the same line.
    """

    line: int
    image: str
    image_cells: Sequence[str]
    texts: Sequence[str]
    tokens_before: int = 0


Defect = tuple[int, str, Problem | None]
"""Line number, code, and the problem itself if it is one of the few that are shown for its code."""


@dataclass(slots=True)
class Portion:
    """Some lines of a file: rows without defects, and the defects of other lines; both in file order."""

    rows: list[Row] = field(default_factory=list)
    defects: list[Defect] = field(default_factory=list)
    texts: int = 0


def split_row(row: Row, string: str, width: int) -> Iterator[Row]:
    """Yield the row of a long prediction string in pieces of whole predictions; at least one piece."""
    tokens: list[str] = []
    for piece in pieces_of(string, LONG_CHARACTERS):
        tokens += tokens_of(piece)
        stop = len(tokens) // width * width
        if stop:
            yield row._replace(texts=tokens[:stop])
            row = row._replace(tokens_before=row.tokens_before + stop)
            tokens = tokens[stop:]
    if not row.tokens_before:
        yield row
