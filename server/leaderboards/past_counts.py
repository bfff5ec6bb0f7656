"""Counts the submissions that a team had at an earlier time.

Team merges after that time may have moved submissions to another team.
"""

from collections import Counter
from datetime import UTC, datetime

from django.db.models import Count, F, QuerySet

from server.challenges.models import Phase, Team
from server.compiled_queries import compiled_query
from server.leaderboards import entry_queries
from server.submissions.models import Status, Submission

LATEST = datetime.max.replace(tzinfo=UTC)


def scored_until(phase: Phase, teams: list[int], moment: datetime) -> Counter[int]:
    """Return how many submissions of each team had been scored by a given time, disregarding later team merges."""
    counts = Counter(dict(entry_queries.scored_until(phase=phase.pk, teams=teams, moment=moment)))
    merged = {team: (into, at) for team, into, at in merges(challenge=phase.challenge_id)}
    if not merged:
        return counts
    present = {team_at(team, LATEST, merged) for team in teams}
    for team, submitted_by, count in moved_submissions(phase=phase.pk, teams=[*present], moment=moment):
        counts[team] -= count
        counts[team_at(submitted_by, moment, merged)] += count
    return counts


def team_at(team: int, moment: datetime, merged: dict[int, tuple[int, datetime]]) -> int:
    """Return the team into which a team had been merged by a given time, or the team itself if it was not merged.

    `merged` maps each merged team to the team that it joined and the time of the merge.

    >>> first, second = datetime(2026, 1, 1), datetime(2026, 1, 3)
    >>> [team_at(1, datetime(2026, 1, day), {1: (2, first), 2: (3, second)}) for day in (2, 4)]
    [2, 3]
    """
    while team in merged and merged[team][1] <= moment:
        team = merged[team][0]
    return team


@compiled_query
def moved_submissions(*, phase: int, teams: list[int], moment: datetime) -> QuerySet[Submission, tuple[int, int, int]]:
    """Count the submissions that team merges moved from one team to another.

    The query returns rows (current team, submitting team, count). Only submissions that had been scored by a given time
    are counted.
    """
    scored = Submission.objects.filter(phase=phase, team__in=teams, status=Status.SCORED, finished_at__lte=moment)
    groups = scored.filter(submitted_by__isnull=False).order_by().values("team", "submitted_by")
    return groups.annotate(count=Count("pk")).values_list("team", "submitted_by", "count")


@compiled_query
def merges(*, challenge: int) -> QuerySet[Team, tuple[int, int, datetime]]:
    merged = Team.objects.filter(challenge=challenge, merged_into__isnull=False)
    return merged.order_by().values_list("pk", F("merged_into"), "merged_at")
