"""Computes the quota, which is the number of files that a team may still submit, from an append-only ledger."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from server.challenges.models import Phase, Team
from server.clock import midnight
from server.compiled_queries import compiled_query
from server.submissions.models import QuotaEntry, Submission


@dataclass(frozen=True, slots=True)
class Quota:
    """The quota of one team in one phase.

    `reason` explains why the team may not submit now; it is empty if the team may submit. `next_allowed_at` is None if
    the team may submit now, or never again.
    """

    per_day: int
    used: int
    left: int
    attempts_per_day: int
    attempts_left: int
    total: int | None
    total_left: int | None
    resets_at: datetime
    next_allowed_at: datetime | None
    reason: str

    @property
    def may_submit(self) -> int:
        """The number of files that the team may submit now."""
        if self.reason:
            return 0
        return min(self.left, self.attempts_left, self.left if self.total_left is None else self.total_left)


def state(*, team: Team, phase: Phase, now: datetime) -> Quota:
    """Return the quota of a team, computed from the ledger.

    Days are in UTC. Quota that is given back counts for the day on which it was used.
    """
    today = now.astimezone(UTC).date()
    ever, used, attempts = next(iter(sums_of(team=team.pk, phase=phase.pk, day=today)), (0, 0, 0))
    left = max(0, min(phase.quota_per_day - used, left_after_merge(team, phase, ever, now)))
    attempts_left = max(0, phase.attempts_per_day - attempts)
    total_left = None if phase.quota_total is None else max(0, phase.quota_total - ever)
    resets_at = midnight_after(now)
    today_used = reason_for_today(phase, left, attempts_left)
    ended = reason_for_good(phase, total_left, now)
    not_yet = "" if phase.has_opened(now) else "The phase is not open yet."
    next_allowed_at = None if ended else phase.opening if not_yet else resets_at if today_used else None
    if today_used and not ended and phase.has_closed(resets_at):
        ended, next_allowed_at = f"{today_used} The phase closes before the next day (UTC) begins.", None
    return Quota(
        per_day=phase.quota_per_day,
        used=used,
        left=left,
        attempts_per_day=phase.attempts_per_day,
        attempts_left=attempts_left,
        total=phase.quota_total,
        total_left=total_left,
        resets_at=resets_at,
        next_allowed_at=next_allowed_at,
        reason=ended or not_yet or today_used,
    )


@compiled_query
def sums_of(*, team: int, phase: int, day: date) -> QuerySet[Any, Any]:
    """Return the quota that a team has used in total and on one day, and its attempts on that day.

    Return no row if the ledger has no entries of the team.
    """
    today = Q(day=day)
    sums = {
        "ever": Sum("amount"),
        "used": Sum("amount", filter=today, default=0),
        "attempts": Count("pk", filter=today & Q(amount=1)),
    }
    ledger = QuotaEntry.objects.order_by().filter(team=team, phase=phase)
    return ledger.values("team").annotate(**sums).values_list(*sums)


def days_so_far(phase: Phase, now: datetime) -> int:
    """Return the number of days (UTC) on which a phase has accepted submissions, including today."""
    if not phase.has_opened(now):
        return 0
    last = min(now, phase.closing or now)
    return (last.astimezone(UTC).date() - phase.opening.astimezone(UTC).date()).days + 1


def left_after_merge(team: Team, phase: Phase, used: int, now: datetime) -> int:
    """Return how many submissions a team has left today, as limited by a merge of teams on the same day (UTC).

    On the day of a merge, both teams together may not have used more than one team could have used since the phase
    opened. On any other day, return the daily quota, which is enough to keep the team within this limit.
    """
    if team.last_merge_at is None or team.last_merge_at < midnight(now):
        return phase.quota_per_day
    return days_so_far(phase, now) * phase.quota_per_day - used


def statement(*, team: Team, phase: Phase) -> QuerySet[QuotaEntry]:
    """Return every entry of a team's ledger, newest first."""
    return QuotaEntry.objects.filter(team=team, phase=phase).select_related("submission").order_by("-pk")


def midnight_after(now: datetime) -> datetime:
    today = midnight(now)
    return today + timedelta(days=1)


def reason_for_good(phase: Phase, total_left: int | None, now: datetime) -> str:
    """Return the reason why a team can never submit again, or an empty string."""
    if phase.has_closed(now):
        return "The phase is closed."
    if total_left == 0:
        return f"Your team has used all {phase.quota_total} submissions of this phase."
    return ""


def reason_for_today(phase: Phase, left: int, attempts_left: int) -> str:
    """Return the reason why a team cannot submit again today, or an empty string."""
    if not left:
        return f"Your team has used its {phase.quota_per_day} submissions for today (UTC)."
    if not attempts_left:
        return f"Your team has used its {phase.attempts_per_day} attempts for today (UTC), including rejected files."
    return ""


def charge(submission: Submission, *, now: datetime) -> None:
    QuotaEntry.objects.create(
        phase=submission.phase,
        team=submission.team,
        submission=submission,
        amount=1,
        reason="submitted",
        day=now.astimezone(UTC).date(),
        at=now,
    )


def give_back(submission: Submission, *, reason: str, now: datetime) -> None:
    """Give back the quota of a submission, unless it used none (a baseline) or its quota was given back before."""
    charged = QuotaEntry.objects.filter(submission=submission, amount=1).first()
    if charged is None:
        return
    fields = {"phase_id": charged.phase_id, "team_id": charged.team_id, "day": charged.day, "at": now, "reason": reason}
    QuotaEntry.objects.get_or_create(submission=submission, amount=-1, defaults=fields)
