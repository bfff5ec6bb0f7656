"""Gives one team more submissions, on one day or in total."""

from datetime import date

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

AMOUNT_MAX = 100


@transaction.atomic
def grant(*, phase: Phase, team: Team, by: User | None, amount: int, day: date | None, reason: str) -> QuotaGrant:
    """Raise the quota of a team for a day (UTC) or, without a day, in total. A grant cannot be revoked.

    The team is locked, so that none of its files is accepted at the same time.
    """
    refuse_without(Right.EDIT, by=by, challenge=phase.challenge)
    lock_teams([team.pk])
    team, now = Team.objects.get(pk=team.pk, challenge=phase.challenge_id), database_now()
    if team.is_baseline or team.merged_into_id:
        raise Refused("invalid", f"{team.name} cannot submit.")
    if not 1 <= amount <= AMOUNT_MAX:
        raise Refused("invalid", f"Submissions: enter a number from 1 to {AMOUNT_MAX}.")
    if day is None and phase.quota_total is None:
        raise Refused("invalid", "This phase has no limit in total. Choose a day.")
    if day is not None and day < midnight(now).date():
        raise Refused("invalid", "Choose today (UTC) or a later day.")
    why = reason_line(reason)
    fields = {"phase": phase, "team": team, "amount": amount, "day": day, "reason": why}
    found = QuotaGrant.objects.create(**fields, granted_at=now)
    detail = {"phase": str(phase), "amount": amount, "day": str(day) if day else None, "reason": why}
    audit.record(actor=by, action="team.quota_granted", subject=f"team {team.pk}", detail=detail)
    return found
