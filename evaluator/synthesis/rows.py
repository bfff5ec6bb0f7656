"""Columns of numbers and names into lines of text, a block at a time.

Every cell has a fixed width, filled up with NUL bytes, so a block of lines is one matrix of bytes; the NULs then fall
out in one pass. That is fifty times faster than formatting row by row and gives the same bytes everywhere.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.synthesis.draws import MILLION, Ints

Text = NDArray[np.bytes_]


def _decimal_table() -> Text:
    digits = np.arange(MILLION)[:, None] // 10 ** np.arange(5, -1, -1) % 10 + ord("0")
    table = np.full((MILLION + 1, 8), ord("0"), dtype=np.uint8)
    table[:, 1] = ord(".")
    table[:MILLION, 2:] = digits
    table[MILLION, 0] = ord("1")
    return table.view("S8").ravel()


_DECIMALS = _decimal_table()


def decimals(millionths: Ints) -> Text:
    """Return numbers with six decimals.

    >>> decimals(np.array([5, 250000, 1000000])).tolist()
    [b'0.000005', b'0.250000', b'1.000000']
    """
    return _DECIMALS[millionths]


def names(words: Sequence[str]) -> Text:
    """Return words as a table to look cells up in."""
    return np.array([word.encode() for word in words])


def woven(*cells: Text | bytes) -> bytes:
    """Join columns and constants, row by row.

    >>> woven(names(["a", "long"]), b"=", decimals(np.array([1, 2])), b";")
    b'a=0.000001;long=0.000002;'
    """
    count = max(len(cell) for cell in cells if not isinstance(cell, bytes))
    parts: list[NDArray[np.uint8]] = []
    for cell in cells:
        if isinstance(cell, bytes):
            parts.append(np.broadcast_to(np.frombuffer(cell, dtype=np.uint8), (count, len(cell))))
        else:
            parts.append(np.ascontiguousarray(cell).view(np.uint8).reshape(count, cell.dtype.itemsize))
    return np.concatenate(parts, axis=1).tobytes().translate(None, b"\0")


def lines(*columns: Text) -> bytes:
    r"""Return comma-separated lines.

    >>> lines(names(["a", "b"]), names(["1", "2"]))
    b'a,1\nb,2\n'
    """
    return woven(*_between(columns, b","), b"\n")


def prediction_strings(ids: Text, image: Ints, *columns: Text) -> bytes:
    """Return one line an image: its id and all its predictions, separated by spaces.

    Parameters
    ----------
    ids : the images' names; an image without predictions gets a line too
    image : ascending index into ``ids``, one a prediction
    columns : the tokens of a prediction, in order
    """
    first = np.ones(len(image), dtype=bool)
    first[1:] = image[1:] != image[:-1]
    last = np.ones(len(image), dtype=bool)
    last[:-1] = first[1:]
    starts = np.char.add(ids, b",")
    bare = np.setdiff1d(np.arange(len(ids)), image)
    lead = np.where(first, starts[image], b" ")
    return woven(lead, *_between(columns, b" "), np.where(last, b"\n", b"")) + woven(starts[bare], b"\n")


def _between(columns: Sequence[Text], separator: bytes) -> list[Text | bytes]:
    return [part for column in columns for part in (column, separator)][:-1]
