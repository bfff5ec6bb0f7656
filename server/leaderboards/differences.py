"""Computes the interval for the difference between two scores from bootstrap replicates with the same draws."""

from collections.abc import Iterable, Sequence
from math import floor, isnan
from operator import sub

from django.db.models import QuerySet

from evaluator.digits import Interval
from server.compiled_queries import compiled_query
from server.submissions.models import Replicates

TAIL = 0.025  # fraction of the distribution beyond each end of a 95% interval

# A vector consists of the seed of the bootstrap draws, and the value of the headline metric for each draw.
Vector = tuple[int, Sequence[float]]


def vectors_of(evaluations: Iterable[int], *, split: str) -> dict[int, Vector]:
    kept = replicates_of(evaluations=list(evaluations), split=split)
    return {one.evaluation_id: (one.seed, one.vector) for one in kept}


@compiled_query
def replicates_of(*, evaluations: list[int], split: str) -> QuerySet[Replicates]:
    return Replicates.objects.filter(evaluation__in=evaluations, split=split)


def difference_between(one: Vector | None, other: Vector | None) -> Interval | None:
    """Return the exact interval for `one` - `other`, or None unless both have replicates from the same draws."""
    if one is None or other is None or (one[0], len(one[1])) != (other[0], len(other[1])):
        return None
    return paired_interval(one[1], other[1])


def paired_interval(one: Sequence[float], other: Sequence[float]) -> Interval | None:
    """Return the percentile interval for `one` - `other`, or None if no replicate has both values.

    >>> paired_interval([0.5, 0.75, 1.0], [0.25, 0.5, 0.5])
    (0.25, 0.4875)
    """
    differences = list(map(sub, one, other))
    if isnan(sum(differences)):  # In rare cases, some replicates are undefined (NaN).
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
