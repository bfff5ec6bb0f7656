"""Reports show only the splits that the settings of the phase permit, with the permitted number of digits."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import Settings

from server.challenges.models import Phase
from server.submissions.feedback import score_access
from server.submissions.models import Rerun, Submission
from server.submissions.reports import ExplanationState, explanation_state, visible_report
from server.submissions.services import reruns
from tests.conftest import InlineQueue, Make
from tests.server.conftest import Scored, explain

NOW = datetime.now(UTC)
LATER = NOW + timedelta(days=2)
CLASS = {"label": "/m/01yrx", "name": "Cat", "ap": 0.123456, "truths": 3.0, "scored": 5}
REPORT = {
    "parameters": {"iou_threshold": 0.5},
    "splits": {split: {"headline": "mAP", "classes": [CLASS]} for split in ("public", "private", "all")},
    "notices": [{"code": "unknown_image", "message": "left out", "count": 2}],
}
CURVE = {"label": "/m/01yrx", "name": "Cat", "curve": "ap", "area": 0.123456, "truths": 3.0}
CONTENT = {
    "classes": [{**CLASS, "f1": 0.654321}],
    "tables": {"errors": [{"kind": "class", "false_positives": 7, "misses": 1, "delta_mAP": 0.0123456}]},
    "left_out": {},
    "curves": [{**CURVE, "confidence": [0.987654], "recall": [0.333333], "precision": [0.777777]}],
}


pytestmark = pytest.mark.phase(closes_at=NOW + timedelta(days=1), feedback_classes=True)


@pytest.fixture
def explained(scored: Scored) -> Callable[..., Submission]:
    """Return a function that creates a scored submission: `explained(phase)`.

    The submission has an explanation of its score for every split.
    """

    def score(phase: Phase) -> Submission:
        submission = scored(phase, 0.5, private=0.4, report=REPORT)
        explain(submission, CONTENT)
        return submission  # type: ignore[no-any-return]

    return score


def seen(submission: Submission, viewer: Any = None, now: datetime = NOW) -> dict[str, Any]:
    access = score_access(submission.phase, viewer=viewer or submission.user, now=now)
    report = visible_report(submission, access=access)
    assert report is not None
    return report


def test_an_unscored_submission_has_no_report(phase: Phase, make: Make) -> None:
    submission = make.submission(phase)
    access = score_access(submission.phase, viewer=submission.user, now=NOW)
    assert visible_report(submission, access=access) is None


def test_without_results_per_class_participants_read_only_metrics(
    make: Make, explained: Callable[..., Submission]
) -> None:
    report = seen(explained(make.phase(closes_at=NOW + timedelta(days=1))))
    assert report["splits"] == {
        "public": {
            "headline": "mAP",
            "metrics": {"mAP": 0.5},
            "intervals": {},
            "classes": None,
            "tables": {},
            "left_out": {},
            "curves": [],
        }
    }
    assert (bool(report["withheld"]), report["explanation"]) == (True, "none")


def test_with_results_per_class_participants_read_the_public_split_until_the_end(
    phase: Phase, explained: Callable[..., Submission]
) -> None:
    submission = explained(phase)
    report = seen(submission)
    assert (list(report["splits"]), report["withheld"], report["explanation"]) == (["public"], None, "ready")
    assert report["splits"]["public"]["classes"] == CONTENT["classes"]
    assert report["splits"]["public"]["tables"] == CONTENT["tables"]
    assert report["splits"]["public"]["curves"] == CONTENT["curves"]
    assert set(seen(submission, now=LATER)["splits"]) == {"public", "private", "all"}


def test_an_unexplained_score_has_the_classes_of_its_scoring(phase: Phase, scored: Scored) -> None:
    assert seen(scored(phase, 0.5, report=REPORT))["splits"]["public"]["classes"] == [CLASS]


def test_every_number_is_rounded_as_scores_are(make: Make, explained: Callable[..., Submission]) -> None:
    phase = make.phase(feedback_classes=True, feedback="rounded", feedback_decimals=2)
    public = seen(explained(phase))["splits"]["public"]
    assert (public["classes"][0]["ap"], public["classes"][0]["f1"]) == (0.12, 0.65)
    assert public["tables"]["errors"][0]["delta_mAP"] == 0.01
    curve = public["curves"][0]
    assert (curve["area"], curve["recall"], curve["precision"], curve["confidence"]) == (0.12, [0.33], [0.78], [0.99])


def test_organizers_read_whole_reports_at_any_time(make: Make, explained: Callable[..., Submission]) -> None:
    phase = make.phase(closes_at=NOW + timedelta(days=1))
    organizer = make.user()
    phase.challenge.organizers.add(organizer)
    splits = seen(explained(phase), organizer)["splits"]
    assert {split: bool(body["curves"]) for split, body in splits.items()} == {
        "public": True,
        "private": True,
        "all": True,
    }


class TestHowFarItIs:
    @pytest.fixture
    def submission(self, phase: Phase, scored: Scored, inline_queue: InlineQueue) -> Submission:
        return scored(phase, 0.5)

    def state(self, submission: Submission) -> ExplanationState:
        return explanation_state(submission, submission.evaluations.get())

    @pytest.mark.parametrize("purpose", Rerun.Purpose.values)
    def test_an_explanation_is_pending_while_intervals_are_computed(self, submission: Submission, purpose: Any) -> None:
        reruns.request([submission], truth=submission.phase.truth, purpose=purpose)
        assert self.state(submission) is ExplanationState.PENDING

    def test_an_explanation_that_was_given_up_is_not_pending(self, submission: Submission) -> None:
        reruns.request([submission], truth=submission.phase.truth, purpose=Rerun.Purpose.EXPLANATION)
        Rerun.objects.update(failure="too large")
        assert self.state(submission) is ExplanationState.GIVEN_UP

    def test_without_intervals_there_is_no_explanation(self, submission: Submission) -> None:
        reruns.request([submission], truth=submission.phase.truth)
        Rerun.objects.update(failure="too large")
        assert self.state(submission) is ExplanationState.NONE

    def test_no_explanation_is_pending_if_the_service_computes_none(
        self, submission: Submission, settings: Settings
    ) -> None:
        settings.EXPLANATION_MAX_BYTES = 0
        reruns.request([submission], truth=submission.phase.truth)
        assert self.state(submission) is ExplanationState.NONE

    def test_a_track_without_explanations_has_none(self, make: Make, scored: Scored) -> None:
        assert self.state(scored(make.phase(track="objectnet"), 0.5)) is ExplanationState.NONE
