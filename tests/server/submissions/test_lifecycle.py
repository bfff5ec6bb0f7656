"""A submission can be claimed, finished, released or cancelled only once. Finishing it requires its lease."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import uuid4

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from server.errors import Refused
from server.submissions.models import Evaluation, Failure, QuotaEntry, Score, Status, Submission
from server.submissions.services import leases, lifecycle, quota
from tests.conftest import InlineQueue, Make

FINDINGS = {"errors": [{"code": "not_finite", "line": 3}], "total": 1, "counts": {"not_finite": 1}, "notices": []}
PARTICULARS = {"headline": "mAP", "classes": [{"label": "/m/0jbk", "ap": 0.5}]}
REPORT = {
    "track": "openimages-detection",
    "signature": "openimages-detection|truth:x",
    "parameters": {},
    "splits": {
        "all": {**PARTICULARS, "metrics": {"mAP": 0.5}, "intervals": {}},
        "public": {**PARTICULARS, "metrics": {"mAP": 0.625}, "intervals": {"mAP": [0.5, 0.75]}},
        "private": {**PARTICULARS, "metrics": {"mAP": None}, "intervals": {}},
    },
    "notices": [{"code": "unknown_image", "message": "…", "count": 2}],
}


End = Callable[[Submission], bool]


@pytest.fixture
def queued(make: Make) -> Submission:
    """Create a queued submission and charge the quota for it, as an upload does."""
    submission = make.submission(make.phase())
    quota.charge(submission, now=submission.received_at)
    return submission


@pytest.fixture
def running(queued: Submission) -> Submission:
    claimed = leases.claim(Submission, queued.pk)
    assert claimed is not None
    return claimed


@pytest.fixture
def stale(running: Submission) -> Submission:
    """Return the object of a running submission after a second worker has taken over the lease in the database."""
    Submission.objects.filter(pk=running.pk).update(lease_token=uuid4())
    return running


def record(submission: Submission) -> bool:
    truth = submission.phase.truth
    return lifecycle.record(submission, truth=truth, report=REPORT, cpu_seconds=1.5)


def reject(submission: Submission) -> bool:
    return lifecycle.reject(submission, findings=FINDINGS)


def fail(submission: Submission, *, final: bool = True) -> bool:
    return lifecycle.fail(submission, code=Failure.ACCIDENT, sentence="MemoryError", final=final)


def now_of(submission: Submission) -> Submission:
    return Submission.objects.get(pk=submission.pk)


def balance(submission: Submission) -> int:
    return sum(QuotaEntry.objects.filter(submission=submission).values_list("amount", flat=True))


def test_claiming_a_queued_submission_leases_it_to_the_worker(queued: Submission, settings: Settings) -> None:
    claimed = leases.claim(Submission, queued.pk)
    assert (claimed.status, claimed.attempts) == (Status.RUNNING, 1)
    assert claimed.lease_until - claimed.started_at == timedelta(seconds=settings.LEASE_SECONDS)


def test_a_running_submission_cannot_be_claimed(running: Submission) -> None:
    assert leases.claim(Submission, running.pk) is None
    assert now_of(running).attempts == 1


def test_an_unknown_submission_cannot_be_claimed(db: None) -> None:
    assert leases.claim(Submission, uuid4()) is None


@pytest.mark.parametrize("end", [record, reject, fail])
def test_a_finished_submission_cannot_be_claimed(running: Submission, end: End) -> None:
    end(running)
    assert leases.claim(Submission, running.pk) is None


def test_a_heartbeat_renews_the_lease_and_reports_the_stage(running: Submission) -> None:
    Submission.objects.filter(pk=running.pk).update(lease_until=running.started_at)
    assert lifecycle.report_progress(running, stage="matching", progress=0.25)
    row = now_of(running)
    assert (row.stage, row.progress) == ("matching", 0.25)
    assert row.lease_until > running.lease_until


@pytest.mark.parametrize(("told", "kept"), [(-0.1, 0.0), (1.0000001, 1.0)])
def test_reported_progress_is_limited_to_a_fraction(running: Submission, told: float, kept: float) -> None:
    lifecycle.report_progress(running, stage="scoring", progress=told)
    assert now_of(running).progress == kept


def test_a_heartbeat_does_not_renew_a_lost_lease(stale: Submission) -> None:
    before = now_of(stale).lease_until
    assert not lifecycle.report_progress(stale, stage="matching", progress=0.5)
    assert now_of(stale).lease_until == before


def test_recording_a_score_writes_each_number_into_a_column(running: Submission) -> None:
    assert record(running)
    scores = Score.objects.filter(evaluation__submission=running)
    assert set(scores.values_list("split", "metric", "value", "low", "high")) == {
        ("all", "mAP", 0.5, None, None),
        ("public", "mAP", 0.625, 0.5, 0.75),
        ("private", "mAP", None, None, None),
    }


def test_recording_a_score_stores_classes_and_notices_and_no_number_twice(running: Submission) -> None:
    record(running)
    evaluation = Evaluation.objects.get(submission=running)
    assert evaluation.report["splits"]["public"] == PARTICULARS
    assert evaluation.report["notices"] == REPORT["notices"]
    assert evaluation.cpu_seconds == 1.5


def test_recording_a_score_ends_the_run(running: Submission) -> None:
    record(running)
    row = now_of(running)
    assert (row.status, row.progress, row.lease_token) == (Status.SCORED, 1.0, None)
    assert row.scored_at == row.finished_at is not None


@pytest.mark.parametrize(("replicates", "stage", "asked"), [(1000, "bootstrapping", 1), (0, "", 0)])
def test_recording_a_score_requests_intervals_if_the_service_computes_them(
    running: Submission, settings: Settings, replicates: int, stage: str, asked: int
) -> None:
    settings.INTERVAL_REPLICATES = replicates
    record(running)
    assert (now_of(running).stage, running.reruns.scoring().filter(truth=running.phase.truth).count()) == (stage, asked)


def test_a_scored_submission_remains_charged_to_the_quota(running: Submission) -> None:
    record(running)
    assert balance(running) == 1


@pytest.mark.parametrize("end", [record, reject, fail, leases.release])
def test_a_worker_that_lost_its_lease_writes_nothing(stale: Submission, end: End) -> None:
    assert end(stale) is False
    assert now_of(stale).status == Status.RUNNING
    assert not Evaluation.objects.exists()
    assert balance(stale) == 1


@pytest.mark.parametrize("again", [record, reject, fail, leases.release])
@pytest.mark.parametrize("end", [record, reject, fail])
def test_a_submission_does_not_end_twice(running: Submission, end: End, again: End) -> None:
    end(running)
    status, paid = now_of(running).status, balance(running)
    assert again(running) is False
    assert (now_of(running).status, balance(running)) == (status, paid)


def test_no_evaluation_is_left_if_its_scores_cannot_be_written(running: Submission) -> None:
    broken = {**REPORT, "splits": {"sideways": REPORT["splits"]["all"]}}
    with pytest.raises(Exception, match="score_split_is_known"):
        lifecycle.record(running, truth=running.phase.truth, report=broken, cpu_seconds=0.0)
    assert now_of(running).status == Status.RUNNING


def test_a_rejected_file_shows_its_problems_and_uses_no_quota(running: Submission) -> None:
    assert reject(running)
    row = now_of(running)
    assert (row.status, row.fault, row.problems) == (Status.REJECTED, "participant", FINDINGS)
    assert balance(running) == 0


@pytest.mark.parametrize(("losses", "charged"), [(1, 0), (2, 1)])
def test_a_rejected_file_that_killed_workers_uses_quota(running: Submission, losses: int, charged: int) -> None:
    Submission.objects.update(losses=losses, lease_token=None, lease_until=None, status=Status.QUEUED)
    claimed = leases.claim(Submission, running.pk)
    assert reject(claimed)
    assert (now_of(running).status, balance(running)) == (Status.REJECTED, charged)


def test_a_rejected_submission_still_counts_as_an_attempt(running: Submission) -> None:
    reject(running)
    state = quota.state(team=running.team, phase=running.phase, now=datetime.now(UTC))
    assert (state.used, state.attempts_per_day - state.attempts_left) == (0, 1)


def test_a_failure_is_tried_again_while_attempts_are_left(
    running: Submission, inline_queue: InlineQueue, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        assert fail(running, final=False)
    assert (now_of(running).status, inline_queue.sent, balance(running)) == (Status.QUEUED, [running.pk], 1)


def test_the_third_failure_gives_the_quota_back(running: Submission, settings: Settings) -> None:
    running.attempts = settings.EVALUATION_ATTEMPTS
    fail(running, final=False)
    row = now_of(running)
    assert (row.status, row.fault, row.failure) == (Status.FAILED, "platform", "MemoryError")
    assert balance(running) == 0


@pytest.mark.parametrize("code", [Failure.OUT_OF_MEMORY, Failure.OUT_OF_TIME])
def test_a_file_that_exceeds_a_limit_of_scoring_uses_quota(running: Submission, code: str) -> None:
    lifecycle.fail(running, code=code, sentence="too much", final=True)
    assert (now_of(running).fault, balance(running)) == ("participant", 1)


def test_a_final_failure_is_not_tried_again(running: Submission) -> None:
    fail(running, final=True)
    assert now_of(running).status == Status.FAILED


def test_a_failure_raises_an_alarm_in_the_log(running: Submission, caplog: pytest.LogCaptureFixture) -> None:
    fail(running)
    assert [(line.levelname, str(running.pk) in line.getMessage()) for line in caplog.records] == [("ERROR", True)]


def test_a_long_reason_of_a_failure_is_cut_to_its_column(running: Submission) -> None:
    lifecycle.fail(running, code=Failure.ACCIDENT, sentence="x" * 1000, final=True)
    assert len(now_of(running).failure) == 300


def test_a_released_submission_is_queued_and_its_attempt_does_not_count(
    running: Submission, inline_queue: InlineQueue, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        assert leases.release(running)
    row = now_of(running)
    assert (row.status, row.attempts, inline_queue.sent) == (Status.QUEUED, 0, [running.pk])


def test_cancelling_while_queued_uses_no_quota(make: Make, queued: Submission) -> None:
    assert lifecycle.cancel(submission=queued, by=make.user(is_staff=True)).status == Status.CANCELLED
    assert balance(queued) == 0


def test_cancelling_while_running_uses_quota(make: Make, running: Submission) -> None:
    assert lifecycle.cancel(submission=running, by=make.user(is_staff=True)).status == Status.CANCELLED
    assert balance(running) == 1


@pytest.mark.parametrize("put_back", [leases.release_as_large, leases.release, partial(fail, final=False)])
def test_cancelling_in_the_queue_after_scoring_has_begun_uses_quota(
    make: Make, running: Submission, put_back: End
) -> None:
    assert put_back(running)
    assert now_of(running).status == Status.QUEUED
    lifecycle.cancel(submission=running, by=make.user(is_staff=True))
    assert balance(running) == 1


def test_cancelling_while_the_file_cannot_be_read_uses_no_quota(make: Make, running: Submission) -> None:
    assert leases.postpone(running, reason="")
    lifecycle.cancel(submission=running, by=make.user(is_staff=True))
    assert balance(running) == 0


def test_the_worker_of_a_cancelled_submission_records_nothing(make: Make, running: Submission) -> None:
    lifecycle.cancel(submission=now_of(running), by=make.user(is_staff=True))
    assert not record(running)
    assert not lifecycle.report_progress(running, stage="scoring", progress=0.9)


def test_cancelling_twice_has_no_further_effect(make: Make, queued: Submission) -> None:
    user = make.user(is_staff=True)
    lifecycle.cancel(submission=queued, by=user)
    assert lifecycle.cancel(submission=queued, by=user).status == Status.CANCELLED
    assert balance(queued) == 0


@pytest.mark.parametrize("end", [record, reject, fail])
def test_a_submission_that_has_ended_cannot_be_cancelled(make: Make, running: Submission, end: End) -> None:
    end(running)
    with pytest.raises(Refused) as caught:
        lifecycle.cancel(submission=running, by=make.user(is_staff=True))
    assert caught.value.code == "not_cancellable"


def test_rejecting_a_baseline_gives_no_quota_back(make: Make) -> None:
    submission = make.submission(make.phase())
    claimed = leases.claim(Submission, submission.pk)
    assert reject(claimed)
    assert not QuotaEntry.objects.exists()
