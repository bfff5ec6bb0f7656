"""Tests which entries leaderboards contain, their order, and who may read them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from pytest_django import DjangoAssertNumQueries

from server.challenges.models import Phase
from server.errors import Refused
from server.leaderboards.queries import board
from server.leaderboards.services.entries import rebuild
from server.submissions.feedback import score_access
from server.submissions.models import Evaluation, Score, Submission
from server.submissions.signals import announce
from tests.conftest import Make
from tests.server.conftest import Scored

ANONYMOUS = AnonymousUser()
DAY = timedelta(days=1)


@pytest.fixture
def closed(make: Make) -> Phase:
    return make.phase(closes_at=datetime.now(UTC) - DAY)


def teams(lines: Any) -> list[tuple[int | None, str]]:
    return [(row.rank, row.team) for row in lines.rows]


def test_a_team_is_listed_with_its_best_submission(phase: Phase, make: Make, scored: Scored) -> None:
    a, b = make.team(phase.challenge, name="A"), make.team(phase.challenge, name="B")
    scored(phase, 0.8, team=a)
    scored(phase, 0.9, team=a)
    scored(phase, 0.85, team=b)
    lines = board(phase, split="public", viewer=ANONYMOUS)
    assert [(row.rank, row.team, row.score, row.entries) for row in lines.rows] == [(1, "A", 0.9, 2), (2, "B", 0.85, 1)]


def test_equal_scores_share_a_rank(phase: Phase, make: Make, scored: Scored) -> None:
    now = datetime.now(UTC)
    for name, score, age in (("late", 0.5, 1), ("early", 0.5, 2), ("last", 0.4, 3)):
        scored(phase, score, team=make.team(phase.challenge, name=name), at=now - age * DAY)
    assert teams(board(phase, split="public", viewer=ANONYMOUS)) == [(1, "early"), (1, "late"), (3, "last")]


def test_a_baseline_takes_no_rank(phase: Phase, make: Make, scored: Scored) -> None:
    scored(phase, 0.9, team=make.team(phase.challenge, name="A"))
    scored(phase, 0.7, team=make.team(phase.challenge, name="Prior", is_baseline=True))
    scored(phase, 0.5, team=make.team(phase.challenge, name="B"))
    assert teams(board(phase, split="public", viewer=ANONYMOUS)) == [(1, "A"), (None, "Prior"), (2, "B")]


def test_an_undefined_score_has_no_entry(phase: Phase, scored: Scored) -> None:
    scored(phase, None)
    assert board(phase, split="public", viewer=ANONYMOUS).rows == []


def test_a_score_of_zero_has_an_entry(phase: Phase, scored: Scored) -> None:
    scored(phase, 0.0)
    assert [row.score for row in board(phase, split="public", viewer=ANONYMOUS).rows] == [0.0]


def test_a_score_with_another_signature_is_not_on_the_leaderboard(phase: Phase, scored: Scored) -> None:
    scored(phase, 0.9, signature="openimages-detection|another")
    assert board(phase, split="public", viewer=ANONYMOUS).rows == []


def test_a_score_against_another_truth_is_not_on_the_leaderboard(phase: Phase, make: Make, scored: Scored) -> None:
    scored(phase, 0.9)
    make.truth(phase)
    phase.refresh_from_db()
    assert board(phase, split="public", viewer=ANONYMOUS).rows == []


@pytest.mark.parametrize("status", ["rejected", "cancelled"])
def test_only_scored_submissions_are_on_the_leaderboard(phase: Phase, scored: Scored, status: str) -> None:
    submission = scored(phase, 0.9)
    Submission.objects.filter(pk=submission.pk).update(status=status)
    announce(phase, [submission.team_id])
    assert board(phase, split="public", viewer=ANONYMOUS).rows == []


def test_each_phase_has_its_own_leaderboard(phase: Phase, make: Make, scored: Scored) -> None:
    scored(make.phase(phase.challenge), 0.9)
    assert board(phase, split="public", viewer=ANONYMOUS).rows == []


def test_the_leaderboard_at_a_time_contains_what_was_scored_by_then(phase: Phase, make: Make, scored: Scored) -> None:
    then, team = datetime.now(UTC) - DAY, make.team(phase.challenge)
    scored(phase, 0.5, team=team, at=then)
    scored(phase, 0.9, team=team)
    lines = board(phase, split="public", at=then, viewer=ANONYMOUS)
    assert [(row.score, row.entries) for row in lines.rows] == [(0.5, 1)]
    assert board(phase, split="public", at=then - DAY, viewer=ANONYMOUS).rows == []


def test_every_entry_has_all_metrics_and_the_interval(make: Make, scored: Scored) -> None:
    phase = make.phase(track="openimages-relationships")
    metrics = {"score": 0.5, "mAP_relationships": 0.4, "recall@50": None}
    scored(phase, None, splits={"public": metrics, "all": {"score": 0.1}}, interval=(0.45, 0.55))
    (row,) = board(phase, split="public", viewer=ANONYMOUS).rows
    assert row.scores == metrics
    assert row.interval == (0.45, 0.55)


@pytest.mark.phase(feedback="rounded", feedback_decimals=2)
class TestRounded:
    @pytest.fixture(autouse=True)
    def entries(self, phase: Phase, make: Make, scored: Scored) -> None:
        scored(phase, 0.501, team=make.team(phase.challenge, name="lower"), interval=(0.4512, 0.5512))
        scored(phase, 0.502, team=make.team(phase.challenge, name="higher"), interval=(0.4523, 0.5523))

    def test_ranks_are_determined_by_exact_scores(self, phase: Phase) -> None:
        rows = board(phase, split="public", viewer=ANONYMOUS).rows
        assert [(row.rank, row.team, row.score) for row in rows] == [(1, "higher", 0.5), (2, "lower", 0.5)]

    def test_metrics_and_intervals_are_rounded_like_scores(self, phase: Phase) -> None:
        row = board(phase, split="public", viewer=ANONYMOUS).rows[0]
        assert (row.scores, row.interval) == ({"mAP": 0.5}, (0.45, 0.56))

    def test_an_organizer_reads_every_digit(self, phase: Phase, make: Make) -> None:
        organizer = make.user()
        phase.challenge.organizers.add(organizer)
        assert [row.score for row in board(phase, split="public", viewer=organizer).rows] == [0.502, 0.501]


class TestPrivate:
    @pytest.mark.parametrize("split", ["private", "all"])
    def test_the_private_leaderboard_is_refused_before_the_end(self, phase: Phase, scored: Scored, split: str) -> None:
        scored(phase, 0.5, private=0.4)
        with pytest.raises(Refused) as refusal:
            board(phase, split=split, viewer=ANONYMOUS)
        assert refusal.value.code == "forbidden"

    def test_the_private_leaderboard_is_open_to_organizers_at_any_time(
        self, phase: Phase, make: Make, scored: Scored
    ) -> None:
        organizer = make.user()
        phase.challenge.organizers.add(organizer)
        scored(phase, 0.5, private=0.4)
        assert [row.score for row in board(phase, split="private", viewer=organizer).rows] == [0.4]

    def test_the_private_leaderboard_opens_when_the_phase_is_over(self, closed: Phase, scored: Scored) -> None:
        scored(closed, 0.5, private=0.4)
        assert [row.score for row in board(closed, split="private", viewer=ANONYMOUS).rows] == [0.4]

    def test_a_phase_that_never_closes_never_shows_its_private_leaderboard(self, phase: Phase) -> None:
        assert score_access(phase, viewer=ANONYMOUS, now=datetime.now(UTC) + 9999 * DAY).splits == {"public"}

    def test_at_the_exact_deadline_a_phase_is_not_over_yet(self, make: Make) -> None:
        deadline = datetime.now(UTC) + DAY
        phase = make.phase(closes_at=deadline)
        assert score_access(phase, viewer=ANONYMOUS, now=deadline).splits == {"public"}
        assert "private" in score_access(phase, viewer=ANONYMOUS, now=deadline + timedelta(milliseconds=1)).splits

    def test_the_private_leaderboard_shows_the_chosen_submission(
        self, closed: Phase, make: Make, scored: Scored
    ) -> None:
        team = make.team(closed.challenge)
        scored(closed, 0.9, private=0.9, team=team)
        scored(closed, 0.5, private=0.4, team=team, final=True)
        (row,) = board(closed, split="private", viewer=ANONYMOUS).rows
        assert (row.score, row.entries) == (0.4, 2)

    def test_without_a_choice_the_best_public_submissions_count(
        self, closed: Phase, make: Make, scored: Scored
    ) -> None:
        team = make.team(closed.challenge)
        for public, private in ((0.9, 0.1), (0.8, 0.3), (0.2, 0.99)):
            scored(closed, public, private=private, team=team)
        assert [row.score for row in board(closed, split="private", viewer=ANONYMOUS).rows] == [0.3]

    def test_the_private_leaderboard_is_empty_if_no_image_is_private(self, closed: Phase, scored: Scored) -> None:
        scored(closed, 0.5)
        assert board(closed, split="private", viewer=ANONYMOUS).rows == []


def crowd(phase: Phase, make: Make, *, teams: int, each: int) -> None:
    """Create many teams with scored submissions, using a few SQL statements."""
    now, truth = datetime.now(UTC), phase.truths.get(active=True)
    people = [make.team(phase.challenge, is_baseline=True).pk for _ in range(2)]
    team_model = type(phase.challenge.teams.first())
    made = team_model.objects.bulk_create(
        team_model(challenge=phase.challenge, name=f"crowd {number}") for number in range(teams - len(people))
    )
    submissions = Submission.objects.bulk_create(
        Submission(
            **{"phase": phase, "team_id": team, "file_name": "x", "size_bytes": 1, "sha256": "0", "status": "scored"},
            **{"received_at": now, "enqueued_at": now, "finished_at": now},
        )
        for team in (*people, *(team.pk for team in made))
        for _ in range(each)
    )
    common = {"truth": truth, "signature": phase.signature, "report": {}, "cpu_seconds": 0.1, "created_at": now}
    evaluations = Evaluation.objects.bulk_create(
        Evaluation(submission=one, evaluator_version="1.0.0", **common) for one in submissions
    )
    Score.objects.bulk_create(
        Score(evaluation=one, split=split, metric="mAP", value=(number * 37 % 1009) / 1009)
        for number, one in enumerate(evaluations)
        for split in ("public", "private", "all")
    )
    rebuild(phase)


@pytest.mark.parametrize("split", ["public", "private"])
def test_the_number_of_queries_of_a_page_does_not_depend_on_the_number_of_teams(
    make: Make, django_assert_max_num_queries: DjangoAssertNumQueries, split: str
) -> None:
    """Six queries are enough for a page of any leaderboard.

    They read the clock, the organizers, the leaderboard, the entries on the page, their metrics, and the number of
    teams above the page.
    """
    ended = datetime.now(UTC) - DAY
    # `revealed_at` is already set. Otherwise, the first request for the private scores would need a query to set it.
    phase = make.phase(closes_at=ended, revealed_at=ended)
    crowd(phase, make, teams=500, each=4)
    viewer = make.user()
    with django_assert_max_num_queries(6):
        lines = board(phase, split=split, viewer=viewer)
        page = lines.page(200, 300)
    assert (lines.count, lines.teams) == (500, 498)
    assert page == lines.rows[200:300]
