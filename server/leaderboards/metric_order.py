"""Sorts the current entries of a leaderboard by a metric other than the headline, rounded as the viewer sees it."""

from django.db.models import QuerySet

from server.leaderboards.models import MetricValue
from server.submissions.feedback import ScoreAccess

COLUMNS = ("value", "entry__score", "entry__submitted_at", "entry__team", "entry")


def keys_in_order(values: QuerySet[MetricValue], access: ScoreAccess, start: int, stop: int) -> list[int]:
    """Return the ids of the entries at positions `start` to `stop` - 1, highest value of the metric first.

    Undefined values come last. Entries with the same rounded value are in rank order, so that the order reveals no more
    than the rounded values. The database sorts by exact values, using an index. Rounding can move an entry into
    or out of the requested range only if its exact value is within one rounding step of this range, so only such
    entries are sorted again.
    """
    exact = list(values.order_by("-value").values_list("value", flat=True)[start:stop])
    if not exact:
        return []
    first, last = access.rounded(exact[0]), access.rounded(exact[-1])
    margin = 0.0 if access.decimals is None else 10.0**-access.decimals
    near = values.filter(value__gte=last - margin, value__lte=first + margin)
    lines = [(-access.rounded(value), -score, *more) for value, score, *more in near.values_list(*COLUMNS)]
    before = values.filter(value__gt=first + margin).count() + sum(-line[0] > first for line in lines)
    shown = sorted(line for line in lines if last <= -line[0] <= first)
    return [line[-1] for line in shown[start - before : stop - before]]
