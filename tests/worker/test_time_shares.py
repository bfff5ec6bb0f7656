"""A worker spends a tenth of its time on reruns, which score submissions again, even if submissions keep arriving."""

import random

import pytest
from pytest_django import Settings

from server.challenges.models import Phase
from server.submissions.models import Rerun, Submission
from tests.conftest import InlineQueue, Make
from worker import tasks, time_shares
from worker.time_shares import SHARE, TURN_SECONDS, TimeShare


@pytest.fixture
def owed(monkeypatch: pytest.MonkeyPatch, inline_queue: InlineQueue) -> TimeShare:
    """Make a turn of reruns (jobs that score submissions again) due, so that one follows the next submission."""
    share = TimeShare(owed=TURN_SECONDS)
    monkeypatch.setattr(time_shares, "of_reruns", share)
    return share


@pytest.fixture
def rerun(make: Make, phase: Phase) -> Rerun:
    """Return a queued rerun (a job that scores a submission again). Also queue two submissions of another team."""
    make.submission(phase)
    make.submission(phase)
    scored = make.submission(phase, status="scored", finished_at="2026-01-01T00:00:00Z")
    return Rerun.objects.create(submission=scored, truth=phase.truth, enqueued_at=scored.enqueued_at)


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch, inline_queue: InlineQueue) -> list[type]:
    """Replace scoring with stubs that do nothing. Return a list that collects the kinds of the jobs in order."""
    kinds: list[type] = []
    for name in ("evaluate_claimed", "rerun_claimed"):
        monkeypatch.setattr(tasks, name, lambda job, notify: kinds.append(type(job)))
    return kinds


def evaluate_next() -> None:
    tasks.evaluate(str(Submission.objects.queued()[0].pk))


def test_a_rerun_that_is_owed_a_turn_runs_while_submissions_wait(
    owed: TimeShare, rerun: Rerun, done: list[type]
) -> None:
    evaluate_next()
    assert done == [Submission, Rerun]
    assert Submission.objects.queued().count() == 1


def test_a_rerun_waits_for_submissions_until_it_is_owed_a_turn(owed: TimeShare, rerun: Rerun, done: list[type]) -> None:
    owed.owed = TURN_SECONDS / 2
    evaluate_next()
    evaluate_next()
    assert done == [Submission, Submission]


def test_a_worker_without_the_queue_of_reruns_runs_none(
    owed: TimeShare, rerun: Rerun, done: list[type], settings: Settings
) -> None:
    settings.WORKER_QUEUES = ["scores"]
    evaluate_next()
    assert done == [Submission]


def test_nothing_is_owed_if_no_rerun_waits(owed: TimeShare, rerun: Rerun, done: list[type]) -> None:
    rerun.delete()
    evaluate_next()
    assert (done, owed.owed) == ([Submission], 0.0)


def test_jobs_below_get_a_tenth_of_the_time_however_long_each_of_them_takes() -> None:
    share, draws = TimeShare(), random.Random(1)
    above = below = 0.0
    while above < 100_000:
        if share.is_due:
            seconds = draws.uniform(0.1, 60)
            below += seconds
            share.count_below(seconds)
        else:
            seconds = draws.uniform(0.01, 20)
            above += seconds
            share.count_above(seconds)
    assert below / (above + below) == pytest.approx(SHARE, abs=0.001)


def test_time_in_which_nothing_else_waited_is_not_charged() -> None:
    share = TimeShare()
    share.count_below(3600.0)
    share.count_above(9 * TURN_SECONDS)
    assert share.is_due


def test_rescorings_and_explanations_are_late_reruns(make: Make, phase: Phase, rerun: Rerun) -> None:
    explanation = Rerun(submission=rerun.submission, truth=rerun.truth, purpose=Rerun.Purpose.EXPLANATION)
    rescoring = Rerun(submission=rerun.submission, truth=make.truth(phase, active=False))
    assert [time_shares.is_late(one) for one in (rerun, explanation, rescoring)] == [False, True, True]
