"""Exports leaderboards as CSV files, with scores as the viewer may see them. Formulas in team names are escaped."""

import csv
import re
from collections.abc import Iterable, Iterator
from io import StringIO

from django.http import StreamingHttpResponse

from server.clock import time_text
from server.leaderboards.compared import RankInterval
from server.leaderboards.listing import Listing
from server.leaderboards.queries import BoardRow

RANKS = ("rank_low", "rank_high", "rank_individual")
# A spreadsheet treats a cell as a formula if it starts with =, +, -, @ (also in full width), a tab or a line break.
# Depending on its settings, a spreadsheet also splits the text of a cell at semicolons and other separators. Therefore
# the pattern matches such characters at the start of the text and after each separator.
FORMULA_START = re.compile(r"""(^|[;|\t\r\n])(?=[ "]*[=+\-@\t\r\n＝＋－＠])""")


def harmless(text: str) -> str:
    """Return a text with an apostrophe before each possible formula, so that spreadsheets do not execute it.

    A formula can start at the beginning of the text or after a separator, such as a semicolon.

    >>> harmless("=HYPERLINK(1)"), harmless("A=1"), harmless("A;=1")
    ("'=HYPERLINK(1)", 'A=1', "A;'=1")
    """
    return FORMULA_START.sub(r"\1'", text)


def csv_response(listing: Listing) -> StreamingHttpResponse:
    """Return a response with all requested entries of a leaderboard as a CSV file to download."""
    board = listing.board
    name = board.phase.download_name(f"{board.split}.csv")
    return StreamingHttpResponse(
        as_csv(listing.chunks(), metrics=[metric.name for metric in board.phase.declared_track.metrics]),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def as_csv(chunks: Iterable[Iterable[BoardRow]], *, metrics: list[str]) -> Iterator[str]:
    """Yield a leaderboard as CSV text, in chunks of rows.

    `metrics` are the names of the track's metrics, with the headline metric first.
    """
    others = metrics[1:]
    yield csv_text([["rank", "team", "score", "low", "high", *others, "entries", "submitted_at", "baseline", *RANKS]])
    for rows in chunks:
        yield csv_text(_cells(row, others) for row in rows)


def csv_text(rows: Iterable[Iterable[str]]) -> str:
    """Return rows of cells as CSV text.

    >>> csv_text([["team", "score"], ["a,b", "0.5"]])
    'team,score\\r\\n"a,b",0.5\\r\\n'
    """
    out = StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()


def number_cells(numbers: Iterable[float | None]) -> Iterator[str]:
    """Yield the CSV cell for each number: the number at full precision, or an empty cell for None."""
    return ("" if number is None else repr(number) for number in numbers)


def _cells(row: BoardRow, others: list[str]) -> list[str]:
    low, high = row.interval or (None, None)
    numbers = [row.score, low, high, *(row.scores.get(name) for name in others)]
    return [
        str(row.rank or ""),
        harmless(row.team),
        *number_cells(numbers),
        str(row.entries),
        time_text(row.submitted_at),
        str(row.baseline).lower(),
        *_rank_cells(row.rank_interval),
    ]


def _rank_cells(found: RankInterval | None) -> list[str]:
    return ["", "", ""] if found is None else [str(found.low), str(found.high), str(found.individual).lower()]
