"""Leases on jobs: a worker claims a submission or a rerun, holds it, and hands it back.

Other apps use these leases for their own jobs, with their own rules for claiming them
(`leaderboards.services.comparisons`).

A worker holds a job until its lease expires; a heartbeat renews the lease. Every change to a job is a single UPDATE
that applies only while the worker holds the lease, so a worker that has lost its lease writes nothing. Therefore it
does no harm if a message is delivered twice or a worker dies at any time.
"""

from datetime import datetime, timedelta
from socket import gethostname
from typing import Any, TypeVar
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from server.challenges.locks import lock
from server.challenges.models import Team
from server.clock import database_now
from server.compiled_queries import compiled_query
from server.sql import update
from server.submissions import queue
from server.submissions.models import Leased, Rerun, Status, Submission
from server.submissions.services.team_limits import may_run_another

Job = TypeVar("Job", Submission, Rerun)
Held = TypeVar("Held", bound=Leased)

LONGEST_PAUSE = timedelta(hours=1)
HOST_CHARACTERS = 64
MOST_DOUBLINGS = 12  # maximum number of times that a job's pause doubles; without it, a timedelta would overflow

NO_LEASE: dict[str, Any] = {"lease_token": None, "lease_until": None}


@compiled_query
def claimable_submission(*, key: UUID) -> QuerySet[Submission]:
    return Submission.objects.claimable().filter(pk=key).order_by()


@compiled_query
def claimable_rerun(*, key: int) -> QuerySet[Rerun]:
    return Rerun.objects.claimable().filter(pk=key).order_by()


CLAIMABLE: dict[type[Leased], Any] = {Submission: claimable_submission, Rerun: claimable_rerun}


def claim(kind: type[Job], key: UUID | int, *, large: bool = True) -> Job | None:
    """Claim a queued job for this process. If several processes call this, only one of them gets the job.

    Return None if the job is not queued, or if its team already has the maximum number of running evaluations. `large`
    is true if this process may take large files. Teams take turns (see `scheduling`), and a successful claim counts as
    a turn.
    """
    found: list[Job] = CLAIMABLE[kind](key=key)
    if not found:
        return None
    (job,) = found
    with transaction.atomic():
        now = database_now()
        # This update also locks the team's row. Otherwise two processes could both start the last evaluation that the
        # team may run.
        update(Team, [job.team_id], served_at=now)
        values = claimed_values(job, now)
        unclaimed = kind.objects.queued().filter(pk=job.pk, attempts=job.attempts)
        if not (may_run_another(job.team_id, large=large) and unclaimed.update(**values)):
            transaction.set_rollback(True)
            return None
    for name, value in values.items():
        setattr(job, name, value)
    return job


def claimed_values(job: Submission | Rerun, now: datetime) -> dict[str, Any]:
    """Return new values for the columns of a job's row that change when the job is claimed."""
    values = {**new_lease(now), "attempts": job.attempts + 1, "not_before": None}
    if isinstance(job, Submission):
        values |= {"status": Status.RUNNING, "started_at": now, "progress": 0.0}
    else:
        values["waiting_for"] = ""
    return values


def new_lease(now: datetime) -> dict[str, Any]:
    """Return column values for a lease that begins now and is held by a process on this host."""
    return {"lease_token": uuid4(), "lease_until": end_of_lease(now), "host": gethostname()[:HOST_CHARACTERS]}


def end_of_lease(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.LEASE_SECONDS)


def held(job: Held) -> QuerySet[Held]:
    """Return a queryset with the job that this process has claimed. It is empty if this process has lost the lease."""
    jobs = type(job)._default_manager
    return jobs.none() if job.lease_token is None else jobs.filter(pk=job.pk, lease_token=job.lease_token)


def prolong(job: Leased, **values: Any) -> bool:
    """Renew the lease of a job and write `values` to its row. Return False if the worker no longer holds the job."""
    return update_held(job, lease_until=end_of_lease(database_now()), **values)


def finish(job: Leased, **values: Any) -> bool:
    """End a worker's lease on a job and write the outcome. Return False and write nothing if the lease is lost."""
    return update_held(job, **NO_LEASE, **values)


def update_held(job: Leased, **values: Any) -> bool:
    token = job.lease_token
    return token is not None and bool(update(type(job), [job.pk], where={"lease_token": token}, **values))


@transaction.atomic
def requeue(job: Job, *, notify: bool = True, **values: Any) -> bool:
    """Put a job back into the queue for another attempt, and send a message that wakes a worker.

    Return False and write nothing if the worker no longer holds the job. If `notify` is false, the sweeper (a periodic
    task) sends the message later.
    """
    if isinstance(job, Submission):
        values |= {"status": Status.QUEUED, "stage": "", "progress": 0.0}
    queued = finish(job, enqueued_at=database_now(), **values)
    if queued and notify:
        queue.enqueue_on_commit(type(job), job.pk)
    return queued


def release(job: Job, **values: Any) -> bool:
    """Put a job back into the queue after a problem that the file did not cause. The attempt does not count."""
    return requeue(job, attempts=job.attempts - 1, **values)


def postpone(job: Job, *, reason: str, has_begun: bool = False) -> bool:
    """Put a job back into the queue because a stored file or the disk cannot be used. It is tried again after a pause.

    The attempt does not count. The start time of a submission is cleared, as if its scoring had not begun, unless
    `has_begun` is true. For a rerun (a job that scores a submission again), the reason is stored.
    """
    values: dict[str, Any] = {} if isinstance(job, Submission) else {"waiting_for": reason[:300]}
    if isinstance(job, Submission) and not has_begun:
        values["started_at"] = None
    values |= {"postponed": job.postponed + 1, "not_before": database_now() + pause_of(job)}
    return release(job, notify=False, **values)


def pause_of(job: Submission | Rerun) -> timedelta:
    """Return how long a postponed job waits. Each pause is twice as long as the previous one, up to LONGEST_PAUSE.

    Pauses grow because an attempt may take as long as scoring the file, and the stored file may be unusable for days.
    """
    return min(timedelta(seconds=settings.RESEND_SECONDS) * 2 ** min(job.postponed, MOST_DOUBLINGS), LONGEST_PAUSE)


@transaction.atomic
def release_as_large(job: Job) -> bool:
    """Put a job that exceeded the limit for small files back into the queue as a large one.

    The attempt does not count.
    """
    key = lock_submission(job)
    if not release(job):
        return False
    Submission.objects.filter(pk=key).update(small=False)
    return True


def has_attempts_left(job: Submission | Rerun) -> bool:
    return job.attempts < settings.EVALUATION_ATTEMPTS


def lock_submission(job: Submission | Rerun) -> UUID:
    """Lock the submission that a job scores, and return its id.

    Every transaction locks the submission before any row that refers to it. Otherwise two transactions could deadlock.
    If the submission was removed, the job was removed with it, so no worker holds the job.
    """
    key = job.pk if isinstance(job, Submission) else job.submission_id
    lock(Submission, [key])
    return key


def lock_expired(job: Job) -> bool:
    """Lock a job whose lease has expired. Return False if its worker has renewed the lease since the job was read.

    An UPDATE is used, because it locks the row even in a database without SELECT FOR UPDATE.
    """
    return bool(held(job).filter(lease_until=job.lease_until).update(lease_until=job.lease_until))
