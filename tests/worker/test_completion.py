"""The task that scores a small file also computes its intervals and explanation if no more urgent job is waiting."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from django.db.models import F
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings
from redis import RedisError

from evaluator import scoring
from evaluator.request import ScoringRequest
from server.challenges.models import Phase
from server.leaderboards.models import Comparison
from server.submissions import queue
from server.submissions.models import Rerun, Submission
from server.submissions.services import sweeping
from tests.conftest import InlineQueue, Make
from worker import scorer, tasks

SPLITS = {"public": {"headline": "mAP", "metrics": {"mAP": 0.5}, "intervals": {}, "classes": []}}
Messages = dict[type, int]


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch, inline_queue: InlineQueue) -> Messages:
    """Make the queue report message counts that tests can change. Return these counts, keyed by kind of job."""
    numbers: Messages = {Submission: 0, Rerun: 0}
    monkeypatch.setattr(queue, "waiting", numbers.__getitem__)
    monkeypatch.setattr(queue, "is_empty_above", lambda kind: not numbers[Submission])
    return numbers


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch, messages: Messages) -> list[str]:
    """Replace the scorer with a stub. Return a list that collects what was computed, in order."""
    found: list[str] = []

    def score(request: ScoringRequest) -> Any:
        options = request.report
        found.append("intervals" if options.bootstrap else "explanation" if options.curves else "score")
        replicates = {"mAP": np.array([0.5, 0.75])} if options.bootstrap else {}
        splits = {"public": SimpleNamespace(headline="mAP", replicates=replicates)}
        content = {"signature": "s", "parameters": {}, "notices": [], "splits": SPLITS}
        return SimpleNamespace(as_dict=lambda: content, splits=splits)

    monkeypatch.setattr(scoring, "score", score)
    monkeypatch.setattr(scorer, "explanations", lambda report: {"public": b""})
    return found


@pytest.fixture
def evaluate(
    done: list[str], inline_queue: InlineQueue, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> Callable[[Submission], None]:
    """Return a function that runs the task `evaluate`, and then the callbacks that send its messages on commit."""

    def run(submission: Submission) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            tasks.evaluate(str(submission.pk))

    return run


Evaluate = Callable[[Submission], None]


def test_one_task_computes_score_intervals_and_explanation_without_messages(
    make: Make, phase: Phase, evaluate: Evaluate, done: list[str], inline_queue: InlineQueue
) -> None:
    submission = make.submission(phase, small=True)
    evaluate(submission)
    submission.refresh_from_db()
    assert done == ["score", "intervals", "explanation"]
    assert (submission.stage, submission.evaluations.get().explanations.count()) == ("", 1)
    assert (inline_queue.sent_later, Rerun.objects.exists()) == ([], False)


def test_if_other_jobs_wait_the_intervals_are_left_to_a_message(
    make: Make, phase: Phase, evaluate: Evaluate, done: list[str], messages: Messages, inline_queue: InlineQueue
) -> None:
    messages[Submission] = 1
    evaluate(make.submission(phase, small=True))
    assert done == ["score"]
    assert Rerun.objects.get().pk in inline_queue.sent_later


def test_messages_of_higher_priority_are_urgent_ones_and_those_of_more_important_jobs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(queue, "broker", lambda url: SimpleNamespace(exists=lambda *keys: asked.extend(keys)))
    assert queue.is_empty_above(Rerun)
    scores, comparisons, reruns = (queue.QUEUES[kind].name for kind in (Submission, Comparison, Rerun))
    assert {scores, reruns, comparisons, queue.list_of(comparisons, 6)} <= {*asked}
    assert queue.list_of(reruns, 9) not in asked


def test_a_broker_that_does_not_respond_may_have_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*keys: str) -> int:
        raise RedisError

    monkeypatch.setattr(queue, "broker", lambda url: SimpleNamespace(exists=fail))
    assert not queue.is_empty_above(Rerun)


def test_a_submission_that_arrives_comes_before_the_explanation(
    make: Make,
    phase: Phase,
    evaluate: Evaluate,
    done: list[str],
    messages: Messages,
    inline_queue: InlineQueue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def arrives(report: Any) -> dict[str, bytes]:
        messages[Submission] = 1
        return {}

    monkeypatch.setattr(scorer, "headline_replicates", arrives)
    evaluate(make.submission(phase, small=True))
    assert done == ["score", "intervals"]
    assert inline_queue.sent_later == [Rerun.objects.get(purpose="explanation").pk]


def test_the_intervals_of_a_large_file_are_left_to_a_message(
    make: Make, phase: Phase, evaluate: Evaluate, done: list[str], inline_queue: InlineQueue
) -> None:
    evaluate(make.submission(phase))
    assert done == ["score"]
    assert inline_queue.sent_later == [Rerun.objects.get().pk]


def test_a_worker_without_the_queue_of_reruns_leaves_them_to_a_message(
    make: Make, phase: Phase, evaluate: Evaluate, done: list[str], inline_queue: InlineQueue, settings: Settings
) -> None:
    settings.WORKER_QUEUES = ["scores"]
    evaluate(make.submission(phase, small=True))
    assert done == ["score"]
    assert Rerun.objects.get().pk in inline_queue.sent_later


def test_a_task_runs_at_most_one_rerun_for_each_purpose_in_their_usual_order(
    make: Make, phase: Phase, evaluate: Evaluate, done: list[str]
) -> None:
    for _ in range(3):
        scored = make.submission(phase, small=True, status="scored", finished_at="2026-01-01T00:00:00Z")
        Rerun.objects.create(submission=scored, truth=phase.truth, enqueued_at=scored.enqueued_at)
    evaluate(make.submission(phase, small=True))
    assert done == ["score", "intervals", "intervals"]


def test_the_sweeper_wakes_a_worker_if_one_was_killed_between_score_and_intervals(
    make: Make,
    phase: Phase,
    evaluate: Evaluate,
    done: list[str],
    inline_queue: InlineQueue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tasks, "complete", lambda: None)
    submission = make.submission(phase, small=True)
    evaluate(submission)
    submission.refresh_from_db()
    assert (submission.status, done, inline_queue.sent_later) == ("scored", ["score"], [])
    Rerun.objects.update(enqueued_at=F("enqueued_at") - timedelta(days=1))
    assert sweeping.resend_lost_messages(Rerun) == 1
    assert inline_queue.sent_later == [Rerun.objects.get().pk]
