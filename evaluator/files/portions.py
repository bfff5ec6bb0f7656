"""Defines a portion of a submission: consecutive lines that are read together, as rows or as defects."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evaluator.files.cells import pieces_of, tokens_of
from evaluator.problems import Problem

PORTION_TEXTS = 1 << 16  # Number of values at which a portion is complete. This limits memory use.
# Values added to the count for each row, because even a row without predictions needs memory.
ROW_TEXTS = 6
LONG_CHARACTERS = 1 << 18  # Longer prediction strings are split into pieces.


class Row(NamedTuple):
    """A line with the right number of cells, or a piece of a long line.

    Attributes
    ----------
    line : int
    image : str
    image_cells : sequence of str
        The cells that describe the image, apart from its id, in the order in which the track declares them.
    texts : sequence of str
        The values of all predictions, one prediction after another.
    tokens_before : int
        Number of tokens in the earlier pieces of this line.
    """

    line: int
    image: str
    image_cells: Sequence[str]
    texts: Sequence[str]
    tokens_before: int = 0


Defect = tuple[int, str, Problem | None]
"""Line number, code, and the problem, which is None if enough problems with this code are already listed."""


@dataclass(slots=True)
class Portion:
    """Consecutive lines of a file that are read together: the rows of valid lines, and the defects of other lines."""

    rows: list[Row] = field(default_factory=list)
    defects: list[Defect] = field(default_factory=list)
    texts: int = 0


def split_row(row: Row, string: str, width: int) -> Iterator[Row]:
    """Split a row with a long prediction string between predictions, and yield the resulting smaller rows."""
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
