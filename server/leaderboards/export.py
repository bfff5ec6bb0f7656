"""A board as CSV: full digits, and no cell that a spreadsheet would run."""

import csv
from io import StringIO

from server.leaderboards.queries import Board, Row

# What makes a spreadsheet take a cell for a formula, the full-width forms included.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def harmless(text: str) -> str:
    """Return text that a spreadsheet shows and does not run.

    >>> harmless("=HYPERLINK(1)"), harmless("A=1")
    ("'=HYPERLINK(1)", 'A=1')
    """
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA_STARTS) else text


def as_csv(board: Board, *, metrics: list[str]) -> str:
    """Every line of the board; `metrics` are the track's, the headline first."""
    out = StringIO()
    writer = csv.writer(out)
    others = metrics[1:]
    writer.writerow(["rank", "team", "score", "low", "high", *others, "entries", "submitted_at", "baseline"])
    writer.writerows(_cells(row, others) for row in board.rows)
    return out.getvalue()


def _cells(row: Row, others: list[str]) -> list[str]:
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
