"""Computes a team's quota, which is the number of files that it may still submit, from an append-only ledger."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from server.challenges.closing import closing_for
from server.challenges.models import Phase, Team
from server.clock import is_over, midnight
from server.compiled_queries import compiled_query
from server.submissions.models import QuotaEntry, QuotaGrant, Submission


@dataclass(frozen=True, slots=True)
class Quota:
    """The quota of one team in one phase. The limits include additional submissions that organizers have granted.

    `reason` explains why the team may not submit now, and is empty if it may. `next_allowed_at` is None if the team may
    submit now or may never submit again. `closes_at` is the end of the phase for this team, or None. `granted` is the
    number of all additional submissions that organizers have granted to the team in this phase.
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
    closes_at: datetime | None
    granted: int
    reason: str

    @property
    def may_submit(self) -> int:
        """The number of files that the team may submit to the phase now."""
        if self.reason:
            return 0
        return min(self.left, self.attempts_left, self.left if self.total_left is None else self.total_left)


def state(*, team: Team, phase: Phase, now: datetime) -> Quota:
    """Return the quota of a team, computed from the ledger.

    Days are in UTC. Quota that is given back counts for the day on which it was used.
    """
    today = now.astimezone(UTC).date()
    sums = sums_of(team=team.pk, phase=phase.pk, day=today)
    ever, used, attempts, more, more_today = sums[0] if sums else (0, 0, 0, 0, 0)
    per_day, attempts_per_day = phase.quota_per_day + more_today, phase.attempts_per_day + more_today
    total = None if phase.quota_total is None else phase.quota_total + more
    left = max(0, min(per_day - used, left_after_merge(team, phase, ever, now) + more_today))
    attempts_left = max(0, attempts_per_day - attempts)
    total_left = None if total is None else max(0, total - ever)
    resets_at = midnight_after(now)
    today_used = reason_for_today(left, per_day, attempts_left, attempts_per_day)
    closes_at = closing_for(team, phase)
    ended = "The phase is closed." if is_over(closes_at, now) else reason_for_good(total, total_left)
    not_yet = "" if phase.has_opened(now) else "The phase is not open yet."
    next_allowed_at = None if ended else phase.opening if not_yet else resets_at if today_used else None
    if today_used and not ended and is_over(closes_at, resets_at):
        ended, next_allowed_at = f"{today_used} The phase closes before the next day (UTC) begins.", None
    return Quota(
        per_day=per_day,
        used=used,
        left=left,
        attempts_per_day=attempts_per_day,
        attempts_left=attempts_left,
        total=total,
        total_left=total_left,
        resets_at=resets_at,
        next_allowed_at=next_allowed_at,
        closes_at=closes_at,
        granted=more,
        reason=ended or not_yet or phase.pause_text or today_used,
    )


@compiled_query
def sums_of(*, team: int, phase: int, day: date) -> QuerySet[Any, Any]:
    """Return the quota that a team has used, the number of its attempts, and its granted additional submissions.

    The values are: the total quota used, the quota used and the attempts on the given day, and the additional
    submissions granted in total and for that day.
    """
    today, of_team = Q(day=day), Q(team=team, phase=phase)
    ledger = QuotaEntry.objects.filter(of_team).order_by().values("team")
    grants = QuotaGrant.objects.filter(of_team).order_by().values("team")
    sums = {
        "ever": ledger.annotate(sum=Sum("amount")),
        "used": ledger.filter(today).annotate(sum=Sum("amount")),
        "attempts": ledger.filter(today, amount=1).annotate(sum=Count("pk")),
        "more": grants.annotate(sum=Sum("amount")),
        "more_today": grants.filter(today).annotate(sum=Sum("amount")),
    }
    numbers = {name: Coalesce(Subquery(found.values("sum")), 0) for name, found in sums.items()}
    return Team.objects.filter(pk=team).order_by().annotate(**numbers).values_list(*numbers)


def days_so_far(phase: Phase, now: datetime) -> int:
    """Return the number of days (UTC) from the opening of a phase to today or to its end, including both days."""
    if not phase.has_opened(now):
        return 0
    last = min(now, phase.ending or now)
    return (last.astimezone(UTC).date() - phase.opening.astimezone(UTC).date()).days + 1


def left_after_merge(team: Team, phase: Phase, used: int, now: datetime) -> int:
    """Return how many submissions a team has left today (UTC) under the rule for merged teams.

    On the day of a merge, the two teams together may not use more than one team could have used since the phase opened.
    On any other day, the rule does not apply, and the daily quota is returned.
    """
    if team.last_merge_at is None or team.last_merge_at < midnight(now):
        return phase.quota_per_day
    return days_so_far(phase, now) * phase.quota_per_day - used


def statement(*, team: Team, phase: Phase) -> QuerySet[QuotaEntry]:
    """Return every entry in the ledger of a team's quota in a phase, newest first."""
    return QuotaEntry.objects.filter(team=team, phase=phase).select_related("submission").order_by("-pk")


def grants_of(*, team: Team, phase: Phase) -> QuerySet[QuotaGrant]:
    """Return the grants of additional submissions that organizers gave a team in a phase, in chronological order."""
    return QuotaGrant.objects.filter(team=team, phase=phase)


def midnight_after(now: datetime) -> datetime:
    today = midnight(now)
    return today + timedelta(days=1)


def reason_for_good(total: int | None, total_left: int | None) -> str:
    """Return the reason why a team can never submit again in this phase, or an empty string if it can."""
    return f"Your team has used all {total} submissions of this phase." if total_left == 0 else ""


def reason_for_today(left: int, per_day: int, attempts_left: int, attempts_per_day: int) -> str:
    """Return the reason why a team cannot submit again today, or an empty string if it can."""
    if not left:
        return f"Your team has used its {per_day} submissions for today (UTC)."
    if not attempts_left:
        return f"Your team has used its {attempts_per_day} attempts for today (UTC), including rejected files."
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
    """Give back the quota of a submission, unless it used none (a baseline) or its quota was already given back."""
    charged = QuotaEntry.objects.filter(submission=submission, amount=1).first()
    if charged is None:
        return
    fields = {"phase_id": charged.phase_id, "team_id": charged.team_id, "day": charged.day, "at": now, "reason": reason}
    QuotaEntry.objects.get_or_create(submission=submission, amount=-1, defaults=fields)
