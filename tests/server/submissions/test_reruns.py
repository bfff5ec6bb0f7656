"""Confidence intervals are computed after each score, even after crashes, and they never change or delay a score."""

from array import array
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from server.submissions import queue
from server.submissions.models import Evaluation, Explanation, Replicates, Rerun, Score, Submission
from server.submissions.services import leases, lifecycle, reruns
from server.submissions.services.evaluations import NotReproducible
from server.submissions.services.sweeping import SweepResult, sweep
from tests.conftest import InlineQueue, Make

LONG_AGO = datetime.now(UTC) - timedelta(hours=2)
VECTORS = {"public": array("d", [0.5, 0.75]).tobytes()}


def report(value: float | None = 0.625, ends: list[float] | None = None) -> dict[str, Any]:
    split = {"headline": "mAP", "classes": [], "metrics": {"mAP": value}, "intervals": {"mAP": ends} if ends else {}}
    return {"signature": "s", "parameters": {}, "splits": {"public": split, "all": deepcopy(split)}, "notices": []}


@pytest.fixture
def scored(make: Make, inline_queue: InlineQueue) -> Submission:
    """Return a submission whose score is recorded and whose intervals are still to be computed."""
    claimed = leases.claim(Submission, make.submission(make.phase()).pk)
    assert claimed is not None
    lifecycle.record(claimed, truth=claimed.phase.truth, report=report(), cpu_seconds=1.0)
    return Submission.objects.get(pk=claimed.pk)


@pytest.fixture
def waiting(scored: Submission) -> Rerun:
    return scored.reruns.get()


@pytest.fixture
def claimed(waiting: Rerun) -> Rerun:
    found = leases.claim(Rerun, waiting.pk)
    assert found is not None
    return found


@pytest.fixture(autouse=True)
def lost_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "waiting", lambda kind: 0)


def record(rerun: Rerun, **changes: Any) -> bool:
    again = report(**{"ends": [0.5, 0.75], **changes})
    return reruns.record(rerun, report=again, replicates=VECTORS, cpu_seconds=1.0)


def stage(rerun: Rerun) -> str:
    return Submission.objects.get(pk=rerun.submission_id).stage


def test_recording_a_score_queues_its_intervals(
    make: Make, inline_queue: InlineQueue, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    claimed = leases.claim(Submission, make.submission(make.phase()).pk)
    with django_capture_on_commit_callbacks(execute=True):
        lifecycle.record(claimed, truth=claimed.phase.truth, report=report(), cpu_seconds=1.0)
    assert inline_queue.sent_later == [claimed.reruns.get().pk]


def test_a_rerun_can_be_claimed_only_once(claimed: Rerun) -> None:
    assert leases.claim(Rerun, claimed.pk) is None


def test_recording_a_rerun_saves_the_interval_ends_and_the_replicates(claimed: Rerun) -> None:
    assert record(claimed)
    assert set(Score.objects.values_list("value", "low", "high")) == {(0.625, 0.5, 0.75)}
    kept = Replicates.objects.get()
    assert (kept.split, bytes(kept.values)) == ("public", VECTORS["public"])
    assert (Evaluation.objects.count(), Rerun.objects.scoring().count(), stage(claimed)) == (1, 0, "")


def test_an_explanation_comes_after_the_intervals_and_the_submission_does_not_wait_for_it(claimed: Rerun) -> None:
    record(claimed)
    asked = Rerun.objects.get()
    assert (asked.purpose, stage(claimed), Submission.objects.get().is_settled) == ("explanation", "", True)


def test_without_intervals_an_explanation_follows_the_score(
    make: Make, inline_queue: InlineQueue, settings: Settings
) -> None:
    settings.INTERVAL_REPLICATES = 0
    claimed = leases.claim(Submission, make.submission(make.phase()).pk)
    lifecycle.record(claimed, truth=claimed.phase.truth, report=report(), cpu_seconds=1.0)
    assert (Rerun.objects.get().purpose, Submission.objects.get().stage) == ("explanation", "")


def test_scores_that_no_leaderboard_shows_are_not_explained(claimed: Rerun) -> None:
    claimed.submission.phase.truths.update(active=False)
    record(claimed)
    assert not Rerun.objects.exists()


def test_no_explanation_is_requested_for_a_track_without_explanations(claimed: Rerun) -> None:
    claimed.submission.phase.track = "flickr30k-retrieval"
    record(claimed)
    assert not Rerun.objects.exists()


def test_a_service_without_explanations_requests_none(claimed: Rerun, settings: Settings) -> None:
    settings.EXPLANATION_MAX_BYTES = 0
    record(claimed)
    assert not Rerun.objects.exists()


class TestExplanation:
    @pytest.fixture
    def explaining(self, claimed: Rerun):
        record(claimed)
        return leases.claim(Rerun, Rerun.objects.get().pk)

    def record(self, rerun, **changes):
        return reruns.record_explanation(rerun, report=report(**changes), contents={"public": b"1", "all": b"2"})

    def test_an_explanation_is_saved_and_its_rerun_removed(self, explaining) -> None:
        assert self.record(explaining)
        kept = {one.split: bytes(one.content) for one in Evaluation.objects.get().explanations.all()}
        assert (kept, Rerun.objects.exists()) == ({"public": b"1", "all": b"2"}, False)

    def test_a_second_explanation_replaces_the_first(self, explaining, inline_queue: InlineQueue) -> None:
        self.record(explaining)
        reruns.request([explaining.submission], truth=explaining.truth, purpose=Rerun.Purpose.EXPLANATION)
        assert self.record(leases.claim(Rerun, Rerun.objects.get().pk))
        assert Explanation.objects.count() == 2

    def test_an_explanation_of_different_scores_is_refused(self, explaining) -> None:
        with pytest.raises(NotReproducible):
            self.record(explaining, value=0.5)
        assert not Explanation.objects.exists()

    def test_an_explanation_whose_lease_is_lost_is_not_recorded(self, explaining) -> None:
        Rerun.objects.update(lease_token=uuid4())
        assert not self.record(explaining)
        assert not Explanation.objects.exists()

    def test_an_explanation_that_is_given_up_does_not_remove_intervals(
        self, explaining, caplog: pytest.LogCaptureFixture
    ) -> None:
        assert reruns.fail(explaining, sentence="too large", final=True)
        assert (Submission.objects.get().is_settled, Replicates.objects.exists()) == (True, True)
        assert "has no explanation: too large" in caplog.text


def test_a_rerun_with_different_scores_is_refused_and_writes_nothing(claimed: Rerun) -> None:
    with pytest.raises(NotReproducible):
        record(claimed, value=0.6250000000000001)
    assert set(Score.objects.values_list("value", "low")) == {(0.625, None)}
    assert Rerun.objects.get().lease_token == claimed.lease_token


def test_an_undefined_score_is_reproduced_if_it_is_undefined_again(claimed: Rerun) -> None:
    Score.objects.update(value=None)
    assert record(claimed, value=None, ends=None)


@pytest.mark.parametrize(
    "end",
    [
        record,
        leases.prolong,
        leases.release,
        lambda rerun: reruns.fail(rerun, sentence="late", final=True),
    ],
)
def test_a_worker_that_lost_its_lease_writes_nothing(claimed: Rerun, end) -> None:
    Rerun.objects.update(lease_token=uuid4())
    assert not end(claimed)
    assert not Replicates.objects.exists()
    assert (Rerun.objects.get().failure, Rerun.objects.get().attempts) == ("", 1)


def test_nothing_is_written_for_a_submission_that_is_gone(claimed: Rerun) -> None:
    Submission.objects.all().delete()
    assert not record(claimed)


def test_a_released_attempt_does_not_count(claimed: Rerun) -> None:
    assert leases.release(claimed)
    waiting = Rerun.objects.queued().get()
    assert waiting.attempts == 0


def test_a_rerun_that_fails_repeatedly_is_given_up_with_an_alarm_and_keeps_the_score(
    waiting: Rerun, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(settings.EVALUATION_ATTEMPTS):
        claimed = leases.claim(Rerun, waiting.pk)
        reruns.fail(claimed, sentence="ZeroDivisionError", final=False)
    given_up = Rerun.objects.get()
    assert (given_up.failure, leases.claim(Rerun, given_up.pk), stage(waiting)) == ("ZeroDivisionError", None, "")
    assert Submission.objects.get().status == "scored"
    assert [line.levelname for line in caplog.records if "alarm" in line.message] == ["ERROR"]


def test_reruns_that_were_given_up_can_be_requested_again(claimed: Rerun, scored: Submission) -> None:
    reruns.fail(claimed, sentence="broken", final=True)
    reruns.request([scored], truth=claimed.truth)
    assert Rerun.objects.queued().get().attempts == 0


def test_the_sweeper_ends_an_expired_lease_and_the_late_result_is_refused(claimed: Rerun) -> None:
    Rerun.objects.update(lease_until=LONG_AGO)
    assert sweep() == SweepResult(requeued=1)
    assert not record(claimed)
    assert leases.claim(Rerun, claimed.pk).attempts == 2


def test_a_file_whose_rerun_killed_a_worker_is_no_longer_small(claimed: Rerun) -> None:
    Submission.objects.update(small=True)
    Rerun.objects.update(lease_until=LONG_AGO)
    assert sweep() == SweepResult(requeued=1)
    assert not Submission.objects.get().small


def test_a_rerun_is_given_up_after_three_workers_died(claimed: Rerun, settings: Settings) -> None:
    Rerun.objects.update(lease_until=LONG_AGO, attempts=settings.EVALUATION_ATTEMPTS)
    assert sweep() == SweepResult(failed=1)
    assert (Rerun.objects.get().failure, stage(claimed)) == ("its worker stopped 3 times", "")


def test_a_lost_message_is_resent_once(waiting: Rerun, inline_queue: InlineQueue) -> None:
    Rerun.objects.update(enqueued_at=LONG_AGO)
    assert (sweep().resent, sweep().resent, inline_queue.sent_later) == (1, 0, [waiting.pk])


def test_a_waiting_message_is_not_resent(waiting: Rerun, monkeypatch: pytest.MonkeyPatch) -> None:
    Rerun.objects.update(enqueued_at=LONG_AGO)
    monkeypatch.setattr(queue, "waiting", lambda kind: {Submission: 0, Rerun: 1}[kind])
    assert sweep().resent == 0
