"""Formats columns of numbers and strings as lines of text, many rows at once.

All cells of a column have the same width and are padded with NUL bytes, so a block of lines is a matrix of bytes. The
padding is then removed in one pass. This method is fifty times faster than formatting each row separately.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.synthesis.random_stream import MILLION, Ints

TextColumn = NDArray[np.bytes_]


def _decimal_table() -> TextColumn:
    digits = np.arange(MILLION)[:, None] // 10 ** np.arange(5, -1, -1) % 10 + ord("0")
    table = np.full((MILLION + 1, 8), ord("0"), dtype=np.uint8)
    table[:, 1] = ord(".")
    table[:MILLION, 2:] = digits
    table[MILLION, 0] = ord("1")
    return table.view("S8").ravel()


_DECIMALS = _decimal_table()


def decimals(millionths: Ints) -> TextColumn:
    """Convert numbers in millionths to strings with six decimals.

    >>> decimals(np.array([5, 250000, 1000000])).tolist()
    [b'0.000005', b'0.250000', b'1.000000']
    """
    return _DECIMALS[millionths]


def encoded(texts: Sequence[str]) -> TextColumn:
    """Return strings as a column, that is, as an array of UTF-8 byte strings of fixed width."""
    return np.array([text.encode() for text in texts])


def joined(*cells: TextColumn | bytes) -> bytes:
    """Return the concatenated rows of a table. A row consists of the constant strings and one cell of each column.

    >>> joined(encoded(["a", "long"]), b"=", decimals(np.array([1, 2])), b";")
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


def csv_lines(*columns: TextColumn) -> bytes:
    r"""Return lines of comma-separated values. Each argument is a column.

    >>> csv_lines(encoded(["a", "b"]), encoded(["1", "2"]))
    b'a,1\nb,2\n'
    """
    return joined(*_between(columns, b","), b"\n")


def prediction_strings(ids: TextColumn, image: Ints, *columns: TextColumn) -> bytes:
    """Return a line for each image: its id, a comma, and its predictions, separated by spaces.

    Parameters
    ----------
    ids : TextColumn
        Ids of the images, including images without predictions.
    image : int64 array of shape (predictions,)
        Index of the image of each prediction in ``ids``, in ascending order.
    columns : TextColumn
        The tokens of a prediction, in order.
    """
    first = np.ones(len(image), dtype=bool)
    first[1:] = image[1:] != image[:-1]
    last = np.ones(len(image), dtype=bool)
    last[:-1] = first[1:]
    starts = np.char.add(ids, b",")
    bare = np.setdiff1d(np.arange(len(ids)), image)
    lead = np.where(first, starts[image], b" ")
    return joined(lead, *_between(columns, b" "), np.where(last, b"\n", b"")) + joined(starts[bare], b"\n")


def _between(columns: Sequence[TextColumn], separator: bytes) -> list[TextColumn | bytes]:
    return [part for column in columns for part in (column, separator)][:-1]
