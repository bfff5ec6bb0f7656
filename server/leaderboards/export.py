"""Leaderboards as CSV, with all digits and without cells that a spreadsheet would execute."""

import csv
from collections.abc import Iterable, Iterator
from io import StringIO

from server.leaderboards.queries import BoardRow, ShownBoard

# A spreadsheet treats a cell that starts with one of these as a formula, also in full-width form.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def harmless(text: str) -> str:
    """Return text that a spreadsheet displays and does not execute.

    >>> harmless("=HYPERLINK(1)"), harmless("A=1")
    ("'=HYPERLINK(1)", 'A=1')
    """
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA_STARTS) else text


def csv_name(board: ShownBoard) -> str:
    """Return the name of the CSV file of a leaderboard."""
    return f"{board.phase.challenge.slug}-{board.phase.slug}-{board.split}.csv"


def as_csv(chunks: Iterable[Iterable[BoardRow]], *, metrics: list[str]) -> Iterator[str]:
    """Yield a leaderboard as CSV, one text for each chunk of rows. `metrics` are the track's, the headline first."""
    others = metrics[1:]
    yield _lines([["rank", "team", "score", "low", "high", *others, "entries", "submitted_at", "baseline"]])
    for rows in chunks:
        yield _lines(_cells(row, others) for row in rows)


def _lines(lines: Iterable[list[str]]) -> str:
    out = StringIO()
    csv.writer(out).writerows(lines)
    return out.getvalue()


def _cells(row: BoardRow, others: list[str]) -> list[str]:
    low, high = row.interval or (None, None)
    numbers = [row.score, low, high, *(row.scores.get(name) for name in others)]
    return [
        str(row.rank or ""),
        harmless(row.team),
        *("" if number is None else repr(number) for number in numbers),
        str(row.entries),
        row.submitted_at.isoformat().replace("+00:00", "Z"),
        str(row.baseline).lower(),
    ]
