"""Tests that a phase's settings decide which splits, decimal places and per-class results its viewers can see."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from server.accounts.models import User
from server.challenges.models import Phase
from server.submissions.feedback import (
    current_evaluation,
    intervals_in,
    load_scores,
    score_access,
    scores_in,
)
from server.submissions.models import Submission
from tests.conftest import Make
from tests.server.conftest import Scored, evaluate

NOW = datetime.now(UTC)
LATER = NOW + timedelta(days=2)


pytestmark = pytest.mark.phase(closes_at=NOW + timedelta(days=1))


def scores_seen(submission: Submission, *, viewer: Any, now: datetime) -> dict[str, Any]:
    return scores_in(submission, score_access(submission.phase, viewer=viewer, now=now))


def intervals_seen(submission: Submission, *, viewer: Any, now: datetime) -> dict[str, Any]:
    return intervals_in(submission, score_access(submission.phase, viewer=viewer, now=now))


@pytest.fixture
def organizer(phase: Phase, make: Make) -> User:
    person = make.user()
    phase.challenge.organizers.add(person)
    return person


def test_a_participant_sees_the_public_split_only(phase: Phase, make: Make, scored: Scored) -> None:
    submission = scored(phase, 0.5, private=0.4)
    assert scores_seen(submission, viewer=submission.user, now=NOW) == {"public": {"mAP": 0.5}}


def test_split_all_is_hidden_as_long_as_split_private(phase: Phase, scored: Scored) -> None:
    submission = scored(phase, 0.5, private=0.4)
    assert "all" not in scores_seen(submission, viewer=submission.user, now=NOW)
    assert set(scores_seen(submission, viewer=submission.user, now=LATER)) == {"public", "private", "all"}


def test_an_organizer_sees_every_split_at_any_time(phase: Phase, organizer: User, scored: Scored) -> None:
    submission = scored(phase, 0.5, private=0.4)
    assert set(scores_seen(submission, viewer=organizer, now=NOW)) == {"public", "private", "all"}


def test_staff_see_every_split(phase: Phase, make: Make, scored: Scored) -> None:
    submission = scored(phase, 0.5, private=0.4)
    assert "private" in scores_seen(submission, viewer=make.user(is_staff=True), now=NOW)


def test_an_interval_is_as_secret_as_its_score(make: Make, scored: Scored) -> None:
    phase = make.phase(closes_at=NOW + timedelta(days=1))
    submission = scored(phase, 0.5, private=0.4, interval=(0.3, 0.6))
    assert set(intervals_seen(submission, viewer=submission.user, now=NOW)) == {"public"}
    assert set(intervals_seen(submission, viewer=submission.user, now=NOW + timedelta(days=2))) == {
        "public",
        "private",
        "all",
    }


def test_scores_are_rounded_for_participants_and_exact_for_organizers(make: Make, scored: Scored) -> None:
    phase = make.phase(feedback="rounded", feedback_decimals=3)
    organizer = make.user()
    phase.challenge.organizers.add(organizer)
    submission = scored(phase, 0.123456, interval=(0.1111111, 0.2222222))
    assert scores_seen(submission, viewer=submission.user, now=NOW) == {"public": {"mAP": 0.123}}
    assert intervals_seen(submission, viewer=submission.user, now=NOW) == {"public": {"mAP": (0.111, 0.223)}}
    assert scores_seen(submission, viewer=organizer, now=NOW)["public"] == {"mAP": 0.123456}


def test_an_undefined_score_stays_null(phase: Phase, scored: Scored) -> None:
    submission = scored(phase, None)
    assert scores_seen(submission, viewer=submission.user, now=NOW) == {"public": {"mAP": None}}


def test_without_an_evaluation_there_are_no_scores(phase: Phase, make: Make) -> None:
    submission = make.submission(phase)
    assert scores_seen(submission, viewer=submission.user, now=NOW) == {}
    assert current_evaluation(submission) is None


def test_the_evaluation_with_the_phases_signature_is_shown_even_if_it_is_not_the_newest(
    phase: Phase, scored: Scored
) -> None:
    submission = scored(phase, 0.5)
    evaluate(submission, {"public": {"mAP": 0.9}}, signature="other", created_at=LATER)
    assert scores_seen(submission, viewer=submission.user, now=NOW) == {"public": {"mAP": 0.5}}


def test_without_an_evaluation_with_the_phases_signature_the_newest_one_is_shown(phase: Phase, scored: Scored) -> None:
    submission = scored(phase, 0.5, signature="first")
    evaluate(submission, {"public": {"mAP": 0.9}}, signature="second", created_at=LATER)
    evaluation = current_evaluation(submission)
    assert evaluation is not None
    assert evaluation.signature == "second"


def test_the_number_of_queries_does_not_depend_on_the_number_of_submissions(
    phase: Phase, make: Make, scored: Scored, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    team = make.team(phase.challenge)
    for number in range(5):
        scored(phase, number / 10, team=team)
    access = score_access(phase, viewer=make.user(is_staff=True), now=NOW)
    with django_assert_num_queries(3):  # The three queries read submissions, evaluations and scores.
        submissions = list(Submission.objects.filter(team=team).select_related("phase__challenge"))
        load_scores(submissions)
        for submission in submissions:
            scores_in(submission, access)
