"""The second task: what each outcome of a scoring with replicates does to the intervals."""

from array import array
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from evaluator import scoring
from evaluator.problems import Findings, InvalidSubmission, InvalidTruth, Problem
from server.submissions.models import Replicates, Rerun, Score, Submission
from worker import tasks
from worker.limits import OutOfTime

REPLICATES = [0.5, float("nan"), 0.75]


def report(value: float = 0.625) -> Any:
    """What the evaluator returns, with and without replicates."""

    def splits(drawn: bool) -> dict[str, Any]:
        ends = {"mAP": [0.5, 0.75]} if drawn else {}
        return {"public": {"headline": "mAP", "metrics": {"mAP": value}, "intervals": ends, "classes": []}}

    def score(*arguments: Any, bootstrap: int = 0, **options: Any) -> Any:
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
        def score(*arguments: Any, **options: Any) -> Any:
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome(*arguments, **options)

        monkeypatch.setattr(scoring, "score", score)

    return replace


@pytest.fixture
def waiting(make: Any, inline_queue: Any, scorer: Any) -> Rerun:
    """A scored submission's."""
    submission = make.submission(make.phase())
    scorer(report())
    tasks.evaluate(str(submission.pk))
    return submission.reruns.get()


def outcome(rerun: Rerun) -> tuple[str, str]:
    """What became of it: `done`, `waiting`, or why it was given up; and the stage that its submission shows."""
    left = Rerun.objects.filter(pk=rerun.pk).first()
    stage = Submission.objects.get(pk=rerun.submission_id).stage
    return ("done" if left is None else left.failure or "waiting"), stage


def test_first_scoring_draws_nothing(make, inline_queue, scorer):
    submission = make.submission(make.phase())
    asked: list[dict[str, Any]] = []
    scorer(lambda *arguments, **options: asked.append(options) or report()(*arguments, **options))
    tasks.evaluate(str(submission.pk))
    assert "bootstrap" not in asked[0]


def test_intervals_and_the_headlines_replicates_are_recorded(waiting):
    tasks.rerun(waiting.pk)
    assert (Score.objects.get().low, Score.objects.get().high, outcome(waiting)) == (0.5, 0.75, ("done", ""))
    values = array("d")
    values.frombytes(Replicates.objects.get().values)
    assert [str(value) for value in values] == [str(value) for value in REPLICATES]


def test_scorer_is_told_how_many_of_which_draws_and_where_they_lie(waiting, scorer, settings):
    settings.INTERVAL_REPLICATES = 7
    asked: dict[str, Any] = {}
    scorer(lambda *arguments, **options: asked.update(options) or report()(*arguments, **options))
    tasks.rerun(waiting.pk)
    assert (asked["bootstrap"], asked["seed"], asked["draws"]) == (7, 0, waiting.truth.draws)
    assert waiting.truth.draws.parent == settings.TRUTH_ROOT


def test_second_message_does_nothing(waiting):
    tasks.rerun(waiting.pk)
    tasks.rerun(waiting.pk)
    assert outcome(waiting) == ("done", "")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "needs more memory than allowed (6 GiB)"),
        (OutOfTime(), "took longer than 30 minutes of computing time"),
        (InvalidSubmission(Findings.of(Problem("unknown_image", "secret"))), "does not fit this truth: unknown_image."),
        (InvalidTruth(Findings.of(Problem("truth_bad_value", "secret", file="b.csv"))), "truth_bad_value in b.csv"),
    ],
)
def test_what_another_try_cannot_mend_is_given_up_at_once_with_an_alarm(waiting, scorer, error, words, caplog):
    scorer(error)
    tasks.rerun(waiting.pk)
    failure, stage = outcome(waiting)
    assert (words in failure, "secret" in failure + caplog.text, stage) == (True, False, "")
    assert [line.levelname for line in caplog.records if "alarm" in line.message] == ["ERROR"]
    assert Submission.objects.get().status == "scored"


def explaining(waiting: Rerun) -> Rerun:
    """What follows the intervals."""
    tasks.rerun(waiting.pk)
    return Rerun.objects.get(purpose=Rerun.Purpose.EXPLANATION)


@pytest.mark.parametrize("purpose", [Rerun.Purpose.INTERVALS, Rerun.Purpose.EXPLANATION])
def test_rerun_of_a_small_file_that_computes_long_is_put_back_as_a_large_one(waiting, scorer, purpose):
    Rerun.objects.update(purpose=purpose)
    Submission.objects.update(small=True)
    scorer(OutOfTime())
    tasks.rerun(waiting.pk)
    again = Rerun.objects.get()
    assert (again.failure, again.attempts, Submission.objects.get().small) == ("", 0, False)
    tasks.rerun(waiting.pk)
    assert "computing time" in Rerun.objects.get().failure  # a large one has no more to use up


def test_scorer_is_asked_to_explain_files_up_to_a_size(waiting, scorer, settings):
    settings.EXPLANATION_MAX_BYTES = 77
    follows, asked = explaining(waiting), {}
    scorer(lambda *arguments, **options: asked.update(options) or report()(*arguments, **options))
    tasks.rerun(follows.pk)
    assert (asked["explain"], asked["curves"], asked["limits"].decompressed_bytes) == (True, True, 77)
    assert "bootstrap" not in asked


def test_explanation_that_a_file_is_too_large_for_is_no_alarm(waiting, scorer, caplog):
    follows = explaining(waiting)
    scorer(InvalidSubmission(Findings.of(Problem("too_large", "secret"))))
    tasks.rerun(follows.pk)
    failure, stage = outcome(follows)
    assert ("are not explained" in failure, stage) == (True, "")
    assert "alarm" not in caplog.text


def test_explanation_of_another_score_is_an_alarm(waiting, scorer, caplog):
    follows = explaining(waiting)
    scorer(report(0.5))
    tasks.rerun(follows.pk)
    assert "has other scores the second time" in outcome(follows)[0]
    assert "alarm" in caplog.text


def test_other_score_the_second_time_is_an_alarm_and_not_recorded(waiting, scorer, caplog):
    scorer(report(0.5))
    tasks.rerun(waiting.pk)
    assert "has other scores the second time" in outcome(waiting)[0]
    assert (Score.objects.get().value, Score.objects.get().low) == (0.625, None)
    assert "alarm" in caplog.text


def test_bug_is_tried_again_and_raised_for_the_log(waiting, scorer):
    scorer(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        tasks.rerun(waiting.pk)
    assert outcome(waiting) == ("waiting", "bootstrapping")


def test_lost_lease_ends_it(waiting, scorer):
    def taken_over(*arguments: Any, progress: Any, **options: Any) -> Any:
        Rerun.objects.update(lease_token=None, lease_until=None)
        progress("bootstrapping", 0.5)
        raise AssertionError("the scoring should have ended")

    scorer(taken_over)
    tasks.rerun(waiting.pk)
    assert outcome(waiting) == ("waiting", "bootstrapping")


def test_worker_that_is_stopped_puts_it_back_without_counting_the_attempt(waiting, scorer):
    scorer(SystemExit())
    with pytest.raises(SystemExit):
        tasks.rerun(waiting.pk)
    assert Rerun.objects.get().attempts == 0
