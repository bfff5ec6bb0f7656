"""Discarding a rescoring removes only its own scores. The first scores of new submissions remain."""

from typing import Any

import pytest

from server.challenges.models import Phase, Truth
from server.organize.services import rescoring
from server.submissions.models import Evaluation, Rerun, Submission
from server.submissions.services import leases, lifecycle, reruns
from tests.conftest import Make
from tests.server.conftest import refresh_boards
from tests.server.organize.test_rescoring import add, done, kind, lines, newer, two

__all__ = ["newer", "two"]  # pytest finds these imported fixtures by name.
pytestmark = pytest.mark.usefixtures("inline_queue")

OLD = "of an earlier version"


@pytest.fixture
def upgraded(phase: Phase, two: tuple[Submission, Submission]) -> Phase:
    """Return a phase whose leaderboards still show scores of the previous version of the evaluator."""
    Phase.objects.update(signature=OLD)
    Evaluation.objects.update(signature=OLD, evaluator_version="0.9.0")
    refresh_boards()
    return Phase.objects.get()


def scored_first(phase: Phase, make: Make, value: float, **fields: Any) -> Submission:
    """Create a submission and record its first score, computed by the current version of the evaluator."""
    submission = leases.claim(Submission, make.submission(phase, **fields).pk)
    assert submission is not None
    assert phase.truth is not None
    split = {"headline": "mAP", "classes": [], "metrics": {"mAP": value}, "intervals": {}}
    report = {"signature": kind(phase, phase.truth), "splits": {"public": split}}
    assert lifecycle.record(submission, truth=phase.truth, report=report, cpu_seconds=1.0)
    return submission


def signatures(submission: Submission) -> list[str]:
    return list(submission.evaluations.order_by("pk").values_list("signature", flat=True))


def test_first_scores_during_a_discarded_rescoring_remain(
    upgraded: Phase, make: Make, two: tuple[Submission, Submission]
) -> None:
    rescoring.start(phase=upgraded, by=None)
    first = scored_first(upgraded, make, 0.3)
    done(first, 0.3)  # The submission already has a score. Scoring it again only adds intervals.
    done(two[0], 0.9)
    rescoring.discard(phase=upgraded, by=None)
    assert [signatures(one) for one in (first, *two)] == [[kind(upgraded, upgraded.truth)], [OLD], [OLD]]
    assert lines(upgraded) == [("A", 0.6), ("B", 0.5)]


def test_beginning_another_rescoring_removes_no_first_scores(upgraded: Phase, make: Make) -> None:
    rescoring.start(phase=upgraded, by=None)
    first = scored_first(upgraded, make, 0.3)
    rescoring.start(phase=upgraded, by=None, truth=add(upgraded, version=2))
    assert len(signatures(first)) == 1


def test_a_late_first_score_against_an_earlier_truth_remains(phase: Phase, newer: Truth, make: Make) -> None:
    """A worker may record a submission's first score against a ground truth that has been replaced in the meantime.

    In this test, a rescoring back to the earlier ground truth has begun before the score is recorded. Discarding the
    rescoring does not remove this score, because the rescoring did not compute it.
    """
    running = leases.claim(Submission, make.submission(phase).pk)
    assert running is not None
    earlier = phase.truth
    assert earlier is not None
    rescoring.apply(rescoring=rescoring.start(phase=phase, by=None), by=None)
    rescoring.start(phase=phase, by=None, truth=earlier)
    split = {"headline": "mAP", "classes": [], "metrics": {"mAP": 0.5}, "intervals": {}}
    report = {"signature": kind(phase, earlier), "splits": {"public": split}}
    lifecycle.record(running, truth=earlier, report=report, cpu_seconds=1.0)
    rescoring.discard(phase=phase, by=None)
    assert signatures(running) == [kind(phase, earlier)]


def test_pending_intervals_are_requested_again_after_discarding(
    upgraded: Phase, two: tuple[Submission, Submission]
) -> None:
    """Team A's confidence intervals were still pending when the evaluator was upgraded and a rescoring began."""
    reruns.request([two[0]], truth=upgraded.truth)
    Submission.objects.filter(pk=two[0].pk).update(stage="bootstrapping")
    rescoring.start(phase=upgraded, by=None)
    rescoring.discard(phase=upgraded, by=None)
    assert list(Rerun.objects.values_list("submission", flat=True)) == [two[0].pk]
    done(two[0], 0.6)
    assert Submission.objects.get(pk=two[0].pk).is_settled


def test_the_first_score_against_the_active_truth_remains(
    upgraded: Phase, newer: Truth, make: Make, two: tuple[Submission, Submission]
) -> None:
    """Team A's submission has no score against the active ground truth, but a rerun (scoring job) for it is queued.

    A rescoring after an upgrade of the evaluator uses this rerun instead of queuing another. If the rescoring is
    discarded, the rerun's score is kept: the submission has no other score against the active ground truth.
    """
    Evaluation.objects.filter(submission=two[0]).update(truth=newer)
    reruns.request([two[0]], truth=upgraded.truth)
    rescoring.start(phase=upgraded, by=None, truth=upgraded.truth)
    done(two[0], 0.6)
    rescoring.discard(phase=upgraded, by=None)
    assert len(signatures(two[0])) == 2


@pytest.mark.phase(feedback="ladder")
def test_ladder_feedback_for_a_first_score_does_not_change(
    upgraded: Phase, make: Make, two: tuple[Submission, Submission]
) -> None:
    rescoring.start(phase=upgraded, by=None)
    done(two[0], 0.6)
    first = scored_first(upgraded, make, 0.3, team=two[0].team)
    done(first, 0.3)
    shown = first.evaluations.get().published
    assert shown is not None
    assert shown.submission == two[0]
    rescoring.discard(phase=upgraded, by=None)
    assert first.evaluations.get().published == shown
