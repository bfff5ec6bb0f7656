"""Computes the interval for the difference between two scores from their bootstrap replicates.

Replicates are scores recomputed on random draws of the images. They can be paired if both scores use the same draws.
"""

from collections.abc import Iterable, Sequence
from math import floor, isnan
from operator import sub

from django.db.models import QuerySet

from evaluator.digits import Interval, containing
from server.compiled_queries import compiled_query
from server.submissions.models import Replicates

TAIL = 0.025  # fraction of the bootstrap distribution that lies beyond each end of a 95% interval

Vector = tuple[int, Sequence[float]]  # seed of the bootstrap draws of images, and the headline score for each draw


def vectors_of(evaluations: Iterable[int], *, split: str) -> dict[int, Vector]:
    kept = replicates_of(evaluations=list(evaluations), split=split)
    return {one.evaluation_id: (one.seed, one.vector) for one in kept}


@compiled_query
def replicates_of(*, evaluations: list[int], split: str) -> QuerySet[Replicates]:
    return Replicates.objects.filter(evaluation__in=evaluations, split=split)


def difference_between(one: Vector | None, other: Vector | None, observed: float) -> Interval | None:
    """Return the 95% interval for the score difference `one` - `other`, or None if the replicates are not paired.

    `one` and `other` consist of the seed of the draws and the score for each draw. `observed` is the difference between
    the two scores. The interval contains it.

    >>> difference_between((7, [0.5, 0.75, 1.0]), (7, [0.25, 0.5, 0.5]), 0.375)
    (0.25, 0.4875)
    """
    differences = sorted(paired_differences(one, other))
    if not differences:
        return None
    return containing((quantile(differences, TAIL), quantile(differences, 1 - TAIL)), observed)


def paired_differences(one: Vector | None, other: Vector | None) -> list[float]:
    """Return the score difference `one` - `other` for each bootstrap replicate that is defined for both evaluations.

    The list is empty unless both evaluations have replicates from the same draws.
    """
    if one is None or other is None or (one[0], len(one[1])) != (other[0], len(other[1])):
        return []
    differences = list(map(sub, one[1], other[1]))
    if isnan(sum(differences)):  # In rare cases, a bootstrap replicate has no score. Such a replicate is left out.
        return [difference for difference in differences if not isnan(difference)]
    return differences


def quantile(values: Sequence[float], share: float) -> float:
    """Return the `share` quantile of sorted values, with linear interpolation as in NumPy."""
    position = share * (len(values) - 1)
    before = min(floor(position), len(values) - 2)
    if before < 0:
        return values[0]
    return values[before] + (position - before) * (values[before + 1] - values[before])
