"""Which neighbours on a board cannot be told apart: a paired test on the replicates that every evaluation keeps."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import floor, isnan
from operator import sub

from server.leaderboards.queries import Board, Row
from server.submissions.feedback import Interval
from server.submissions.models import Replicates

TAIL = 0.025  # left out at each end of a 95 % interval

Vector = tuple[int, Sequence[float]]  # the seed of the draws, and the headline on each


def with_ties(board: Board, start: int, stop: int) -> list[Row]:
    """Return the rows from `start` to before `stop`, each told whether it is tied with the one before it.

    One query, whatever the number of rows. Without replicates of equal draws on both sides nothing is said: no tie.
    """
    above = max(start - 1, 0)
    rows = board.rows[above:stop]
    vectors = vectors_of((row.evaluation_id for row in rows), split=board.split)
    ties = [cannot_be_told_apart(*(vectors.get(row.evaluation_id) for row in pair)) for pair in pairwise(rows)]
    told = [replace(row, tied=tied) for row, tied in zip(rows, [False, *ties], strict=False)]
    return told[start - above :]


def vectors_of(evaluations: Iterable[int], *, split: str) -> dict[int, Vector]:
    kept = Replicates.objects.filter(evaluation__in=list(evaluations), split=split)
    return {one.evaluation_id: (one.seed, one.vector) for one in kept}


def cannot_be_told_apart(one: Vector | None, other: Vector | None) -> bool:
    """Tell whether the 95 % interval of the paired differences holds zero."""
    if one is None or other is None or (one[0], len(one[1])) != (other[0], len(other[1])):
        return False
    ends = paired_interval(one[1], other[1])
    return ends is not None and ends[0] <= 0 <= ends[1]


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
