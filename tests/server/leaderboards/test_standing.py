"""Tests the rank that is shown for a submission, or the sentence that explains why it has none."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from server.challenges.models import Phase
from server.leaderboards.standings import standing, standings
from server.submissions.feedback import load_scores
from server.submissions.models import Submission
from tests.conftest import Make
from tests.server.conftest import Scored

NOW = datetime.now(UTC)
LATER = NOW + timedelta(days=2)


pytestmark = pytest.mark.phase(closes_at=NOW + timedelta(days=1))


def test_the_best_submission_of_a_team_is_on_the_leaderboard_with_its_rank(
    phase: Phase, make: Make, scored: Scored
) -> None:
    scored(phase, 0.9)
    submission = scored(phase, 0.8)
    place = standing(submission, now=NOW)
    assert (place.split, place.on_board, place.rank, place.why_not) == ("public", True, 2, "")


def test_a_baseline_is_on_the_leaderboard_without_a_rank(phase: Phase, make: Make, scored: Scored) -> None:
    submission = scored(phase, 0.8, team=make.team(phase.challenge, is_baseline=True))
    assert (standing(submission, now=NOW).on_board, standing(submission, now=NOW).rank) == (True, None)


def test_a_worse_submission_is_not_on_the_leaderboard(phase: Phase, make: Make, scored: Scored) -> None:
    team = make.team(phase.challenge)
    scored(phase, 0.9, team=team)
    worse = scored(phase, 0.8, team=team)
    assert "holds its place" in standing(worse, now=NOW).why_not


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"status": "queued"}, "waiting"),
        ({"status": "rejected", "finished_at": NOW}, "Fix"),
        ({"status": "cancelled", "finished_at": NOW}, "cancelled"),
        (
            {"status": "failed", "finished_at": NOW, "failure": "oh", "fault": "platform"},
            "The problem is not with your file",
        ),
    ],
)
def test_a_submission_without_a_score_has_its_status_as_the_reason(
    phase: Phase, make: Make, fields: dict[str, Any], words: str
) -> None:
    place = standing(make.submission(phase, **fields), now=NOW)
    assert (place.on_board, place.rank) == (False, None)
    assert words in place.why_not


def test_an_undefined_score_is_reported(phase: Phase, scored: Scored) -> None:
    assert "undefined" in standing(scored(phase, None), now=NOW).why_not


def test_a_score_with_another_signature_is_explained(phase: Phase, scored: Scored) -> None:
    assert "a different ground truth" in standing(scored(phase, 0.5, signature="other"), now=NOW).why_not


def test_when_the_phase_is_over_the_rank_is_that_of_the_private_leaderboard(
    phase: Phase, make: Make, scored: Scored
) -> None:
    team = make.team(phase.challenge)
    best_public = scored(phase, 0.9, private=0.1, team=team)
    chosen = scored(phase, 0.8, private=0.3, team=team, final=True)
    assert standing(best_public, now=NOW).on_board
    assert (standing(chosen, now=LATER).split, standing(chosen, now=LATER).rank) == ("private", 1)
    assert "final" in standing(best_public, now=LATER).why_not


def test_without_private_images_the_rank_is_that_of_the_public_leaderboard(phase: Phase, scored: Scored) -> None:
    assert standing(scored(phase, 0.9), now=LATER).split == "public"


def test_the_scores_of_a_team_are_read_only_once(
    phase: Phase, make: Make, scored: Scored, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    team = make.team(phase.challenge)
    own = [scored(phase, 0.1 * number, team=team).pk for number in range(1, 6)]
    submissions = list(Submission.objects.filter(pk__in=own).select_related("phase", "team"))
    load_scores(submissions)
    scored(phase, 0.7)
    with django_assert_max_num_queries(1):  # A single query finds both the team's entry and its rank.
        places = standings(phase, submissions, now=NOW)
    assert sum(place.on_board for place in places.values()) == 1
