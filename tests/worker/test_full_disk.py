"""A full disk postpones a submission. Its file may have filled the disk, so cancelling it then uses quota."""

from errno import EDQUOT, ENOSPC
from unittest.mock import MagicMock

import pytest

from evaluator import scoring
from server.submissions.models import QuotaEntry, Status
from server.submissions.services import lifecycle, quota
from tests.conftest import InlineQueue, Make
from worker import tasks
from worker.storage_check import Unreadable


@pytest.mark.parametrize(
    ("error", "used"),
    [
        (OSError(ENOSPC, "No space left on device"), 1),
        (OSError(EDQUOT, "Disk quota exceeded"), 1),
        (Unreadable("the file cannot be read"), 0),
    ],
    ids=["full", "quota", "lost"],
)
def test_cancelling_uses_quota_only_if_scoring_has_filled_the_disk(
    make: Make, inline_queue: InlineQueue, monkeypatch: pytest.MonkeyPatch, error: Exception, used: int
) -> None:
    submission = make.submission(make.phase())
    quota.charge(submission, now=submission.received_at)
    monkeypatch.setattr(scoring, "score", MagicMock(side_effect=error))
    tasks.evaluate(str(submission.pk))
    submission.refresh_from_db()
    assert (submission.status, submission.attempts, submission.postponed) == (Status.QUEUED, 0, 1)
    lifecycle.cancel(submission=submission, by=make.user(is_staff=True))
    assert sum(QuotaEntry.objects.filter(submission=submission).values_list("amount", flat=True)) == used
