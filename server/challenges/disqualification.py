"""Disqualifies teams. A disqualified team is removed from all leaderboards of its challenge.

The team's submissions and scores are kept.
"""

from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.locks import lock_teams
from server.challenges.models import Challenge, Removal, Team
from server.challenges.roles import Right, refuse_without
from server.challenges.services import lock_organized, reason_line
from server.clock import database_now
from server.errors import Refused

REASON_CHARACTERS = 500
REMOVED = "An organizer removed this baseline."


@transaction.atomic
def disqualify(*, team: Team, by: User | None, reason: str, show: bool = True) -> Team:
    """Disqualify a team, which removes it from the leaderboards. A new reason replaces the previous one.

    If `show` is true, the team can read the reason. Otherwise, the team learns only that the organizers removed it from
    the leaderboards. `by` is None for the operator of the server.
    """
    refuse_without(Right.EDIT, by=by, challenge=Challenge.objects.get(pk=team.challenge_id))
    return take_off(team=team, by=by, reason=reason, show=show)


@transaction.atomic
def take_off(*, team: Team, by: User | None, reason: str, show: bool = True) -> Team:
    """Disqualify a team without checking the permissions of the user `by`."""
    locked = lock(team)
    if locked.is_baseline:
        raise Refused(
            "invalid",
            f"{locked.name} is a baseline, which cannot be disqualified. Remove it on the Baselines page instead.",
        )
    locked.disqualification_reason = reason_line(reason, characters=REASON_CHARACTERS)
    locked.disqualification_is_shown = show
    locked.disqualified_at = locked.disqualified_at or database_now()
    return save(
        locked, by, action="team.disqualified", detail={"reason": locked.disqualification_reason, "shown": show}
    )


@transaction.atomic
def reinstate(*, team: Team, by: User | None, reason: str = "") -> Team:
    """Reinstate a disqualified team on the leaderboards.

    Raises Refused if the team is not disqualified, or if a member can read the private leaderboard as an organizer.
    """
    challenge = lock_organized(team.challenge_id, by=by, right=Right.EDIT)
    locked = lock(team)
    if locked.disqualified_at is None:
        raise Refused("invalid", f"{locked.name} is not disqualified.")
    for member in locked.memberships.select_related("user"):
        if challenge.has_organizer(member.user):
            raise Refused(
                "change_refused",
                f"{member.user}, a member of this team, is staff or an organizer and can read the private "
                "leaderboard. The team can be on the leaderboards only without this member.",
            )
    locked.disqualified_at, locked.disqualification_reason = None, ""
    return save(locked, by, action="team.reinstated", detail={"reason": reason})


@transaction.atomic
def remove_baseline(*, team: Team, by: User | None) -> Team:
    """Remove a baseline (a team without members) from all leaderboards. Its submissions and scores are kept."""
    locked = lock_baseline(team, by)
    if locked.disqualified_at is not None:
        raise Refused("invalid", f"{locked.name} was already removed.")
    locked.disqualified_at, locked.disqualification_reason = database_now(), REMOVED
    return save(locked, by, action="baseline.removed", detail={})


@transaction.atomic
def put_back_baseline(*, team: Team, by: User | None) -> Team:
    """Put a removed baseline (a team without members) back on the leaderboards."""
    locked = lock_baseline(team, by)
    if locked.disqualified_at is None:
        raise Refused("invalid", f"{locked.name} has not been removed, so it cannot be put back.")
    locked.disqualified_at, locked.disqualification_reason = None, ""
    return save(locked, by, action="baseline.put_back", detail={})


def lock_baseline(team: Team, by: User | None) -> Team:
    """Lock the database row of a baseline (a team without members), and return the baseline with its current data.

    Raises Refused if the team is not a baseline, or if the user `by` may not edit the challenge.
    """
    refuse_without(Right.EDIT, by=by, challenge=Challenge.objects.get(pk=team.challenge_id))
    locked = lock(team)
    if not locked.is_baseline:
        raise Refused("invalid", f"{locked.name} is not a baseline.")
    return locked


def lock(team: Team) -> Team:
    """Lock the database row of a team, and return the team with its current data."""
    lock_teams([team.pk])
    return Team.objects.get(pk=team.pk)


def save(team: Team, by: User | None, *, action: str, detail: dict[str, str | bool]) -> Team:
    """Save the disqualification fields of a team, update its `Removal` rows, and write an audit entry."""
    team.save(update_fields=["disqualified_at", "disqualification_reason", "disqualification_is_shown"])
    present = Removal.objects.filter(team=team, returned_at=None)
    if team.disqualified_at is None:
        present.update(returned_at=database_now())
    elif not present.exists():
        Removal.objects.create(team=team, removed_at=team.disqualified_at)
    audit.record(actor=by, action=action, subject=f"team {team.pk}", detail=detail)
    return team
