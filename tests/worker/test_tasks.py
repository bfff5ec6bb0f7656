"""Tests how each outcome of the task `evaluate` affects the submission."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from pytest_django import Settings

from evaluator import scoring
from evaluator.problems import Findings, InvalidParameters, InvalidSubmission, InvalidTruth, Notice, Problem
from evaluator.report import Report, SplitReport
from evaluator.request import ScoringRequest
from server.submissions.models import Evaluation, Rerun, Score, Submission
from server.submissions.services import lifecycle, quota
from tests.conftest import InlineQueue, Make
from worker import tasks
from worker.limits import OutOfTime

ROWS = [{"label": "/m/0jbk", "name": "Animal", "ap": 0.5}]


def report(value: float | None = 0.75) -> Report:
    split = SplitReport("mAP", {"mAP": value}, ROWS)
    return Report("openimages-detection", "signature", {}, {"all": split, "public": split}, [Notice("n", "m", 1)])


def findings() -> Findings:
    found = Findings()
    found.add(Problem("not_finite", "nan is not a finite number", line=3, column="Score"))
    return found


@pytest.fixture
def submission(make: Make, inline_queue: InlineQueue) -> Submission:
    made: Submission = make.submission(make.phase())
    quota.charge(made, now=made.received_at)
    return made


@pytest.fixture
def scorer(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], None]:
    """Return a function that replaces the scorer with a stub: `scorer(outcome)`.

    The stub raises the outcome if it is an exception, calls it if it is a function, and otherwise returns it.
    """

    def replace(outcome: Any) -> None:
        def score(request: ScoringRequest) -> Report:
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome(request) if callable(outcome) else outcome

        monkeypatch.setattr(scoring, "score", score)

    return replace


def spin(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def evaluate(submission: Submission) -> Submission:
    tasks.evaluate(str(submission.pk))
    return Submission.objects.get(pk=submission.pk)


def used(submission: Submission) -> int:
    return quota.state(team=submission.team, phase=submission.phase, now=datetime.now(UTC)).used


def test_the_scores_of_a_submission_are_stored_in_columns(
    submission: Submission, scorer: Callable[[object], None]
) -> None:
    scorer(report(0.75))
    assert evaluate(submission).status == "scored"
    assert set(Score.objects.values_list("split", "metric", "value")) == {("all", "mAP", 0.75), ("public", "mAP", 0.75)}


def test_an_undefined_score_is_stored_as_null(submission: Submission, scorer: Callable[[object], None]) -> None:
    scorer(report(None))
    evaluate(submission)
    assert set(Score.objects.values_list("value", flat=True)) == {None}


def test_a_second_message_does_not_score_a_submission_again(
    submission: Submission, scorer: Callable[[object], None]
) -> None:
    scorer(report())
    evaluate(submission)
    evaluate(submission)
    assert Evaluation.objects.count() == 1


def test_the_scorer_gets_the_phase_and_the_limits(
    submission: Submission, scorer: Callable[[object], None], settings: Settings
) -> None:
    settings.SUBMISSION_MAX_BOXES = 7
    submission.phase.parameters = {"group_of_weight": 0.0}
    submission.phase.save()
    given = []
    scorer(lambda request: given.append(request) or report())
    evaluate(submission)
    assert (given[0].parameters, given[0].resources.limits.boxes) == ({"group_of_weight": 0.0}, 7)


def test_the_progress_of_the_scorer_is_stored_with_the_submission(
    submission: Submission, scorer: Callable[[object], None]
) -> None:
    seen = []

    def slow(request: ScoringRequest) -> Report:
        request.resources.progress("matching", 0.5)
        seen.append(Submission.objects.values_list("stage", "progress").get(pk=submission.pk))
        return report()

    scorer(slow)
    evaluate(submission)
    assert seen == [("matching", 0.5)]


def test_a_bad_file_is_rejected_with_the_locations_of_its_defects(
    submission: Submission, scorer: Callable[[object], None]
) -> None:
    scorer(InvalidSubmission(findings()))
    row = evaluate(submission)
    assert (row.status, row.fault, row.problems["total"]) == ("rejected", "participant", 1)
    assert (row.problems["errors"][0]["line"], row.problems["errors"][0]["column"]) == (3, "Score")
    assert used(submission) == 0


@pytest.mark.parametrize(
    ("error", "fault", "words", "cost"),
    [
        (
            InvalidTruth(Findings.of(Problem("truth_bad_value", "secret", file="boxes.csv"))),
            "organizer",
            "hidden ground truth",
            0,
        ),
        (InvalidParameters("group_of_weight: 7 is too much"), "organizer", "settings of this phase", 0),
        (MemoryError(), "participant", "takes more memory than allowed (6 GiB)", 1),
        (OutOfTime(), "participant", "took longer than 30 minutes of CPU time", 1),
    ],
)
def test_a_failure_that_would_repeat_is_final_at_once(
    submission: Submission, scorer: Callable[[object], None], error, fault, words, cost
) -> None:
    scorer(error)
    row = evaluate(submission)
    assert (row.status, row.fault, words in row.failure) == ("failed", fault, True)
    assert used(submission) == cost


def test_a_file_that_exceeds_the_cpu_time_fails_with_out_of_time(
    submission: Submission, scorer: Callable[[object], None], settings: Settings
) -> None:
    settings.EVALUATION_SECONDS = 0.1

    def compute(request: ScoringRequest) -> Report:
        while True:
            pass

    scorer(compute)
    row = evaluate(submission)
    assert (row.status, row.failure_code, row.fault) == ("failed", "out_of_time", "participant")


def test_a_small_file_that_takes_long_is_requeued_as_large_without_counting_an_attempt(
    submission: Submission, scorer: Callable[[object], None], settings: Settings
) -> None:
    settings.SMALL_FILE_CPU_SECONDS = 0.1
    Submission.objects.update(small=True)
    scorer(lambda request: spin(0.5) or report())
    row = evaluate(submission)
    assert (row.status, row.small, row.attempts, row.losses) == ("queued", False, 0, 0)
    # The quota is charged once for the submission.
    assert (row.failure_code, row.fault, used(submission)) == ("", "", 1)
    assert evaluate(submission).status == "scored"


def test_a_small_file_beyond_the_memory_limit_fails_like_a_large_one(
    submission: Submission, scorer: Callable[[object], None]
) -> None:
    Submission.objects.update(small=True)
    scorer(MemoryError())
    assert evaluate(submission).failure_code == "out_of_memory"


def test_a_process_that_scores_a_small_file_keeps_its_slot_for_large_ones(
    submission: Submission, scorer: Callable[[object], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    Submission.objects.update(small=True)
    left: list[str] = []
    monkeypatch.setattr(tasks.LargeFileSlot, "release", lambda slot: left.append("left"))
    scorer(lambda request: left.append("scored") or report())
    evaluate(submission)
    assert left[:2] == ["scored", "left"]


def test_a_worker_that_has_scored_wakes_others_for_both_kinds_of_jobs(
    submission: Submission, scorer: Callable[[object], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[type] = []
    monkeypatch.setattr(tasks.scheduling, "wake", woken.append)
    scorer(InvalidSubmission(findings()))
    evaluate(submission)
    assert woken == [Submission, Rerun]


def test_a_file_that_waits_for_a_busy_machine_is_scored(
    submission: Submission, scorer: Callable[[object], None], settings: Settings
) -> None:
    settings.EVALUATION_SECONDS = 0.1
    scorer(lambda request: time.sleep(0.4) or report())
    assert evaluate(submission).status == "scored"


def test_a_scoring_run_that_hangs_is_tried_again(submission: Submission, scorer: Callable[[object], None]) -> None:
    scorer(SoftTimeLimitExceeded())
    with pytest.raises(SoftTimeLimitExceeded):
        tasks.evaluate(str(submission.pk))
    submission.refresh_from_db()
    assert (submission.status, submission.failure_code) == ("queued", "")


def test_a_message_reveals_nothing_from_the_truth(
    submission: Submission, scorer: Callable[[object], None], caplog: pytest.LogCaptureFixture
) -> None:
    scorer(InvalidTruth(Findings.of(Problem("truth_bad_value", "secret", file="boxes.csv", line=3))))
    assert "secret" not in evaluate(submission).failure + caplog.text
    assert "truth_bad_value in boxes.csv, line 3" in caplog.text


def test_a_missing_truth_is_reported_as_the_organizers_fault(submission: Submission) -> None:
    submission.phase.truths.update(active=False)
    assert evaluate(submission).fault == "organizer"


def test_after_a_bug_a_job_is_tried_again_and_the_exception_is_raised_for_the_log(
    submission: Submission, scorer: Callable[[object], None]
) -> None:
    scorer(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        tasks.evaluate(str(submission.pk))
    submission.refresh_from_db()
    assert (submission.status, submission.attempts) == ("queued", 1)


def test_a_submission_fails_after_the_last_attempt_if_a_bug_persists(
    submission: Submission, scorer: Callable[[object], None], settings: Settings
) -> None:
    scorer(ZeroDivisionError())
    for _ in range(settings.EVALUATION_ATTEMPTS):
        with pytest.raises(ZeroDivisionError):
            tasks.evaluate(str(submission.pk))
    submission.refresh_from_db()
    assert (submission.status, submission.fault) == ("failed", "platform")
    assert submission.failure.startswith("Scoring failed with ZeroDivisionError.")


def test_a_submission_that_is_cancelled_while_it_is_scored_stays_cancelled(
    make: Make, submission: Submission, scorer: Callable[[object], None]
) -> None:
    def cancelled_meanwhile(request: ScoringRequest) -> Report:
        lifecycle.cancel(submission=Submission.objects.get(pk=submission.pk), by=make.user(is_staff=True))
        request.resources.progress("scoring", 0.5)
        raise AssertionError("the scoring should have ended")

    scorer(cancelled_meanwhile)
    assert evaluate(submission).status == "cancelled"


def test_a_late_result_of_a_cancelled_submission_is_not_recorded(
    make: Make, submission: Submission, scorer: Callable[[object], None]
) -> None:
    def cancelled_meanwhile(request: ScoringRequest) -> Report:
        lifecycle.cancel(submission=Submission.objects.get(pk=submission.pk), by=make.user(is_staff=True))
        return report()

    scorer(cancelled_meanwhile)
    assert evaluate(submission).status == "cancelled"
    assert not Evaluation.objects.exists()


def test_stopping_a_worker_requeues_its_job_without_counting_the_attempt(
    submission: Submission, scorer: Callable[[object], None]
) -> None:
    scorer(SystemExit())
    with pytest.raises(SystemExit):
        tasks.evaluate(str(submission.pk))
    submission.refresh_from_db()
    assert (submission.status, submission.attempts) == ("queued", 0)
