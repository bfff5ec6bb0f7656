"""Schedules, claims and records comparisons, the jobs that compare the entries of a leaderboard with each other.

The sweeper, a periodic task, finds leaderboards that have changed and wakes a worker, which computes tie groups
(adjacent teams whose scores do not differ significantly) and rank intervals (`worker.comparisons`). Therefore several
changes within a few seconds cause only one comparison, and recording a score is not delayed.
"""

import logging
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet

from server.challenges.models import Phase
from server.clock import database_now, midnight
from server.leaderboards.models import Board, ComparedEntry, Comparison
from server.submissions import queue
from server.submissions.queue import QUEUES, Queue
from server.submissions.services import leases

log = logging.getLogger(__name__)

COMPARE = "worker.compare"
# Comparisons of leaderboard entries have a higher priority than reruns, the jobs that score submissions again, because
# a rescoring can queue hours of reruns.
QUEUES[Comparison] = Queue(COMPARE, 6, settings.BROKER_QUEUES["comparisons"])

# Entries of leaderboards under ladder feedback are not compared, because ladder feedback hides small differences.
KINDS = (Board.Kind.PUBLIC, Board.Kind.PRIVATE, Board.Kind.ALL)
# the waiting time after which a comparison of leaderboard entries gets the same priority as submissions
LATE = timedelta(minutes=1)
# The pause between two comparisons of the same leaderboard's entries is PAUSE or, if that is longer, PAUSES times the
# duration of the earlier comparison.
PAUSE, PAUSES = timedelta(seconds=20), 9


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a comparison: the values that differ from the stored ones, and whether all entries were compared.

    `day` is the day (UTC) on which it was computed.
    """

    content: str
    day: date
    changed: list[ComparedEntry]
    is_complete: bool


def wake() -> None:
    """Queue a message to a worker if a leaderboard comparison is due and no message is queued.

    A comparison compares the entries of a leaderboard with each other. If the next comparison has been waiting for more
    than a minute, a message with the highest priority is queued, even if another message is queued already.
    """
    add_missing()
    now = database_now()
    first = in_turn(now).first()
    if first is None:
        return
    is_late = first.enqueued_at is not None and first.enqueued_at < now - LATE
    if not is_late and queue.waiting(Comparison) != 0:
        return
    if is_late or first.enqueued_at is None:
        Comparison.objects.filter(pk=first.pk, enqueued_at=first.enqueued_at).update(enqueued_at=now)
    queue.enqueue(Comparison, first.pk, urgent=is_late)


def add_missing() -> None:
    """Create a comparison job for each shown leaderboard that has entries but no such job yet."""
    shown = Board.objects.filter(signature=F("phase__signature"), kind__in=KINDS, listed__gt=0, comparison=None)
    Comparison.objects.bulk_create([Comparison(board=board) for board in shown], ignore_conflicts=True)


def in_turn(now: datetime) -> QuerySet[Comparison]:
    """Return the leaderboard comparisons that are due, in the order in which workers claim them."""
    return Comparison.objects.due(now).order_by(F("enqueued_at").asc(nulls_last=True), "pk")


def claim_next() -> Comparison | None:
    """Claim the next leaderboard comparison for this process, or return None if none is due.

    A comparison compares the entries of a leaderboard with each other. Only one process can claim it.
    """
    now = database_now()
    for one in in_turn(now):
        # No attempts are left for this comparison, and the process that made the last attempt stopped without recording
        # a result or a failure.
        if one.attempts >= settings.EVALUATION_ATTEMPTS:
            give_up(one, f"its worker stopped {one.attempts} times")
            continue
        lease, unclaimed = leases.new_lease(now), Comparison.objects.filter(pk=one.pk, lease_token=one.lease_token)
        if unclaimed.filter(attempts=one.attempts).update(**lease, attempts=one.attempts + 1):
            # The phase is read after the comparison has been claimed, so that the phase's settings are up to date. If
            # they change later, `forget` revokes the claim.
            claimed = Comparison.objects.select_related("board__phase").filter(pk=one.pk)
            return claimed.filter(lease_token=lease["lease_token"]).first()
    return None


@transaction.atomic
def record(comparison: Comparison, found: Found, *, seconds: float) -> bool:
    """Store the result of a comparison, and increment the leaderboard's version if the result has changed.

    Return False and write nothing if the worker has lost its lease, the claim on the comparison. The comparison stays
    due if the leaderboard has changed in the meantime, or if some entries have not been compared.
    """
    pause = max(PAUSE, timedelta(seconds=PAUSES * seconds))
    ended = {"content": found.content, "enqueued_at": None, "not_before": database_now() + pause}
    if not leases.finish(comparison, attempts=0, failure="", **ended):
        return False
    names = [field.name for field in ComparedEntry._meta.concrete_fields if not field.primary_key]
    ComparedEntry.objects.bulk_create(
        found.changed, batch_size=1000, update_conflicts=True, unique_fields=["entry"], update_fields=names
    )
    ComparedEntry.objects.filter(entry__board=comparison.pk, entry__valid_until__isnull=False).delete()
    board = Board.objects.select_for_update(no_key=True).get(pk=comparison.pk)
    is_current = board.version == comparison.board.version
    if found.changed:
        board.version += 1
        board.save(update_fields=["version"])
    if is_current and found.is_complete:
        Comparison.objects.filter(pk=comparison.pk).update(version=board.version, day=found.day)
    return True


def fail(comparison: Comparison, *, sentence: str, final: bool) -> bool:
    """End a failed attempt to compare the entries of a leaderboard.

    Return False and write nothing if the worker has lost its lease, the claim on this job. The comparison stays due if
    there are attempts left and the failure is not `final`.
    """
    if final or comparison.attempts >= settings.EVALUATION_ATTEMPTS:
        return give_up(comparison, sentence)
    return leases.finish(comparison, not_before=database_now() + PAUSE)


def give_up(comparison: Comparison, sentence: str) -> bool:
    """Give up on comparing the entries of a leaderboard, and log an alarm.

    The leaderboard is not compared again until it changes or the day ends.
    """
    compared = {"version": comparison.board.version, "day": midnight(database_now()).date()}
    given_up = leases.finish(comparison, **compared, attempts=0, enqueued_at=None, failure=sentence[:300])
    if given_up:
        log.error("alarm: the entries of %s are not compared: %s", comparison.board, sentence)
    return given_up


def release(comparison: Comparison) -> bool:
    """Release a worker's claim on a leaderboard comparison because this worker is being stopped.

    The interrupted attempt does not count.
    """
    return leases.finish(comparison, attempts=comparison.attempts - 1)


@transaction.atomic
def forget(phase: Phase) -> None:
    """Delete the results of comparing the entries of a phase's leaderboards, so that they are computed again.

    Call this, for example, after the number of decimals has changed. A worker that has already begun a comparison loses
    its lease, that is, its claim on the job.
    """
    Comparison.objects.filter(board__phase=phase).update(version=0, content="", failure="", **leases.NO_LEASE)
    ComparedEntry.objects.filter(entry__board__phase=phase).delete()
    Board.objects.filter(phase=phase, comparison__isnull=False).update(version=F("version") + 1)
