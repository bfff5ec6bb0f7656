"""Extends a phase, either for all teams by moving its end, or for a single team.

While any team has an extension, the phase is not over, so the private leaderboard stays closed for everybody.
"""

from copy import copy
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.locks import lock_teams
from server.challenges.models import Challenge, Extension, Phase, Team
from server.challenges.roles import Right, refuse_without
from server.challenges.services import lock_organized_phase, reason_line
from server.challenges.term_changes import Terms, consequences, delay_reveals, refusals, terms_of
from server.clock import database_now, time_text, utc_text
from server.errors import Refused

SHORTER = "the team already has a longer extension, until {}"
NO_END = "This phase has no end, so there is nothing to extend."


@transaction.atomic
def extend_phase(*, phase: Phase, by: User | None, until: datetime, reason: str) -> Phase:
    """Move the end of a phase to a later time. Raises Refused if its private scores have already been shown.

    If the challenge would end earlier, its end is also moved. The ends of the other phases do not change.
    """
    locked, why = lock_organized_phase(phase, by=by, right=Right.EDIT), reason_line(reason)
    challenge = locked.challenge
    before, closing = terms_of(challenge), locked.closing
    if closing is None:
        raise Refused("invalid", NO_END)
    if until <= max(closing, database_now()):
        raise Refused("invalid", f"The new end must be in the future and later than {utc_text(closing)}.")
    if challenge.closes_at and challenge.closes_at < until:
        old, challenge.closes_at = challenge.closes_at, until
        for other in challenge.phases.exclude(pk=locked.pk).filter(closes_at=None):
            other.closes_at = old
            move_end(other, None, by, why)
        move_end(challenge, old, by, why)
    moved = copy(locked)
    moved.closes_at, moved.extended_at = until, database_now()
    refuse_revealed(before, moved)
    move_end(moved, locked.closes_at, by, why)
    delay_reveals(before, challenge, database_now())
    return moved


@transaction.atomic
def extend_team(
    *, phase: Phase, team: Team, by: User | None, until: datetime, reason: str, confirm: str = ""
) -> Extension:
    """Extend a phase for one team until a later time, replacing the team's previous extension.

    If the previous extension ends later, `confirm` must be the short name of the phase. If the phase would end within a
    day and earlier than announced, the same confirmation is needed, and only an owner may make the change.
    """
    locked, why = lock_organized_phase(phase, by=by, right=Right.EDIT), reason_line(reason)
    challenge = locked.challenge
    lock_teams([team.pk])
    before, now = terms_of(challenge), database_now()
    refuse_useless(locked, Team.objects.get(pk=team.pk, challenge=challenge), until, now)
    fields = {"until": until, "reason": why, "granted_at": now}
    said = [SHORTER.format(utc_text(one.until)) for one in locked.extensions.filter(team=team, until__gt=until)]
    found, _ = Extension.objects.update_or_create(phase=locked, team=team, defaults=fields)
    locked.extended_until = locked.extensions.aggregate(last=Max("until"))["last"]
    refuse_revealed(before, locked)
    if ends := list(consequences(before, {**before, locked.slug: Terms.of(locked)}, now)):
        refuse_without(Right.OWN, by=by, challenge=challenge)
    if (said + ends) and confirm.strip() != locked.slug:
        raise Refused("change_refused", f"{'; '.join(said + ends)}. To confirm, type {locked.slug}.")
    locked.save(update_fields=["extended_until"])
    delay_reveals(before, challenge, now)
    detail = {"phase": str(locked), "until": time_text(until), "reason": why}
    audit.record(actor=by, action="team.extended", subject=f"team {team.pk}", detail=detail)
    return found


def refuse_useless(phase: Phase, team: Team, until: datetime, now: datetime) -> None:
    """Raise Refused if an extension until the given time would have no effect for a team."""
    if phase.closing is None:
        raise Refused("invalid", NO_END)
    if team.is_baseline or team.merged_into_id:
        raise Refused(
            "invalid",
            f"{team.name} is a baseline or was merged into another team, so it cannot submit and does not need an "
            "extension.",
        )
    if until <= max(phase.closing, now):
        raise Refused("invalid", f"The extension must end in the future and later than {utc_text(phase.closing)}.")


def refuse_revealed(before: dict[str, Terms], phase: Phase) -> None:
    """Raise Refused if an extension would reopen a phase whose private scores have already been shown."""
    for sentence in refusals(before, {phase.slug: Terms.of(phase)}, database_now()):
        raise Refused("change_refused", f"{sentence}.")


def move_end(row: Challenge | Phase, old: datetime | None, by: User | None, reason: str) -> None:
    """Save the new end of a challenge or phase. A later import detects the edit from its entry in the audit log."""
    kind = row._meta.model_name
    row.save(update_fields=["closes_at", *(["extended_at"] if isinstance(row, Phase) else [])])
    values = {"closes_at": [audit.readable(old), audit.readable(row.closes_at)]}
    detail = {"fields": ["closes_at"], "values": values, "reason": reason}
    audit.record(actor=by, action=f"{kind}.changed", subject=f"{kind} {row.pk}", detail=detail)
