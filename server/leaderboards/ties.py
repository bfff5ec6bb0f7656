"""Which neighbours on a board cannot be told apart: a paired test on the replicates that every evaluation keeps."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import floor, isnan
from operator import sub

from evaluator.digits import Interval
from server.leaderboards.queries import Board, Row
from server.submissions.feedback import Sight
from server.submissions.models import Replicates

TAIL = 0.025  # left out at each end of a 95 % interval

Vector = tuple[int, Sequence[float]]  # the seed of the draws, and the headline on each


def with_ties(board: Board, start: int, stop: int) -> list[Row]:
    """Return the rows from `start` to before `stop`, each told whether its team is tied with the next team above.

    One query, whatever the number of rows. A baseline has no rank, so it takes no part: a tie reaches past it. Under a
    ladder nothing is compared. What cannot be compared, for want of replicates of equal draws, is not known: None.
    """
    if board.seen.ladder:
        return board.rows[start:stop]
    start = max(start, 0)
    teams = [place for place, row in enumerate(board.rows) if not row.baseline]
    first = max((place for place in teams if place < start), default=start)
    last = min((place for place in teams if place >= stop - 1), default=stop)
    told = tied_teams(board, board.rows[first : last + 1])
    return through_baselines(told)[start - first : stop - first]


def tied_teams(board: Board, rows: Sequence[Row]) -> list[Row]:
    """Tell each team of consecutive rows whether it is tied with the team before it; the first has nobody before it."""
    vectors = vectors_of((row.evaluation_id for row in rows if not row.baseline), split=board.split)
    told: list[Row] = []
    above: Row | None = None
    for row in rows:
        if not row.baseline:
            pair = (vectors.get(one.evaluation_id) for one in (above, row) if one)
            row, above = replace(row, tied=are_tied(*pair, seen=board.seen) if above else False), row
        told.append(row)
    return told


def through_baselines(rows: Iterable[Row]) -> list[Row]:
    """Have the bracket of a tie drawn through the baselines between its two teams."""
    joined: list[Row] = []
    is_joined = False
    for row in reversed(list(rows)):
        is_joined = is_joined if row.baseline else bool(row.tied)
        joined.append(replace(row, joined=is_joined))
    return joined[::-1]


def vectors_of(evaluations: Iterable[int], *, split: str) -> dict[int, Vector]:
    kept = Replicates.objects.filter(evaluation__in=list(evaluations), split=split)
    return {one.evaluation_id: (one.seed, one.vector) for one in kept}


def are_tied(one: Vector | None, other: Vector | None, *, seen: Sight) -> bool | None:
    """Tell whether the 95 % interval of the paired differences, as it is seen, holds zero; None: not known."""
    exact = difference_between(one, other)
    shown = seen.interval(*exact) if exact else None
    return None if shown is None else shown[0] <= 0 <= shown[1]


def difference_between(one: Vector | None, other: Vector | None) -> Interval | None:
    """Return the exact interval of `one` - `other`; None without replicates of equal draws on both sides."""
    if one is None or other is None or (one[0], len(one[1])) != (other[0], len(other[1])):
        return None
    return paired_interval(one[1], other[1])


def paired_interval(one: Sequence[float], other: Sequence[float]) -> Interval | None:
    """Percentile interval of `one` - `other`, replicate by replicate; None where no replicate has both.

    >>> paired_interval([0.5, 0.75, 1.0], [0.25, 0.5, 0.5])
    (0.25, 0.4875)
    """
    differences = sorted(difference for difference in map(sub, one, other) if not isnan(difference))
    return (quantile(differences, TAIL), quantile(differences, 1 - TAIL)) if differences else None


def quantile(values: Sequence[float], share: float) -> float:
    """Return the quantile of sorted values, linear between neighbours, as NumPy has it."""
    place = share * (len(values) - 1)
    before = min(floor(place), len(values) - 2)
    if before < 0:
        return values[0]
    return values[before] + (place - before) * (values[before + 1] - values[before])
