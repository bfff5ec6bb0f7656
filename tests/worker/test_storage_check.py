"""If a worker cannot read the stored files, submissions do not fail.

The worker logs an alarm and pauses until it can read the files again.
"""

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import MagicMock
from uuid import UUID

import pytest
from pytest_django import Settings

from evaluator import scoring
from evaluator.request import ScoringRequest
from server.organize.services.truths import Unrestorable
from server.submissions.models import Replicates, Rerun, Status, Submission
from tests.conftest import InlineQueue, Make
from tests.worker.test_rerun import report
from worker import storage_check, tasks
from worker.storage_check import STOPPED, Unreadable


@pytest.fixture(autouse=True)
def worker(monkeypatch: pytest.MonkeyPatch, inline_queue: InlineQueue) -> Iterator[InlineQueue]:
    """Replace the scorer with a stub, and make the worker continue immediately after a failed storage check."""
    monkeypatch.setattr(storage_check, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(scoring, "score", report())
    STOPPED[0] = 0
    yield inline_queue
    STOPPED[0] = 0


@pytest.fixture
def submissions(make: Make) -> list[Submission]:
    phase = make.phase()
    return [make.submission(phase) for _ in range(8)]


def upload(submission: Submission) -> Path:
    return Path(submission.file.path)


def truth(submission: Submission) -> Path:
    return Path(submission.phase.truth.prepared.path)


def evaluate() -> None:
    tasks.evaluate(str(Submission.objects.queued().first().pk))


def outcomes() -> set[tuple[str, int, str]]:
    return set(Submission.objects.values_list("status", "attempts", "fault"))


def hide(*paths: Path) -> None:
    for path in paths:
        path.rename(path.with_suffix(".hidden"))


def show(*paths: Path) -> None:
    for path in paths:
        path.with_suffix(".hidden").rename(path)


@pytest.mark.parametrize("times", [1, 20])
def test_a_worker_without_the_uploads_does_not_fail_submissions(submissions: list[Submission], times: int) -> None:
    hide(*map(upload, submissions))
    for _ in range(times):
        evaluate()
    assert outcomes() == {("queued", 0, "")}


def test_a_worker_without_the_truth_does_not_blame_the_organizer(make: Make) -> None:
    submission = make.submission(make.phase())
    hide(truth(submission))
    evaluate()
    assert outcomes() == {("queued", 0, "")}


def test_missing_files_are_reported_and_no_more_work_is_claimed(
    submissions: list[Submission], caplog: pytest.LogCaptureFixture
) -> None:
    hide(*map(upload, submissions))
    for _ in range(5):
        evaluate()
    assert sum("cannot be scored here" in line.message for line in caplog.records) == 1
    assert sum("takes no jobs" in line.message for line in caplog.records) == 4


def test_messages_to_a_stopped_worker_are_left_to_other_workers(
    submissions: list[Submission], worker: InlineQueue
) -> None:
    hide(*map(upload, submissions))
    evaluate()
    worker.sent.clear()
    tasks.evaluate(str(submissions[0].pk))
    tasks.rerun(7)
    assert (worker.sent, worker.sent_later) == ([submissions[0].pk], [7])


def test_a_stopped_worker_continues_when_it_can_read_the_files(
    submissions: list[Submission], caplog: pytest.LogCaptureFixture
) -> None:
    hide(*map(upload, submissions))
    evaluate()
    show(*map(upload, submissions))
    evaluate()
    assert Submission.objects.filter(status=Status.SCORED).count() == 1
    assert "takes jobs again" in caplog.text


def test_a_single_lost_file_does_not_stop_the_worker(
    submissions: list[Submission], caplog: pytest.LogCaptureFixture
) -> None:
    hide(upload(submissions[0]))
    for _ in submissions:
        evaluate()
    lost = Submission.objects.get(pk=submissions[0].pk)
    assert (lost.status, lost.attempts, lost.not_before is not None) == (Status.QUEUED, 0, True)
    assert Submission.objects.filter(status=Status.SCORED).count() == len(submissions) - 1
    assert "alarm" in caplog.text


def test_a_file_that_disappears_while_it_is_read_counts_no_attempt(
    submissions: list[Submission], monkeypatch: pytest.MonkeyPatch
) -> None:
    def vanished(request: ScoringRequest) -> None:
        hide(request.submission)
        raise FileNotFoundError(request.submission)

    monkeypatch.setattr(scoring, "score", vanished)
    evaluate()
    assert outcomes() == {("queued", 0, "")}


@pytest.mark.parametrize("content", [b"", b"ImageId,PredictionString\nother,\n", b"x" * 33])
def test_a_stored_file_that_was_changed_is_not_scored(
    submissions: list[Submission], content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    changed = submissions[0]
    upload(changed).write_bytes(content)
    for _ in submissions:
        evaluate()
    changed.refresh_from_db()
    assert (changed.status, changed.attempts, changed.fault) == (Status.QUEUED, 0, "")
    assert changed.not_before is not None
    assert Submission.objects.filter(status=Status.SCORED).count() == len(submissions) - 1
    assert f"alarm: submission {changed.pk} cannot be scored here: {upload(changed)} is damaged" in caplog.text


def test_a_changed_file_of_the_same_size_is_not_scored(make: Make) -> None:
    submission = make.submission(make.phase())
    content = upload(submission).read_bytes()
    upload(submission).write_bytes(content.replace(b"image", b"imagf"))
    evaluate()
    assert outcomes() == {("queued", 0, "")}
    upload(submission).write_bytes(content)
    Submission.objects.update(not_before=None)
    evaluate()
    assert outcomes() == {("scored", 1, "")}


FAULTS = pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), Unrestorable("cannot be prepared again")], ids=["disk", "truth"]
)


@FAULTS
def test_a_fault_of_the_platform_never_ends_a_submission(
    submissions: list[Submission],
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A fault during an upgrade or on a full disk must not cause all queued submissions to fail within seconds."""
    monkeypatch.setattr(scoring, "score", MagicMock(side_effect=error))
    for _ in range(settings.EVALUATION_ATTEMPTS + 1):
        Submission.objects.update(not_before=None)
        for _ in submissions:
            evaluate()
    assert outcomes() == {("queued", 0, "")}
    assert not Submission.objects.filter(not_before=None).exists()
    assert f"alarm: submission {submissions[0].pk} cannot be scored here: {error}" in caplog.text


@pytest.fixture
def waiting(submissions: list[Submission]) -> Rerun:
    evaluate()
    return Rerun.objects.get()


def test_a_rerun_waits_without_counting_attempts_if_the_worker_has_no_files(
    waiting: Rerun, submissions: list[Submission]
) -> None:
    hide(*map(upload, submissions))
    tasks.rerun(waiting.pk)
    waiting.refresh_from_db()
    assert (waiting.attempts, waiting.failure, waiting.lease_token) == (0, "", None)


def rerun_often(times: int) -> None:
    """Make the worker attempt the first queued rerun `times` times, without the delays between attempts."""
    for _ in range(times):
        Rerun.objects.update(not_before=None)
        tasks.rerun(Rerun.objects.first().pk)


def outcomes_of_reruns() -> set[tuple[int, str, UUID | None, bool]]:
    """Return the distinct states of all reruns, which are jobs that score submissions again.

    The state consists of the number of attempts, the failure, the lease, and whether the next attempt is delayed.
    """
    rows = Rerun.objects.values_list("attempts", "failure", "lease_token", "not_before")
    return {(attempts, failure, lease, pause is not None) for attempts, failure, lease, pause in rows}


def test_a_rerun_of_a_lost_file_waits_and_is_never_given_up(
    waiting: Rerun, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    hide(upload(waiting.submission))
    rerun_often(settings.EVALUATION_ATTEMPTS + 1)
    assert outcomes_of_reruns() == {(0, "", None, True)}
    assert caplog.text.count("alarm") == settings.EVALUATION_ATTEMPTS + 1


def test_a_rerun_that_waits_has_the_reason_without_paths(waiting: Rerun, monkeypatch: pytest.MonkeyPatch) -> None:
    errors = {
        Unreadable(f"{upload(waiting.submission)} cannot be read"): "missing or damaged",
        OSError(28, "No space left on device", "/secret"): "a file: No space left on device.",
        Unrestorable("main v1 cannot be prepared again"): "main v1 cannot be prepared again.",
    }
    for error, words in errors.items():
        monkeypatch.setattr(scoring, "score", MagicMock(side_effect=error))
        rerun_often(1)
        waiting.refresh_from_db()
        assert words in waiting.waiting_for
        assert "/" not in waiting.waiting_for


def test_a_rerun_of_a_changed_file_records_nothing(waiting: Rerun, settings: Settings) -> None:
    upload(waiting.submission).write_bytes(b"other")
    rerun_often(settings.EVALUATION_ATTEMPTS + 1)
    assert outcomes_of_reruns() == {(0, "", None, True)}
    assert Submission.objects.get(pk=waiting.submission_id).status == Status.SCORED


@pytest.fixture
def other(make: Make, submissions: list[Submission]) -> list[Submission]:
    """Create and return submissions in a second phase."""
    phase = make.phase()
    return [make.submission(phase) for _ in range(storage_check.SAMPLE)]


def test_a_worker_that_lacks_only_the_truths_stops(
    waiting: Rerun, submissions: list[Submission], other: list[Submission]
) -> None:
    hide(truth(submissions[0]), truth(other[0]))
    tasks.rerun(waiting.pk)
    assert STOPPED[0] == 1
    assert outcomes_of_reruns() == {(0, "", None, False)}
    show(truth(submissions[0]))
    tasks.rerun(waiting.pk)
    assert (STOPPED[0], Replicates.objects.count()) == (0, 1)


def test_a_single_lost_truth_does_not_stop_the_worker(
    waiting: Rerun,
    submissions: list[Submission],
    other: list[Submission],
    settings: Settings,
    caplog: pytest.LogCaptureFixture,
) -> None:
    hide(truth(submissions[0]))
    rerun_often(settings.EVALUATION_ATTEMPTS + 1)
    assert outcomes_of_reruns() == {(0, "", None, True)}
    assert STOPPED[0] == 0
    assert f"alarm: rerun {waiting.pk} cannot be scored here: {truth(submissions[0])} cannot be read" in caplog.text
    for _ in range(len(submissions) + len(other)):
        if Submission.objects.queued().exists():
            evaluate()
    assert {one.status for one in Submission.objects.filter(phase=other[0].phase)} == {Status.SCORED}
    assert set(Submission.objects.queued().values_list("phase", "attempts")) == {(submissions[0].phase_id, 0)}


@FAULTS
def test_a_fault_of_the_platform_never_ends_a_rerun(
    waiting: Rerun,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(scoring, "score", MagicMock(side_effect=error))
    rerun_often(settings.EVALUATION_ATTEMPTS + 1)
    assert outcomes_of_reruns() == {(0, "", None, True)}
    assert f"alarm: rerun {waiting.pk} cannot be scored here: {error}" in caplog.text
