"""Locks of teams. All transactions lock in the same order, see `audit.services.record`."""

from collections.abc import Iterable

from server.challenges.models import Team


def lock_teams(teams: Iterable[int]) -> list[Team]:
    """Lock the rows of teams, in the order of their ids, and return them as they are now.

    Whoever changes what a leaderboard shows of a team holds this lock, so that its entries follow one change at a time.
    """
    return list(Team.objects.select_for_update(no_key=True).filter(pk__in=[*teams]).order_by("pk"))
