"""Scorings after the first, of lower priority: for the intervals, then for what explains the score.

A score never waits for either, and stays whatever becomes of them.

As with submissions, the row is the truth and every step one guarded UPDATE: a message may come twice, a worker may die.
"""

import logging
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import F

from evaluator.catalog import Track
from server.challenges.models import Team, Truth
from server.clock import database_now
from server.submissions import queue
from server.submissions.models import BOOTSTRAPPING, Rerun, RerunQuerySet, Status, Submission
from server.submissions.services import evaluations, ladder
from server.submissions.services.leases import FREE, end_of_lease, has_place

log = logging.getLogger(__name__)

TAKEN = ("lease_token", "lease_until", "attempts")


def ask(submissions: Iterable[Submission], *, truth: Truth, purpose: Rerun.Purpose = Rerun.Purpose.INTERVALS) -> None:
    """Have them scored again once this transaction is committed, also where that was given up before."""
    now = database_now()
    asked = Rerun.objects.bulk_create(
        [Rerun(submission=one, truth=truth, purpose=purpose, enqueued_at=now) for one in submissions],
        update_conflicts=True,
        unique_fields=["submission", "truth", "purpose"],
        update_fields=["failure", "attempts", "enqueued_at"],
    )
    for rerun in asked:
        queue.enqueue_rerun_on_commit(rerun.pk)


def ask_why(submissions: Iterable[Submission], *, truth: Truth, track: Track) -> None:
    """Have their scores explained, where there is anything to explain."""
    if settings.EXPLANATION_MAX_BYTES and (track.explained_tables or track.curves):
        ask(submissions, truth=truth, purpose=Rerun.Purpose.EXPLANATION)


def held(rerun: Rerun) -> RerunQuerySet:
    """The row as long as this holder's lease stands."""
    return Rerun.objects.filter(pk=rerun.pk, lease_token=rerun.lease_token)


def claim(rerun_id: int, *, large: bool = True) -> Rerun | None:
    """Take a waiting one; None if it cannot be taken, or its team has no place left. Safe to call twice.

    `large` says whether this process may take large files. It is the team's turn, as with a submission.
    """
    found = Rerun.objects.waiting().select_related("truth", "submission__phase").filter(pk=rerun_id).first()
    if found is None:
        return None
    team, still = found.submission.team_id, Rerun.objects.waiting().filter(pk=rerun_id, attempts=found.attempts)
    with transaction.atomic():
        now = database_now()
        Team.objects.filter(pk=team).update(served_at=now)  # and so nobody else takes the team's last place
        found.lease_token, found.lease_until, found.attempts = uuid4(), end_of_lease(now), found.attempts + 1
        taken = has_place(team, large=large) and still.update(**{name: getattr(found, name) for name in TAKEN})
        if not taken:
            transaction.set_rollback(True)
    return found if taken else None


def beat(rerun: Rerun) -> bool:
    """Prolong the lease; False if it is lost."""
    return bool(held(rerun).update(lease_until=end_of_lease(database_now())))


@transaction.atomic
def record(rerun: Rerun, *, report: dict[str, Any], replicates: Mapping[str, bytes], cpu_seconds: float) -> bool:
    """Write the intervals, once: False, and nothing written, if the lease is lost. An explanation follows.

    Raises Unrepeatable, with nothing written, where the scores are not those of the first time.
    """
    now = database_now()
    # before the submission, as everywhere: what a ladder shows is decided for one file of a team at a time
    list(Team.objects.select_for_update(no_key=True).filter(pk=rerun.submission.team_id))
    submission = locked(rerun)
    if submission is None or not held(rerun).delete()[0]:
        return False
    evaluation = evaluations.write_again(submission, truth=rerun.truth, report=report, cpu_seconds=cpu_seconds, now=now)
    evaluations.write_replicates(evaluation, replicates)
    ladder.publish(evaluation)
    settle(rerun)
    if Truth.objects.filter(pk=rerun.truth_id, active=True).exists():  # else when the boards are switched to it
        ask_why([submission], truth=rerun.truth, track=submission.phase.declared_track)
    return True


@transaction.atomic
def record_why(rerun: Rerun, *, report: dict[str, Any], contents: Mapping[str, bytes]) -> bool:
    """Write what explains the score, once, beside the evaluation that it explains; `contents` by split.

    Raises Unrepeatable, with nothing written, where the scores are not those of the first time.
    """
    submission = locked(rerun)
    if submission is None or not held(rerun).delete()[0]:
        return False
    evaluation = evaluations.same(submission, truth=rerun.truth, report=report)
    if evaluation is not None:  # else the evaluator has changed meanwhile
        evaluations.write_explanation(evaluation, contents)
    return True


def locked(rerun: Rerun) -> Submission | None:
    """Wait for whoever changes or removes the submission, before the rows that hang on it are touched."""
    return Submission.objects.select_for_update(no_key=True).filter(pk=rerun.submission_id).first()


def settle(rerun: Rerun) -> None:
    """Let the submission say whether intervals are still to come."""
    pending = Rerun.objects.scoring().pending().filter(submission=rerun.submission_id, truth__active=True).exists()
    scored = Submission.objects.filter(pk=rerun.submission_id, status=Status.SCORED)
    scored.update(stage=BOOTSTRAPPING if pending else "")


def fail(rerun: Rerun, *, sentence: str, final: bool, alarm: bool = True) -> bool:
    """End an attempt: waiting again while attempts are left, else given up, with an alarm in the log."""
    return give_up(held(rerun), rerun, sentence=sentence, final=final, alarm=alarm)


@transaction.atomic
def give_up(mine: RerunQuerySet, rerun: Rerun, *, sentence: str, final: bool, alarm: bool = True) -> bool:
    """End an attempt of the rows `mine` (one or none)."""
    locked(rerun)
    if not final and rerun.attempts < settings.EVALUATION_ATTEMPTS:
        return back_to_queue(mine, rerun)
    given_up = mine.update(failure=sentence[:300], **FREE)
    if given_up:
        settle(rerun)
        level, word = (logging.ERROR, "alarm: ") if alarm else (logging.INFO, "")
        log.log(level, "%ssubmission %s has no %s: %s", word, rerun.submission_id, rerun.purpose, sentence)
    return bool(given_up)


def back_to_queue(mine: RerunQuerySet, rerun: Rerun, **changes: Any) -> bool:
    waiting = mine.update(enqueued_at=database_now(), **FREE, **changes)
    if waiting:
        queue.enqueue_rerun_on_commit(rerun.pk)
    return bool(waiting)


@transaction.atomic
def release(rerun: Rerun) -> bool:
    """Put it back because the worker is being stopped: nobody's fault, so the attempt does not count."""
    return back_to_queue(held(rerun), rerun, attempts=F("attempts") - 1)


@transaction.atomic
def release_as_large(rerun: Rerun) -> bool:
    """Put it back because it costs more than a small file may. The attempt does not count."""
    no_longer_small(rerun)
    return release(rerun)


def no_longer_small(rerun: Rerun) -> None:
    """Let all that follows for its submission wait its turn among the large files."""
    Submission.objects.filter(pk=rerun.submission_id).update(small=False)
