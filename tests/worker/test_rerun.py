"""Tests the task `rerun`, which scores a submission again to add intervals or an explanation of the score."""

from array import array
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pytest_django import Settings

from evaluator import scoring
from evaluator.problems import Findings, InvalidSubmission, InvalidTruth, Problem
from evaluator.request import Bootstrap, ReportOptions, ScoringRequest
from server.submissions.limits import file_limits
from server.submissions.models import Replicates, Rerun, Score, Submission
from tests.conftest import InlineQueue, Make
from worker import tasks
from worker.limits import OutOfTime

REPLICATES = [0.5, float("nan"), 0.75]


def report(value: float = 0.625) -> Any:
    """Return a stub for the scorer. Its fixed report includes bootstrap replicates if they are requested."""

    def splits(drawn: bool) -> dict[str, Any]:
        ends = {"mAP": [0.5, 0.75]} if drawn else {}
        return {"public": {"headline": "mAP", "metrics": {"mAP": value}, "intervals": ends, "classes": []}}

    def score(request: ScoringRequest) -> Any:
        bootstrap = request.report.bootstrap
        drawn = {"mAP": np.array(REPLICATES), "precision": np.array(REPLICATES)} if bootstrap else {}
        return SimpleNamespace(
            as_dict=lambda: {"signature": "s", "parameters": {}, "notices": [], "splits": splits(bool(bootstrap))},
            splits={"public": SimpleNamespace(headline="mAP", replicates=drawn, classes=[], tables={})},
            track="openimages-detection",
            curves={},
        )

    return score


@pytest.fixture
def scorer(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    def replace(outcome: Any) -> None:
        def score(request: ScoringRequest) -> Any:
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome(request)

        monkeypatch.setattr(scoring, "score", score)

    return replace


@pytest.fixture
def waiting(make: Make, inline_queue: InlineQueue, scorer: Callable[[Any], None]) -> Rerun:
    """Score a submission, and return the rerun (a second scoring job) that was queued to compute its intervals."""
    submission = make.submission(make.phase())
    scorer(report())
    tasks.evaluate(str(submission.pk))
    return submission.reruns.get()


def outcome(rerun: Rerun) -> tuple[str, str]:
    """Return the state of a rerun (a job that scores a submission again), and the submission's field `stage`.

    The state is `done`, `waiting`, or the reason why the rerun was abandoned. The stage is the current step of scoring.
    """
    left = Rerun.objects.filter(pk=rerun.pk).first()
    stage = Submission.objects.get(pk=rerun.submission_id).stage
    return ("done" if left is None else left.failure or "waiting"), stage


def test_the_first_scoring_run_computes_no_intervals(
    make: Make, inline_queue: InlineQueue, scorer: Callable[[Any], None]
) -> None:
    submission = make.submission(make.phase())
    asked: list[ScoringRequest] = []
    scorer(lambda request: asked.append(request) or report()(request))
    tasks.evaluate(str(submission.pk))
    assert asked[0].report == ReportOptions()


def test_intervals_and_the_headlines_replicates_are_recorded(waiting: Rerun) -> None:
    tasks.rerun(waiting.pk)
    assert (Score.objects.get().low, Score.objects.get().high, outcome(waiting)) == (0.5, 0.75, ("done", ""))
    values = array("d")
    values.frombytes(Replicates.objects.get().values)
    assert [str(value) for value in values] == [str(value) for value in REPLICATES]


def test_the_scorer_receives_the_number_seed_and_folder_of_draws(
    waiting: Rerun, scorer: Callable[[Any], None], settings: Settings
) -> None:
    settings.INTERVAL_REPLICATES = 7
    asked: list[ScoringRequest] = []
    scorer(lambda request: asked.append(request) or report()(request))
    tasks.rerun(waiting.pk)
    assert asked[0].report == ReportOptions(bootstrap=Bootstrap(7, 0, waiting.truth.draws))
    assert waiting.truth.draws.parent == settings.TRUTH_ROOT


def test_a_second_message_does_nothing(waiting: Rerun) -> None:
    tasks.rerun(waiting.pk)
    tasks.rerun(waiting.pk)
    assert outcome(waiting) == ("done", "")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "takes more memory than allowed (6 GiB)"),
        (OutOfTime(), "took longer than 30 minutes of CPU time"),
        (
            InvalidSubmission(Findings.of(Problem("unknown_image", "secret"))),
            "does not match this ground truth: unknown_image.",
        ),
        (InvalidTruth(Findings.of(Problem("truth_bad_value", "secret", file="b.csv"))), "truth_bad_value in b.csv"),
    ],
)
def test_a_rerun_whose_failure_would_repeat_is_given_up_with_an_alarm(
    waiting: Rerun, scorer: Callable[[Any], None], error, words, caplog: pytest.LogCaptureFixture
) -> None:
    scorer(error)
    tasks.rerun(waiting.pk)
    failure, stage = outcome(waiting)
    assert (words in failure, "secret" in failure + caplog.text, stage) == (True, False, "")
    assert [line.levelname for line in caplog.records if "alarm" in line.message] == ["ERROR"]
    assert Submission.objects.get().status == "scored"


def explaining(waiting: Rerun) -> Rerun:
    """Run the queued job that adds intervals to a score, and return the job that is then queued for the explanation."""
    tasks.rerun(waiting.pk)
    return Rerun.objects.get(purpose=Rerun.Purpose.EXPLANATION)


@pytest.mark.parametrize("purpose", [Rerun.Purpose.INTERVALS, Rerun.Purpose.EXPLANATION])
def test_a_rerun_of_a_small_file_that_takes_long_is_requeued_as_large(
    waiting: Rerun, scorer: Callable[[Any], None], purpose
) -> None:
    Rerun.objects.update(purpose=purpose)
    Submission.objects.update(small=True)
    scorer(OutOfTime())
    tasks.rerun(waiting.pk)
    again = Rerun.objects.get()
    assert (again.failure, again.attempts, Submission.objects.get().small) == ("", 0, False)
    tasks.rerun(waiting.pk)
    # The first attempt exceeded the shorter time limit for small files. The second exceeded the limit for large files.
    assert "CPU time" in Rerun.objects.get().failure


def test_only_files_up_to_a_size_are_explained_without_the_compiled_kernels(
    waiting: Rerun, scorer: Callable[[Any], None], settings: Settings
) -> None:
    settings.EXPLANATION_MAX_BYTES = 77
    follows, asked = explaining(waiting), []
    scorer(lambda request: asked.append(request) or report()(request))
    tasks.rerun(follows.pk)
    assert asked[0].report == ReportOptions(curves=True, explanation=True)
    resources = asked[0].resources
    assert (resources.reference_bytes, resources.limits) == (77, file_limits())


def test_a_file_that_is_too_large_to_be_explained_causes_no_alarm(
    waiting: Rerun, scorer: Callable[[Any], None], caplog: pytest.LogCaptureFixture
) -> None:
    follows = explaining(waiting)
    scorer(InvalidSubmission(Findings.of(Problem("too_large", "secret"))))
    tasks.rerun(follows.pk)
    failure, stage = outcome(follows)
    assert ("get no explanation" in failure, stage) == (True, "")
    assert "alarm" not in caplog.text


def test_an_explanation_of_a_different_score_raises_an_alarm(
    waiting: Rerun, scorer: Callable[[Any], None], caplog: pytest.LogCaptureFixture
) -> None:
    follows = explaining(waiting)
    scorer(report(0.5))
    tasks.rerun(follows.pk)
    assert "gave different scores when it was repeated" in outcome(follows)[0]
    assert "alarm" in caplog.text


def test_a_rerun_with_a_different_score_raises_an_alarm_and_is_not_recorded(
    waiting: Rerun, scorer: Callable[[Any], None], caplog: pytest.LogCaptureFixture
) -> None:
    scorer(report(0.5))
    tasks.rerun(waiting.pk)
    assert "gave different scores when it was repeated" in outcome(waiting)[0]
    assert (Score.objects.get().value, Score.objects.get().low) == (0.625, None)
    assert "alarm" in caplog.text


def test_after_a_bug_a_job_is_tried_again_and_the_exception_is_raised_for_the_log(
    waiting: Rerun, scorer: Callable[[Any], None]
) -> None:
    scorer(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        tasks.rerun(waiting.pk)
    assert outcome(waiting) == ("waiting", "bootstrapping")


def test_a_lost_lease_ends_the_rerun(waiting: Rerun, scorer: Callable[[Any], None]) -> None:
    def taken_over(request: ScoringRequest) -> Any:
        Rerun.objects.update(lease_token=None, lease_until=None)
        request.resources.progress("bootstrapping", 0.5)
        raise AssertionError("the scoring should have ended")

    scorer(taken_over)
    tasks.rerun(waiting.pk)
    assert outcome(waiting) == ("waiting", "bootstrapping")


def test_stopping_a_worker_requeues_its_job_without_counting_the_attempt(
    waiting: Rerun, scorer: Callable[[Any], None]
) -> None:
    scorer(SystemExit())
    with pytest.raises(SystemExit):
        tasks.rerun(waiting.pk)
    assert Rerun.objects.get().attempts == 0
