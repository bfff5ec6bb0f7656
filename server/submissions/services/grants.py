"""Grants one team additional submissions, on one day or in total, and takes back those that the team has not used."""

from datetime import date, timedelta

from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.locks import lock_teams
from server.challenges.models import Phase, Team
from server.challenges.roles import Right, refuse_without
from server.challenges.services import reason_line
from server.clock import database_now, midnight
from server.errors import Refused
from server.submissions.models import QuotaGrant
from server.submissions.services.quota import sums_of

AMOUNT_MAX = 100
# If a grant repeats one from the last minute, the organizer probably clicked the button twice.
REPEATED = timedelta(minutes=1)


@transaction.atomic
def grant(*, phase: Phase, team: Team, by: User | None, amount: int, day: date | None, reason: str) -> QuotaGrant:
    """Raise the quota of a team for a day (UTC) or, without a day, in total.

    The team is locked, so that none of its files is accepted at the same time. Raises Refused if the same grant was
    made in the last minute.
    """
    refuse_without(Right.EDIT, by=by, challenge=phase.challenge)
    lock_teams([team.pk])
    team, now = Team.objects.get(pk=team.pk, challenge=phase.challenge_id), database_now()
    if team.is_baseline or team.merged_into_id:
        raise Refused("invalid", f"{team.name} is a baseline or was merged into another team, so it cannot submit.")
    if not 1 <= amount <= AMOUNT_MAX:
        raise Refused("invalid", f"Number of submissions: enter a number from 1 to {AMOUNT_MAX}.")
    if day is None and phase.quota_total is None:
        raise Refused("invalid", "This phase has no total limit. Choose a day.")
    if day is not None and day < midnight(now).date():
        raise Refused("invalid", "Choose today (UTC) or a later day.")
    why = reason_line(reason)
    fields = {"phase": phase, "team": team, "amount": amount, "day": day, "reason": why}
    if QuotaGrant.objects.filter(**fields, granted_at__gt=now - REPEATED).exists():
        raise Refused("change_refused", "The same grant was made less than a minute ago. It was not made again.")
    found = QuotaGrant.objects.create(**fields, granted_at=now)
    detail = {"phase": str(phase), "amount": amount, "day": str(day) if day else None, "reason": why}
    audit.record(actor=by, action="team.quota_granted", subject=f"team {team.pk}", detail=detail)
    return found


@transaction.atomic
def take_back(*, grant: QuotaGrant, by: User | None, reason: str) -> int:
    """Take back a grant's additional submissions that the team has not used. Return their number.

    Raises Refused if the team has used all of them, because a limit is never lowered below what was used.
    """
    phase = grant.phase
    refuse_without(Right.EDIT, by=by, challenge=phase.challenge)
    lock_teams([grant.team_id])
    locked = QuotaGrant.objects.get(pk=grant.pk)
    if not locked.amount:
        raise Refused("change_refused", "This grant has already been taken back.")
    amount = min(locked.amount, unused(phase, locked))
    if not amount:
        raise Refused(
            "change_refused",
            "The team has already used all submissions of this grant. A limit cannot be lower than the number "
            "of submissions already used.",
        )
    why = reason_line(reason)
    locked.amount, locked.taken_back = locked.amount - amount, locked.taken_back + amount
    locked.taken_back_at, locked.taken_back_reason = database_now(), why
    locked.save(update_fields=["amount", "taken_back", "taken_back_at", "taken_back_reason"])
    detail = {"phase": str(phase), "grant": locked.pk, "amount": amount, "left": locked.amount, "reason": why}
    audit.record(actor=by, action="team.quota_taken_back", subject=f"team {locked.team_id}", detail=detail)
    return amount


def unused(phase: Phase, grant: QuotaGrant) -> int:
    """Return the number of submissions by which the limits that a grant has raised can be lowered.

    No limit may become lower than what the team has used. The result can exceed the amount of the grant. A grant for a
    day also raises the daily limit of attempts. An attempt is any submitted file, even a rejected one.
    """
    day = grant.day or grant.granted_at.date()
    sums = sums_of(team=grant.team_id, phase=phase.pk, day=day)
    ever, used, attempts, more, more_that_day = sums[0]
    left = [] if phase.quota_total is None else [phase.quota_total + more - ever]
    if grant.day is not None:
        left += [phase.quota_per_day + more_that_day - used, phase.attempts_per_day + more_that_day - attempts]
    return max(0, min(left, default=grant.amount))
