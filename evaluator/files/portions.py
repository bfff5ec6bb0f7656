"""Defines a portion of a submission: the rows and defects of consecutive lines that are read together."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import Column
from evaluator.files.cells import pieces_of, tokens_of
from evaluator.problems import Problem

# A portion of a submission is complete once it contains this many values. This limits the memory that a portion needs.
PORTION_TEXTS = 1 << 16
# Each row of a portion counts as this many additional values, because even a row without predictions needs memory.
ROW_TEXTS = 6
# Prediction strings with more characters than this are split into pieces.
LONG_CHARACTERS = 1 << 18


class Row(NamedTuple):
    """A line of a submission with the right number of cells, or a piece of a line with a long prediction string.

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
"""A defect: its line number, its code, and its description, or None if enough defects with this code are listed."""


@dataclass(slots=True)
class Portion:
    """Consecutive lines of a submission that are read together: the rows of valid lines, and the defects."""

    rows: list[Row] = field(default_factory=list)
    defects: list[Defect] = field(default_factory=list)
    texts: int = 0


Describe = Callable[[int], tuple[str, str]]
"""A function that takes the index of an invalid value and returns the code and the message of its defect."""


@dataclass(frozen=True, slots=True)
class InvalidValues:
    """The invalid values in one column of a batch of rows.

    Attributes
    ----------
    column : Column
    rows, values : int64 arrays of shape (N,)
        For each invalid value, index of its row in the batch, and index of the value in the column.
    tokens : int64 array of shape (N,)
        Position of the value in the prediction string, counting from 1; 0 if there is none.
    describe : callable
        Takes the index of an invalid value in the column, and returns the code and the message of its defect.
    """

    column: Column
    rows: NDArray[np.int64]
    tokens: NDArray[np.int64]
    values: NDArray[np.int64]
    describe: Describe


def split_row(row: Row, string: str, width: int) -> Iterator[Row]:
    """Split a row with a long prediction string into rows with fewer predictions but the same line number."""
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
