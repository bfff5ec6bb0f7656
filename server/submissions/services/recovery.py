"""Lets operators and organizers requeue failed submissions or give back their quota."""

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from evaluator.catalog import TRACKS
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.roles import Right, refuse_without
from server.clock import database_now
from server.errors import Refused
from server.submissions import queue
from server.submissions.models import (
    BOOTSTRAPPING,
    Evaluation,
    Fault,
    QuotaEntry,
    Replicates,
    Rerun,
    Status,
    Submission,
)
from server.submissions.services import admission, quota, reruns
from server.submissions.services.team_locks import lock_team

AS_UPLOADED = {
    "status": Status.QUEUED,
    "attempts": 0,
    "losses": 0,
    "finished_at": None,
    "fault": Fault.NONE,
    "failure_code": "",
    "failure": "",
    "progress": 0.0,
    "not_before": None,
    "postponed": 0,
}


@transaction.atomic
def requeue(*, submission: Submission, by: User | None) -> None:
    """Requeue a failed submission as if it were new. Quota that was given back is not deducted again."""
    refuse_without(Right.EDIT, by=by, challenge=submission.phase.challenge)
    # While the team is locked, a simultaneous upload of the same file has to wait, and is then detected as a duplicate.
    lock_team(submission)
    if not submission.file:
        raise Refused("invalid", f"The file of {submission.pk} was removed. It has to be submitted again.")
    admission.refuse_duplicates(submission)
    failed = Submission.objects.filter(pk=submission.pk, status=Status.FAILED).exclude(file="")
    if not failed.update(enqueued_at=database_now(), **AS_UPLOADED):
        raise Refused("invalid", f"{submission.pk} has not failed.")
    audit.record(actor=by, action="submission.requeued", subject=f"submission {submission.pk}")
    queue.enqueue_on_commit(Submission, submission.pk)


@transaction.atomic
def requeue_interval(*, submission: Submission, by: User | None) -> None:
    """Queue a rerun that computes the missing confidence interval of a submission's score."""
    refuse_without(Right.EDIT, by=by, challenge=submission.phase.challenge)
    truth = submission.phase.truth
    if truth is None:
        raise Refused("invalid", f"The phase of {submission.pk} has no ground truth yet.")
    if not submission.file:
        raise Refused("file_removed", f"The file of {submission.pk} has been removed, so it cannot be scored again.")
    if Rerun.objects.scoring().running().filter(submission=submission, truth=truth).exists():
        raise Refused("invalid", f"{submission.pk} is being rescored. Wait until that is done.")
    reruns.request([submission], truth=truth)
    Submission.objects.filter(pk=submission.pk, status=Status.SCORED).update(stage=BOOTSTRAPPING)
    audit.record(
        actor=by, action="submission.requeued", subject=f"submission {submission.pk}", detail={"for": "interval"}
    )


def without_interval() -> QuerySet[Submission]:
    """Return scored submissions that have neither a confidence interval nor a pending job that will compute it.

    Only intervals and jobs for the active ground truth are considered. Submissions whose files have been removed are
    left out.
    """
    evaluation = Evaluation.objects.filter(submission=OuterRef("pk"), truth__active=True)
    incomplete = evaluation.exclude(Exists(Replicates.objects.filter(evaluation=OuterRef("pk"))))
    pending = Rerun.objects.scoring().pending().filter(submission=OuterRef("pk"), truth__active=True)
    scored = Submission.objects.stored().filter(Exists(incomplete), status=Status.SCORED).exclude(Exists(pending))
    return scored.exclude(phase__track__in=tracks_without_intervals())


def tracks_without_intervals() -> list[str]:
    """Return the names of the tracks whose scores get no confidence intervals.

    If INTERVAL_REPLICATES is 0, all tracks are returned.
    """
    if not settings.INTERVAL_REPLICATES:
        return [*TRACKS]
    return [name for name, track in TRACKS.items() if not track.intervals]


@transaction.atomic
def give_back(*, submission: Submission, by: User | None) -> None:
    """Give back the quota that a failed or rejected submission used, regardless of the cause of the failure."""
    refuse_without(Right.EDIT, by=by, challenge=submission.phase.challenge)
    list(Submission.objects.select_for_update(no_key=True).filter(pk=submission.pk))
    submission.refresh_from_db()
    if submission.status not in (Status.FAILED, Status.REJECTED):
        raise Refused("invalid", f"{submission.pk} has not failed: it is {submission.status}.")
    if sum(QuotaEntry.objects.filter(submission=submission).values_list("amount", flat=True)) < 1:
        raise Refused(
            "invalid",
            f"There is no quota to give back for {submission.pk}: it used no quota, or the quota was already "
            "given back.",
        )
    quota.give_back(submission, reason="organizer", now=database_now())
    audit.record(actor=by, action="submission.given_back", subject=f"submission {submission.pk}")
