"""A worker whose evaluator has another version than that of the web part takes no jobs."""

import pytest

from evaluator import scoring
from server.leaderboards.services import comparisons
from server.submissions.models import Status
from tests.conftest import InlineQueue, Make
from tests.worker.test_rerun import report
from worker import storage_check, tasks

pytestmark = pytest.mark.django_db


def test_a_worker_with_another_evaluator_than_the_web_part_leaves_jobs_to_others(
    make: Make, inline_queue: InlineQueue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(storage_check, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(scoring, "score", report())
    submission = make.submission(make.phase())
    inline_queue.sent.clear()
    monkeypatch.setattr(storage_check, "OTHER_VERSION", [1])
    tasks.evaluate(str(submission.pk))
    submission.refresh_from_db()
    assert (submission.status, submission.attempts, inline_queue.sent) == (Status.QUEUED, 0, [submission.pk])
    assert "another evaluator" in caplog.text
    monkeypatch.setattr(storage_check, "OTHER_VERSION", [0])
    tasks.evaluate(str(submission.pk))
    submission.refresh_from_db()
    assert submission.status == Status.SCORED


def test_a_worker_with_another_evaluator_leaves_comparisons_to_others(
    inline_queue: InlineQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed: list[bool] = []
    monkeypatch.setattr(storage_check, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(storage_check, "OTHER_VERSION", [1])
    monkeypatch.setattr(comparisons, "claim_next", lambda: claimed.append(True))
    tasks.compare(5)
    assert (inline_queue.sent_for_boards, claimed) == ([5], [])
