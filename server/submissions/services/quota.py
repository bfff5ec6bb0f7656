"""Quota: the number of files that a team may still submit, computed from an append-only ledger."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import Count, Q, QuerySet, Sum

from server.challenges.models import Phase, Team
from server.submissions.models import QuotaEntry, Submission


@dataclass(frozen=True, slots=True)
class Quota:
    """Quota of one team in one phase.

    `reason` explains why the team may not submit now; it is empty if the team may. `next_allowed_at` is None
    if the team may submit now, or never again.
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
    """Return the quota of a team, from the ledger.

    Days are in UTC. Quota that is given back counts for the day on which it was charged.
    """
    today = Q(day=now.astimezone(UTC).date())
    sums = QuotaEntry.objects.filter(team=team, phase=phase).aggregate(
        ever=Sum("amount", default=0),
        used=Sum("amount", filter=today, default=0),
        attempts=Count("pk", filter=today & Q(amount=1)),
    )
    left = max(0, phase.quota_per_day - sums["used"])
    attempts_left = max(0, phase.attempts_per_day - sums["attempts"])
    total_left = None if phase.quota_total is None else max(0, phase.quota_total - sums["ever"])
    resets_at = midnight_after(now)
    today_used = reason_for_today(phase, left, attempts_left)
    ended = reason_for_good(phase, total_left, now)
    not_yet = "" if phase.has_opened(now) else "The phase is not open yet."
    next_allowed_at = None if ended else phase.opening if not_yet else resets_at if today_used else None
    if today_used and not ended and phase.has_closed(resets_at):
        ended, next_allowed_at = f"{today_used} The phase closes before the next day (UTC) begins.", None
    return Quota(
        per_day=phase.quota_per_day,
        used=sums["used"],
        left=left,
        attempts_per_day=phase.attempts_per_day,
        attempts_left=attempts_left,
        total=phase.quota_total,
        total_left=total_left,
        resets_at=resets_at,
        next_allowed_at=next_allowed_at,
        reason=ended or not_yet or today_used,
    )


def statement(*, team: Team, phase: Phase) -> QuerySet[QuotaEntry]:
    """Return every entry of a team's ledger, newest first."""
    return QuotaEntry.objects.filter(team=team, phase=phase).select_related("submission").order_by("-pk")


def midnight_after(now: datetime) -> datetime:
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today + timedelta(days=1)


def reason_for_good(phase: Phase, total_left: int | None, now: datetime) -> str:
    """Return why a team can never submit again; empty if it can."""
    if phase.has_closed(now):
        return "The phase is closed."
    if total_left == 0:
        return f"Your team has used all {phase.quota_total} submissions of this phase."
    return ""


def reason_for_today(phase: Phase, left: int, attempts_left: int) -> str:
    """Return why a team cannot submit again today; empty if it can."""
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
    """Give back the quota of a submission, unless it was never charged (a baseline) or was given back before."""
    charged = QuotaEntry.objects.filter(submission=submission, amount=1).first()
    if charged is None:
        return
    fields = {"phase_id": charged.phase_id, "team_id": charged.team_id, "day": charged.day, "at": now, "reason": reason}
    QuotaEntry.objects.get_or_create(submission=submission, amount=-1, defaults=fields)
