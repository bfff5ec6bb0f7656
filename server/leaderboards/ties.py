"""Finds tie groups on a leaderboard by a paired test on the bootstrap replicates."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import floor, isnan
from operator import sub

from evaluator.digits import Interval
from server.leaderboards.queries import BoardRow, ShownBoard
from server.leaderboards.ranking import in_tie_groups
from server.submissions.feedback import ScoreAccess
from server.submissions.models import Replicates

TAIL = 0.025  # share of the distribution outside each end of a 95% interval
PAGE_ROWS = 100  # rows on a page of a leaderboard; its tie groups begin anew on each page

Vector = tuple[int, Sequence[float]]  # the seed of the draws, and the headline on each draw


def with_ties(board: ShownBoard, start: int, stop: int) -> list[BoardRow]:
    """Return the rows from `start` to before `stop`, each with whether it belongs to the tie group of the team above.

    Groups begin anew with every page of a leaderboard, so a row needs only the rows of its page. This takes one query
    for any number of rows. Baselines are skipped, because they have no rank. Under ladder feedback no teams are
    compared. `tied` is None if replicates of equal draws are missing.
    """
    start = max(start, 0)
    if board.access.ladder:
        return board.page(start, stop)
    first = start - start % PAGE_ROWS
    rows = board.page_to_next_team(first, stop)
    evaluations = (row.evaluation_id for row in rows if row.evaluation_id and not row.baseline)
    vectors = vectors_of(evaluations, split=board.split)
    pages = (rows[begin : begin + PAGE_ROWS] for begin in range(0, len(rows), PAGE_ROWS))
    compared = [row for page in pages for row in in_groups(page, vectors, board.access)]
    return through_baselines(compared)[start - first : stop - first]


def in_groups(page: Sequence[BoardRow], vectors: Mapping[int, Vector], access: ScoreAccess) -> list[BoardRow]:
    """Return the rows of a page, with `tied` set for teams."""

    def tied(first: BoardRow, row: BoardRow) -> bool | None:
        return are_tied(vectors.get(first.evaluation_id or 0), vectors.get(row.evaluation_id or 0), access=access)

    found = iter(in_tie_groups([row for row in page if not row.baseline], tied))
    return [row if row.baseline else replace(row, tied=next(found)) for row in page]


def through_baselines(rows: Iterable[BoardRow]) -> list[BoardRow]:
    """Set `joined`, so that the line of a tie group is drawn through the baselines between its teams."""
    joined: list[BoardRow] = []
    is_joined = False
    for row in reversed(list(rows)):
        is_joined = is_joined if row.baseline else bool(row.tied)
        joined.append(replace(row, joined=is_joined))
    return joined[::-1]


def vectors_of(evaluations: Iterable[int], *, split: str) -> dict[int, Vector]:
    kept = Replicates.objects.filter(evaluation__in=list(evaluations), split=split)
    return {one.evaluation_id: (one.seed, one.vector) for one in kept}


def are_tied(one: Vector | None, other: Vector | None, *, access: ScoreAccess) -> bool | None:
    """Return whether the 95% interval of the difference, as shown to the reader, contains zero; None if unknown."""
    exact = difference_between(one, other)
    shown = access.interval(*exact) if exact else None
    return None if shown is None else shown[0] <= 0 <= shown[1]


def difference_between(one: Vector | None, other: Vector | None) -> Interval | None:
    """Return the exact interval of `one` - `other`; None unless both have replicates of equal draws."""
    if one is None or other is None or (one[0], len(one[1])) != (other[0], len(other[1])):
        return None
    return paired_interval(one[1], other[1])


def paired_interval(one: Sequence[float], other: Sequence[float]) -> Interval | None:
    """Return the percentile interval of `one` - `other` over replicates; None if no replicate defines both.

    >>> paired_interval([0.5, 0.75, 1.0], [0.25, 0.5, 0.5])
    (0.25, 0.4875)
    """
    differences = list(map(sub, one, other))
    if isnan(sum(differences)):  # rarely: some replicate is undefined
        differences = [difference for difference in differences if not isnan(difference)]
    differences.sort()
    return (quantile(differences, TAIL), quantile(differences, 1 - TAIL)) if differences else None


def quantile(values: Sequence[float], share: float) -> float:
    """Return the quantile of sorted values, with linear interpolation as in NumPy."""
    position = share * (len(values) - 1)
    before = min(floor(position), len(values) - 2)
    if before < 0:
        return values[0]
    return values[before] + (position - before) * (values[before + 1] - values[before])
