"""The numbers of teams that the list of challenges shows. Counting all teams for each request would take too long."""

from collections.abc import Iterable
from typing import Any

from django.core.cache import caches
from django.db.models import OuterRef, QuerySet, Subquery

from server.challenges.models import Challenge, Team
from server.compiled_queries import compiled_query
from server.row_counts import ROW_COUNT

CACHE_SECONDS = 30


def team_counts(challenges: Iterable[int]) -> dict[int, int]:
    """Return the number of teams in each challenge, not counting baselines. A number may be half a minute old."""
    keys = {f"teams:{challenge}": challenge for challenge in challenges}
    counts: dict[str, int] = caches["status"].get_many(keys)
    if missing := {key: challenge for key, challenge in keys.items() if key not in counts}:
        found = dict(teams_in(challenges=[*missing.values()]))
        counted = {key: found.get(challenge, 0) for key, challenge in missing.items()}
        caches["status"].set_many(counted, CACHE_SECONDS)
        counts |= counted
    return {challenge: counts[key] for key, challenge in keys.items()}


@compiled_query
def teams_in(*, challenges: list[int]) -> QuerySet[Any, Any]:
    """Return a row (challenge, number of teams) for each of the given challenges."""
    # With the condition `is_baseline IN (0)`, SQLite uses the column `is_baseline` of the index `team_of_challenge`.
    # With `NOT is_baseline`, it would not.
    teams = Team.objects.filter(challenge=OuterRef("pk"), is_baseline__in=[False], merged_into=None).order_by()
    counts = Subquery(teams.annotate(count=ROW_COUNT).values("count"))
    return Challenge.objects.filter(pk__in=challenges).order_by().annotate(count=counts).values_list("pk", "count")
