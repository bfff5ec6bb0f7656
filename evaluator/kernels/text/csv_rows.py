"""Reads rows of a submission in the long layout into a batch. A row is a line with one prediction.

The cells of a row have kinds, which are numbered from 0: first the texts (ids and labels), then the numbers. A file may
have its columns in any order.
"""

from evaluator.kernels.jit import inlined, subroutine
from evaluator.kernels.text.cells import cell_end, cell_number_at
from evaluator.kernels.text.csv_blocks import codes_of, find_cell_ends, follows, numbers_of
from evaluator.kernels.text.lookup import is_accepted, text_at
from evaluator.kernels.text.prediction_strings import COMMA, LINE_FEED


@subroutine
def _read_row(data, at, indexes, closed, kind_of_cell, batch, row):
    """Read a line into ``batch``, cell by cell. Return the offset of the next line.

    The offset is 0 if the line is not in plain syntax, for example because of quotes (see
    :mod:`evaluator.kernels.reading`).
    """
    cells, texts = len(kind_of_cell), len(indexes)
    for cell in range(cells):
        kind, last = kind_of_cell[cell], cell == cells - 1
        if kind >= texts:
            batch.numbers[kind - texts, row], at = cell_number_at(data, at, last)
        else:
            code, end, _ = text_at(data, at, indexes[kind])
            if not is_accepted(data, at, end, code, closed[kind]):
                return 0
            batch.codes[kind, row] = code
            at = cell_end(data, end, last)
        if at == 0:
            return 0
    return at


@subroutine
def _read_rows(data, at, stop, indexes, closed, kind_of_cell, batch):
    """Fill a batch line by line. Return the number of lines and the offset of the next line.

    The offset is 0 if a line cannot be read by a kernel; the reference implementation then reads the file.
    """
    rows = 0
    while at < stop and rows < len(batch.positions):
        at = _read_row(data, at, indexes, closed, kind_of_cell, batch, rows)
        if at == 0:
            return rows, at
        rows += 1
    return rows, at


@inlined
def _have_cells(data, ends, found, without_comma, rows, cells):
    """Return whether each row has the given number of cells, without blanks in or around the cells.

    ``found`` and ``without_comma`` are the results of :func:`find_cell_ends`. If every last cell is followed by a line
    feed and as many cells as there are rows have no comma, all other cells have one. This is faster than a test of each
    cell.
    """
    for cell in range(rows * cells, found):
        without_comma -= not follows(data, ends, cell, COMMA)
    plain = without_comma == rows
    for row in range(rows):
        plain &= follows(data, ends, row * cells + cells - 1, LINE_FEED)
    return plain


@inlined
def _read_plain_rows(data, at, stop, indexes, closed, cells, cell_of_kind, batch):
    """Fill a batch column by column. Return the number of lines and the offset of the next line.

    The result is (0, ``at``) if a line contains, for example, blanks, CRLF or a wrong number of cells. The caller then
    uses :func:`_read_rows`.
    """
    found, without_comma = find_cell_ends(data, at, stop, batch.ends)
    rows, texts = min(found // cells, len(batch.positions)), len(indexes)
    if not _have_cells(data, batch.ends, found, without_comma, rows, cells):
        return 0, at
    for kind in range(texts):
        codes, first = batch.codes[kind, :rows], cell_of_kind[kind]
        if not codes_of(data, batch.ends, first, cells, indexes[kind], closed[kind], codes):
            return 0, at
    for kind in range(texts, cells):
        if not numbers_of(data, batch.ends, cell_of_kind[kind], cells, batch.numbers[kind - texts, :rows]):
            return 0, at
    return rows, batch.ends[rows * cells] + 1


@inlined
def read_batch(data, at, stop, indexes, closed, cells, kind_of_cell, cell_of_kind, batch):
    """Fill a batch with the next rows. Return their number and the offset of the next line.

    The offset is 0 if the line after these rows cannot be read by a kernel.

    Parameters
    ----------
    data : uint8 array
        Must be readable for 64 bytes beyond ``stop``.
    at, stop : int64
        Offsets of the next line and of the end; the byte at ``stop - 1`` is a line feed.
    indexes : tuple of TextIndex
        The hash table for each kind of text.
    closed : tuple of bool
        For each kind of text, whether an unknown text is a defect.
    cells : int64
        Number of cells of a row.
    kind_of_cell, cell_of_kind : int64 arrays of shape (cells,)
        Kind of each cell of a row, and the inverse: index of the cell of each kind.
    batch : Batch
    """
    rows, after = _read_plain_rows(data, at, stop, indexes, closed, cells, cell_of_kind, batch)
    if rows == 0:
        return _read_rows(data, at, stop, indexes, closed, kind_of_cell, batch)
    return rows, after
