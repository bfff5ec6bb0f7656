"""Any earlier version of a ground truth can be made active again, and an unapplied rescoring can be discarded."""

import pytest

from server.audit.models import Entry
from server.challenges.models import Phase, Truth
from server.errors import Refused
from server.organize.models import Rescoring
from server.organize.services import rescoring
from server.submissions.models import Evaluation, Rerun, Submission
from server.submissions.services import leases, reruns
from tests.conftest import Make
from tests.server.conftest import Scored, refresh_boards
from tests.server.organize.test_rescoring import add, done, kind, lines, newer, two

__all__ = ["newer", "two"]  # pytest finds these imported fixtures by name.
pytestmark = pytest.mark.usefixtures("inline_queue")

AT_FIRST = [("A", 0.6), ("B", 0.5)]


def switched(phase: Phase, truth: Truth, **scores: float) -> Rescoring:
    """Rescore the phase against the given ground truth and apply the rescoring.

    `scores` must contain each team whose submission has no score against this ground truth yet, with the score to
    record.
    """
    # Delete the queued jobs that explain scores, as if a worker had completed them.
    Rerun.objects.filter(purpose=Rerun.Purpose.EXPLANATION).delete()
    begun = rescoring.start(phase=phase, by=None, truth=truth)
    assert {rerun.submission.team.name for rerun in Rerun.objects.filter(truth=truth)} == set(scores)
    for rerun in list(Rerun.objects.filter(truth=truth)):
        done(rerun.submission, scores[rerun.submission.team.name])
    return rescoring.apply(rescoring=begun, by=None)


@pytest.fixture
def real(phase: Phase, make: Make, two: tuple[Submission, Submission]) -> Truth:
    """Make all scores current by storing the phase's current signature with them. Return the active ground truth.

    A signature records how a score was computed. Normally, a worker stores it.
    """
    Evaluation.objects.update(signature=kind(phase, phase.truth))
    refresh_boards()
    Phase.objects.filter(pk=phase.pk).update(signature=kind(phase, phase.truth))
    return Truth.objects.get(phase=phase, active=True)


def test_switching_back_restores_the_leaderboard_without_scoring_again(phase: Phase, real: Truth, newer: Truth) -> None:
    switched(phase, newer, A=0.1, B=0.2)
    assert lines(phase) == [("B", 0.2), ("A", 0.1)]
    switched(phase, real)
    assert lines(phase) == AT_FIRST
    assert Phase.objects.get(pk=phase.pk).truth == real
    assert [one.truth.version for one in Rescoring.objects.order_by("started_at")] == [2, 1]


def test_submissions_between_two_switches_are_scored_against_the_reactivated_version(
    phase: Phase, real: Truth, newer: Truth, make: Make, scored: Scored
) -> None:
    switched(phase, newer, A=0.1, B=0.2)
    scored(Phase.objects.get(pk=phase.pk), 0.3, team=make.team(phase.challenge, name="C"))
    switched(phase, real, C=0.55)
    assert lines(phase) == [("A", 0.6), ("C", 0.55), ("B", 0.5)]


def test_scores_of_another_version_of_the_evaluator_are_not_reused(phase: Phase, real: Truth, newer: Truth) -> None:
    switched(phase, newer, A=0.1, B=0.2)
    earlier = Evaluation.objects.filter(truth=real)
    earlier.update(evaluator_version="0.9.0", signature="of an earlier version")
    switched(phase, real, A=0.61, B=0.51)
    assert lines(phase) == [("A", 0.61), ("B", 0.51)]


def test_missing_intervals_are_requested_when_their_truth_version_is_active_again(
    phase: Phase, real: Truth, newer: Truth, two: tuple[Submission, Submission]
) -> None:
    """A newer ground truth became active before the confidence intervals of the old scores were computed."""
    switched(phase, newer, A=0.1, B=0.2)
    switched(phase, real)
    assert set(Rerun.objects.scoring().values_list("submission", flat=True)) == {one.pk for one in two}


def test_a_replaced_version_is_not_the_default_of_a_rescoring(phase: Phase, real: Truth, newer: Truth) -> None:
    # By default, a rescoring uses the newest version of the ground truth if it has never been active. Otherwise, it
    # uses the active version.
    assert rescoring.start(phase=phase, by=None).truth == newer
    switched(phase, newer, A=0.1, B=0.2)
    switched(phase, real)
    begun = rescoring.start(phase=phase, by=None)
    assert begun.truth == real


def test_without_a_named_version_the_open_rescoring_is_continued(phase: Phase, real: Truth, newer: Truth) -> None:
    switched(phase, newer, A=0.1, B=0.2)
    begun = rescoring.start(phase=phase, by=None, truth=real)
    assert rescoring.start(phase=phase, by=None) == begun


def test_an_unknown_version_is_refused_with_a_list_of_existing_versions(phase: Phase, newer: Truth) -> None:
    with pytest.raises(Refused, match=r"no ground truth version 7. Its versions are: 2, 1 \(active\)"):
        rescoring.version_of(phase, 7)


def test_a_discarded_rescoring_leaves_traces_only_in_the_audit_log(
    phase: Phase, real: Truth, newer: Truth, two: tuple[Submission, Submission], make: Make
) -> None:
    before = list(Evaluation.objects.order_by("pk").values_list("pk", "signature"))
    rescoring.start(phase=phase, by=None, truth=newer)
    done(two[0], 0.1)  # Only one of the two submissions is rescored before the rescoring is discarded.
    rescoring.discard(phase=phase, by=make.user(username="boss"))
    assert not Rescoring.objects.exists()
    assert not Rerun.objects.exists()
    assert list(Evaluation.objects.order_by("pk").values_list("pk", "signature")) == before
    assert lines(phase) == AT_FIRST
    entry = Entry.objects.latest("number")
    assert (entry.action, entry.actor, entry.detail["truth"]) == ("rescoring.discarded", "boss", 2)


def test_a_rerun_that_ends_after_discarding_is_not_recorded(phase: Phase, real: Truth, newer: Truth) -> None:
    rescoring.start(phase=phase, by=None, truth=newer)
    claimed = leases.claim(Rerun, Rerun.objects.filter(truth=newer)[0].pk)
    assert claimed is not None
    rescoring.discard(phase=phase, by=None)
    split = {"headline": "mAP", "classes": [], "metrics": {"mAP": 0.9}, "intervals": {}}
    report = {"signature": kind(phase, newer), "splits": {"public": split}}
    assert not reruns.record(claimed, report=report, replicates={}, cpu_seconds=1.0)
    assert not Evaluation.objects.filter(truth=newer).exists()


def test_discarding_keeps_scores_from_the_time_when_that_version_was_in_use(
    phase: Phase, real: Truth, newer: Truth, make: Make, scored: Scored
) -> None:
    switched(phase, newer, A=0.1, B=0.2)
    switched(phase, real)
    scored(Phase.objects.get(pk=phase.pk), 0.3, team=make.team(phase.challenge, name="C"))
    rescoring.start(phase=phase, by=None, truth=newer)
    done(Submission.objects.get(team__name="C"), 0.9)
    rescoring.discard(phase=phase, by=None)
    assert sorted(Evaluation.objects.filter(truth=newer).values_list("submission__team__name", flat=True)) == ["A", "B"]


def test_discarding_a_rescoring_to_the_active_truth_keeps_earlier_reruns(
    phase: Phase, real: Truth, newer: Truth, make: Make, scored: Scored
) -> None:
    """A rerun (a job that scores a submission again) for the active ground truth is queued before the rescoring begins.

    The rescoring did not add this rerun, so discarding the rescoring must not remove the rerun.
    """
    submission = scored(phase, 0.3, team=make.team(phase.challenge, name="C"))
    submission.evaluations.update(truth=newer, signature=kind(phase, newer))
    reruns.request([submission], truth=real)
    rescoring.start(phase=phase, by=None, truth=real)
    rescoring.discard(phase=phase, by=None)
    assert Rerun.objects.filter(submission=submission, truth=real).exists()


def test_after_discarding_a_new_rescoring_can_begin(phase: Phase, real: Truth, newer: Truth) -> None:
    rescoring.start(phase=phase, by=None, truth=newer)
    rescoring.discard(phase=phase, by=None)
    switched(phase, newer, A=0.1, B=0.2)
    assert lines(phase) == [("B", 0.2), ("A", 0.1)]


def test_a_replaced_rescoring_is_in_the_audit_log(phase: Phase, real: Truth, newer: Truth) -> None:
    rescoring.start(phase=phase, by=None, truth=newer)
    rescoring.start(phase=phase, by=None, truth=add(phase, version=3))
    told = list(Entry.objects.order_by("number").values_list("action", "detail__truth"))
    assert told == [("rescoring.started", 2), ("rescoring.discarded", 2), ("rescoring.started", 3)]


def test_discarding_without_an_open_rescoring_is_refused(phase: Phase, real: Truth, newer: Truth) -> None:
    switched(phase, newer, A=0.1, B=0.2)
    with pytest.raises(Refused) as refusal:
        rescoring.discard(phase=phase, by=None)
    assert refusal.value.code == "not_found"
