"""What operators and organizers do about submissions that failed: queue them again, give their quota back."""

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from evaluator.catalog import TRACKS
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Team
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

ANEW = {
    "status": Status.QUEUED,
    "attempts": 0,
    "losses": 0,
    "finished_at": None,
    "fault": Fault.NONE,
    "failure_code": "",
    "failure": "",
    "progress": 0.0,
    "not_before": None,
}


def refuse_outsiders(submission: Submission, by: User | None) -> None:
    """The service itself may do everything; a person what they organize."""
    if by is not None and not submission.phase.challenge.is_organized_by(by):
        raise Refused("forbidden", f"{by.get_username()} does not organize the challenge of {submission.pk}.")


@transaction.atomic
def requeue(*, submission: Submission, by: User | None) -> None:
    """Queue a failed submission again, as if for the first time. What was given back of the quota stays given back."""
    refuse_outsiders(submission, by)
    Team.objects.select_for_update(no_key=True).get(pk=submission.team_id)  # it may upload the same file now
    if not submission.file:
        raise Refused("invalid", f"The file of {submission.pk} was removed. It can only be uploaded again.")
    admission.refuse_duplicates(submission)
    failed = Submission.objects.filter(pk=submission.pk, status=Status.FAILED).exclude(file="")
    if not failed.update(enqueued_at=database_now(), **ANEW):
        raise Refused("invalid", f"{submission.pk} has not failed.")
    audit.record(actor=by, action="submission.requeued", subject=f"submission {submission.pk}")
    queue.enqueue_on_commit(submission.pk)


@transaction.atomic
def requeue_interval(*, submission: Submission, by: User | None) -> None:
    """Have the interval of a score computed that has none."""
    refuse_outsiders(submission, by)
    truth = submission.phase.truth
    if truth is None:
        raise Refused("invalid", f"The phase of {submission.pk} has no truth.")
    reruns.ask([submission], truth=truth)
    Submission.objects.filter(pk=submission.pk, status=Status.SCORED).update(stage=BOOTSTRAPPING)
    audit.record(
        actor=by, action="submission.requeued", subject=f"submission {submission.pk}", detail={"for": "interval"}
    )


def without_interval() -> QuerySet[Submission]:
    """Scored submissions whose score against the active truth has no interval, and none is to come."""
    evaluation = Evaluation.objects.filter(submission=OuterRef("pk"), truth__active=True)
    bare = evaluation.exclude(Exists(Replicates.objects.filter(evaluation=OuterRef("pk"))))
    to_come = Rerun.objects.scoring().pending().filter(submission=OuterRef("pk"), truth__active=True)
    scored = Submission.objects.filter(Exists(bare), status=Status.SCORED).exclude(Exists(to_come))
    return scored.exclude(phase__track__in=without_intervals())


def without_intervals() -> list[str]:
    """Return the tracks whose scores have none."""
    if not settings.INTERVAL_REPLICATES:
        return [*TRACKS]
    return [name for name, track in TRACKS.items() if not track.intervals]


@transaction.atomic
def give_back(*, submission: Submission, by: User | None) -> None:
    """Give back what a failed submission was charged, whoever was at fault."""
    refuse_outsiders(submission, by)
    list(Submission.objects.select_for_update(no_key=True).filter(pk=submission.pk))
    submission.refresh_from_db()
    if submission.status != Status.FAILED:
        raise Refused("invalid", f"{submission.pk} has not failed: it is {submission.status}.")
    if sum(QuotaEntry.objects.filter(submission=submission).values_list("amount", flat=True)) < 1:
        raise Refused("invalid", f"{submission.pk} costs no quota now: nothing was charged, or it was given back.")
    quota.give_back(submission, reason="organizer", now=database_now())
    audit.record(actor=by, action="submission.given_back", subject=f"submission {submission.pk}")
