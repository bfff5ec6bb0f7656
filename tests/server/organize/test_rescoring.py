"""A rescoring loses no scores. All leaderboards change at the same time, when the rescoring is applied."""

from hashlib import sha256

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.files.base import ContentFile
from pytest_django import Settings

from server.audit.models import Entry
from server.challenges.models import Phase, Truth
from server.challenges.shaping import shaping_settings, signature_of
from server.errors import Refused
from server.leaderboards.queries import board
from server.organize.models import Rescoring
from server.organize.services import rescoring
from server.organize.services.previews import Change, preview
from server.submissions.models import Evaluation, Rerun, Submission
from server.submissions.services import leases, lifecycle, reruns
from tests.conftest import Make, green_gate
from tests.server.conftest import Scored, evaluate, refresh_boards

ANONYMOUS = AnonymousUser()


pytestmark = pytest.mark.usefixtures("inline_queue")


@pytest.fixture
def newer(phase: Phase) -> Truth:
    """Create a second version of the ground truth, which is not active."""
    return add(phase, version=2)


def add(phase: Phase, *, version: int) -> Truth:
    digest = sha256(f"another {version}".encode()).hexdigest()
    files = {"prepared": ContentFile(b"", "truth.podium"), "source": ContentFile(b"", "truth.zip")}
    settings = {"prepared_with": shaping_settings(phase), "gate": green_gate(phase)}
    return Truth.objects.create(phase=phase, version=version, sha256=digest, **settings, **files)


def kind(phase: Phase, truth: Truth) -> str:
    return signature_of(phase, truth.sha256)


def done(submission: Submission, value: float) -> None:
    """Run the queued job that scores a submission again, as a worker does, and record the given score."""
    rerun = leases.claim(Rerun, submission.reruns.get().pk)
    assert rerun is not None
    split = {"headline": "mAP", "classes": [], "metrics": {"mAP": value}, "intervals": {"mAP": [value, value]}}
    report = {"signature": kind(submission.phase, rerun.truth), "splits": {"public": split}}
    reruns.record(rerun, report=report, replicates={}, cpu_seconds=1.0)


def lines(phase: Phase) -> list[tuple[str, float]]:
    found = board(Phase.objects.get(pk=phase.pk), split="public", viewer=ANONYMOUS)
    return [(row.team, row.score) for row in found.rows]


@pytest.fixture
def two(phase: Phase, make: Make, scored: Scored) -> tuple[Submission, Submission]:
    """Create a scored submission from team A, and one from team B with a lower score."""
    return tuple(
        scored(phase, score, team=make.team(phase.challenge, name=name)) for name, score in (("A", 0.6), ("B", 0.5))
    )


def test_every_scored_submission_gets_a_rerun_and_the_leaderboard_does_not_change(
    phase: Phase, newer: Truth, two: tuple[Submission, Submission], make: Make
) -> None:
    make.submission(phase, status="cancelled", finished_at=two[0].finished_at)
    begun = rescoring.start(phase=phase, by=None)
    assert (begun.signature, rescoring.count_left(begun)) == (kind(phase, newer), 2)
    assert {rerun.submission for rerun in Rerun.objects.filter(truth=newer)} == set(two)
    done(two[0], 0.1)
    assert (rescoring.count_left(begun), lines(phase)) == (1, [("A", 0.6), ("B", 0.5)])


def test_a_preview_lists_the_ranks_that_change(
    phase: Phase, newer: Truth, two: tuple[Submission, Submission], scored: Scored
) -> None:
    scored(phase, 0.4)
    same = Submission.objects.latest("received_at")
    begun = rescoring.start(phase=phase, by=None)
    for submission, value in zip((*two, same), (0.5, 0.7, 0.4), strict=True):
        done(submission, value)
    assert preview(begun, split="public").rank_changes == [Change("B", 2, 1, 0.5, 0.7), Change("A", 1, 2, 0.6, 0.5)]
    assert preview(begun, split="private").rank_changes == []


def test_after_applying_the_leaderboard_has_all_entries_with_new_scores(
    phase: Phase, newer: Truth, two: tuple[Submission, Submission], make: Make
) -> None:
    begun = rescoring.start(phase=phase, by=None)
    done(two[0], 0.5)
    done(two[1], 0.7)
    rescoring.apply(rescoring=begun, by=make.user(username="boss"))
    assert lines(phase) == [("B", 0.7), ("A", 0.5)]
    assert Phase.objects.get(pk=phase.pk).truth == newer
    assert Entry.objects.latest("number").action == "rescoring.applied"
    assert rescoring.count_left(Rescoring.objects.get()) == 0


def test_a_request_that_read_the_phase_before_the_switch_sees_the_old_leaderboard(
    phase: Phase, newer: Truth, two: tuple[Submission, Submission]
) -> None:
    before = Phase.objects.get(pk=phase.pk)
    begun = rescoring.start(phase=phase, by=None)
    for submission in two:
        done(submission, 0.9)
    rescoring.apply(rescoring=begun, by=None)
    assert [row.score for row in board(before, split="public", viewer=ANONYMOUS).rows] == [0.6, 0.5]


def test_a_rescoring_is_not_applied_while_a_score_is_missing(
    phase: Phase, newer: Truth, two: tuple[Submission, Submission]
) -> None:
    begun = rescoring.start(phase=phase, by=None)
    done(two[0], 0.9)
    with pytest.raises(Refused) as refusal:
        rescoring.apply(rescoring=begun, by=None)
    assert refusal.value.code == "rescoring_unfinished"
    assert lines(phase) == [("A", 0.6), ("B", 0.5)]


def test_a_submission_scored_during_a_rescoring_gets_a_rerun_without_delaying_it(
    phase: Phase, newer: Truth, two: tuple[Submission, Submission], scored: Scored
) -> None:
    begun = rescoring.start(phase=phase, by=None)
    for submission in two:
        done(submission, 0.9)
    known, late = scored(phase, 0.3), scored(phase, 0.4)
    rescoring.catch_up(begun)
    done(known, 0.8)
    rescoring.apply(rescoring=begun, by=None)
    assert sorted(score for _, score in lines(phase)) == [0.8, 0.9, 0.9]
    assert Submission.objects.get(pk=late.pk).stage == "bootstrapping"
    done(late, 0.7)
    assert sorted(score for _, score in lines(phase)) == [0.7, 0.8, 0.9, 0.9]


def test_a_late_score_against_the_old_truth_is_scored_again(phase: Phase, newer: Truth, make: Make) -> None:
    running = leases.claim(Submission, make.submission(phase).pk)
    assert running is not None
    old = phase.truth
    begun = rescoring.start(phase=phase, by=None)
    rescoring.apply(rescoring=begun, by=None)
    split = {"headline": "mAP", "classes": [], "metrics": {"mAP": 0.5}, "intervals": {}}
    lifecycle.record(running, truth=old, report={"signature": "old", "splits": {"public": split}}, cpu_seconds=1.0)
    assert (lines(phase), running.reruns.get().truth) == ([], newer)
    done(Submission.objects.get(pk=running.pk), 0.4)
    assert [score for _, score in lines(phase)] == [0.4]


def test_unscorable_submissions_are_reported_and_left_out_only_with_consent(
    phase: Phase, newer: Truth, two: tuple[Submission, Submission]
) -> None:
    begun = rescoring.start(phase=phase, by=None)
    done(two[0], 0.9)
    claimed = leases.claim(Rerun, two[1].reruns.get().pk)
    assert claimed is not None
    reruns.fail(claimed, sentence="The file does not fit this truth: unknown_image.", final=True)
    (lost,) = rescoring.unscorable(begun)
    assert (lost.submission, rescoring.count_left(begun)) == (two[1], 0)
    assert preview(begun, split="public").rank_changes[-1] == Change("B", 2, None, 0.5, None)
    with pytest.raises(Refused) as refusal:
        rescoring.apply(rescoring=begun, by=None)
    assert refusal.value.code == "rescoring_loses"
    rescoring.apply(rescoring=begun, by=None, without_unscorable=True)
    assert lines(phase) == [("A", 0.9)]


def test_a_restarted_rescoring_retries_platform_failures_only_on_request(
    phase: Phase, newer: Truth, two: tuple[Submission, Submission], settings: Settings
) -> None:
    begun = rescoring.start(phase=phase, by=None)
    fail(two[0], sentence="The file does not fit this truth.", final=True)
    for _ in range(settings.EVALUATION_ATTEMPTS):
        fail(two[1], sentence="its worker stopped", final=False)
    with pytest.raises(Refused, match="2 submissions cannot be scored") as refusal:
        rescoring.apply(rescoring=begun, by=None)
    assert refusal.value.code == "rescoring_loses"
    assert rescoring.start(phase=phase, by=None) == begun
    assert rescoring.unscorable(begun).count() == 2
    assert rescoring.start(phase=phase, by=None, retry=True) == begun
    assert list(rescoring.unscorable(begun).values_list("submission", flat=True)) == [two[0].pk]
    with pytest.raises(Refused, match="not finished: 1 submission left"):
        rescoring.apply(rescoring=begun, by=None, without_unscorable=True)


def fail(submission: Submission, *, sentence: str, final: bool) -> None:
    """Run the queued rerun (a job that scores a submission again), and record that this attempt has failed."""
    claimed = leases.claim(Rerun, submission.reruns.get().pk)
    assert claimed is not None
    reruns.fail(claimed, sentence=sentence, final=final)


def test_starting_a_rescoring_again_continues_it(
    phase: Phase, newer: Truth, two: tuple[Submission, Submission]
) -> None:
    begun = rescoring.start(phase=phase, by=None)
    done(two[0], 0.9)
    assert rescoring.start(phase=phase, by=None) == begun
    assert (rescoring.count_left(begun), Entry.objects.filter(action="rescoring.started").count()) == (1, 1)


def test_a_rescoring_to_a_newer_truth_replaces_an_open_one(
    phase: Phase, newer: Truth, two: tuple[Submission, Submission]
) -> None:
    replaced = rescoring.start(phase=phase, by=None)
    newest = add(phase, version=3)
    begun = rescoring.start(phase=phase, by=None)
    assert (begun.truth, set(Rerun.objects.values_list("truth", flat=True))) == (newest, {newest.pk})
    with pytest.raises(Refused) as refusal:
        rescoring.apply(rescoring=replaced, by=None)
    assert refusal.value.code == "not_found"


def test_after_an_upgrade_of_the_evaluator_a_rescoring_uses_the_same_truth(
    phase: Phase, two: tuple[Submission, Submission]
) -> None:
    Phase.objects.filter(pk=phase.pk).update(signature="of an earlier version")
    Evaluation.objects.update(signature="of an earlier version", evaluator_version="0.9.0")
    refresh_boards()
    begun = rescoring.start(phase=phase, by=None)
    assert (begun.truth, begun.signature, rescoring.count_left(begun)) == (phase.truth, kind(phase, phase.truth), 2)
    for submission, value in zip(two, (0.5, 0.7), strict=True):
        done(submission, value)
    rescoring.apply(rescoring=begun, by=None)
    assert lines(phase) == [("B", 0.7), ("A", 0.5)]


def test_applying_a_rescoring_does_not_wait_for_intervals_of_the_old_truth(
    phase: Phase, newer: Truth, two: tuple[Submission, Submission]
) -> None:
    begun = rescoring.start(phase=phase, by=None)
    for submission in two:
        done(submission, 0.9)
    reruns.request([two[0]], truth=phase.truth)
    Submission.objects.filter(pk=two[0].pk).update(stage="bootstrapping")
    rescoring.apply(rescoring=begun, by=None)
    assert (Rerun.objects.scoring().count(), Submission.objects.get(pk=two[0].pk).is_settled) == (0, True)


def test_applying_a_rescoring_requests_explanations_of_the_new_scores(
    phase: Phase, newer: Truth, two: tuple[Submission, Submission]
) -> None:
    begun = rescoring.start(phase=phase, by=None)
    for submission in two:
        done(submission, 0.9)
    rescoring.apply(rescoring=begun, by=None)
    waiting = Rerun.objects.filter(purpose=Rerun.Purpose.EXPLANATION, truth=newer)
    assert {one.submission_id for one in waiting} == {submission.pk for submission in two}


def test_abandoning_an_explanation_removes_nobody_from_the_leaderboards(
    phase: Phase, newer: Truth, two: tuple[Submission, Submission]
) -> None:
    begun = rescoring.start(phase=phase, by=None)
    reruns.request([two[0]], truth=newer, purpose=Rerun.Purpose.EXPLANATION)
    Rerun.objects.filter(purpose=Rerun.Purpose.EXPLANATION).update(failure="too large")
    assert not rescoring.unscorable(begun).exists()


def test_applying_a_rescoring_twice_has_no_further_effect(
    phase: Phase, newer: Truth, two: tuple[Submission, Submission]
) -> None:
    begun = rescoring.start(phase=phase, by=None)
    for submission in two:
        evaluate(submission, {"public": {"mAP": 0.9}}, truth=newer, signature=begun.signature)
    assert rescoring.apply(rescoring=begun, by=None).applied_at == rescoring.apply(rescoring=begun, by=None).applied_at
    assert Entry.objects.filter(action="rescoring.applied").count() == 1


def test_a_phase_without_a_truth_has_nothing_to_be_rescored_against(phase: Phase) -> None:
    phase.truths.all().delete()
    with pytest.raises(Refused, match="no ground truth"):
        rescoring.start(phase=phase, by=None)
