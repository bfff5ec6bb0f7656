"""A naive worker without claims and leases: it takes any unfinished submission and records every result.

With this worker, a drill must report lost or repeated scorings, which proves that the drill can detect them.
"""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import django

django.setup()

from server.submissions.models import FINISHED, Rerun, Status, Submission  # noqa: E402
from server.submissions.services import leases, lifecycle, scheduling  # noqa: E402
from worker import app  # noqa: E402

__all__ = ["app"]

FOR_EVER = timedelta(days=1000)
record_once, claim_guarded = lifecycle.record, scheduling.claim_next


def claim_next(kind: type[Any], *, large: bool, late: bool = False) -> Submission | Rerun | None:
    """Take the oldest unfinished submission, even if another worker is scoring it.

    Reruns, which compute intervals later, are claimed in the normal way.
    """
    if kind is not Submission:
        return claim_guarded(kind, large=large, late=late)
    unfinished = Submission.objects.exclude(status__in=FINISHED).select_related("phase", "team")
    submission = unfinished.order_by("received_at").first()
    if submission is None:
        return None
    submission.status, submission.finished_at = Status.RUNNING, None
    submission.lease_token, submission.lease_until = uuid4(), datetime.now(UTC) + FOR_EVER
    submission.attempts += 1
    submission.save()
    return submission


def record(submission: Submission, **result: Any) -> bool:
    # The database stores only one evaluation per submission and signature (of ground truth, parameters and evaluator).
    # With a unique signature for each evaluation, repeated scorings are stored and can be counted.
    return record_once(submission, **{**result, "report": {**result["report"], "signature": uuid4().hex}})


def update_held(job: Any, **values: Any) -> bool:
    """Write an outcome even if another worker has written one."""
    return bool(type(job).objects.filter(pk=job.pk).update(**values))


leases.held = lambda job: type(job).objects.filter(pk=job.pk)
leases.update_held = update_held
scheduling.claim_next, lifecycle.record = claim_next, record
lifecycle.report_progress = lambda submission, **progress: True
