"""Tests submissions in the API: upload, status, cancelling, and final submissions."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from pytest_django import DjangoAssertNumQueries

from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.submissions.defect_advice import ADVICE
from server.submissions.models import Submission
from server.submissions.services import leases, lifecycle
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.documented import Api

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
PATH = "challenges/detection/phases/main/submissions"


pytestmark = [
    pytest.mark.phase(challenge={"slug": "detection"}, slug="main", closes_at=NOW + DAY),
    pytest.mark.team(name="Foxes"),
]


def refused(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


class TestRead:
    def test_a_scored_submission_has_scores_and_rank(
        self, api: Api, member: User, phase: Phase, team: Team, scored: Scored
    ) -> None:
        submission = scored(phase, 1 / 3, team=team, private=0.1, interval=(0.3, 0.4))
        shape = api.get(f"submissions/{submission.pk}", user=member).json()
        assert shape["scores"] == {"public": {"mAP": 1 / 3}}
        assert shape["intervals"] == {"public": {"mAP": [0.3, 0.4]}}
        assert (shape["on_board"], shape["why_not"], shape["board"], shape["rank"]) == (True, None, "public", 1)
        assert shape["signature"] == phase.signature

    def test_the_time_of_scoring_has_whole_seconds(
        self, api: Api, member: User, phase: Phase, team: Team, scored: Scored
    ) -> None:
        """The duration of scoring depends slightly on the ground truth, so exact times could reveal details of it."""
        submission = scored(phase, 0.5, team=team, at=datetime(2026, 5, 4, 3, 2, 1, 987_654, tzinfo=UTC))
        assert api.get(f"submissions/{submission.pk}", user=member).json()["scored_at"] == "2026-05-04T03:02:01Z"

    def test_the_team_cannot_see_the_cpu_time(
        self, api: Api, member: User, phase: Phase, team: Team, scored: Scored
    ) -> None:
        submission = scored(phase, 0.5, team=team)
        submission.evaluations.update(cpu_seconds=98.7654321)
        for path in (f"submissions/{submission.pk}", f"submissions/{submission.pk}/report", PATH):
            content = api.get(path, user=member).content
            assert b"98.765" not in content
            assert b"cpu" not in content

    def test_private_scores_are_shown_after_the_end(
        self, api: Api, member: User, phase: Phase, team: Team, scored: Scored
    ) -> None:
        submission = scored(phase, 0.5, team=team, private=0.1)
        type(phase).objects.update(closes_at=NOW - DAY)
        assert api.get(f"submissions/{submission.pk}", user=member).json()["scores"]["private"] == {"mAP": 0.1}

    def test_a_rejected_submission_lists_its_defects(
        self, api: Api, member: User, phase: Phase, team: Team, make: Make
    ) -> None:
        error = {"code": "not_finite", "message": "…", "line": 2, "column": "Score", "image": "a", "token": 2}
        problems = {"errors": [error], "total": 1, "more": True, "counts": {"not_finite": 1}, "notices": []}
        submission = make.submission(
            phase, team, status="rejected", finished_at=NOW, fault="participant", problems=problems
        )
        shape = api.get(f"submissions/{submission.pk}", user=member).json()
        assert shape["problems"] == {**problems, "advice": {"not_finite": ADVICE["not_finite"]}}
        assert (shape["status"], shape["fault"]) == ("rejected", "participant")

    def test_a_scored_submission_lists_its_notices(
        self, api: Api, member: User, phase: Phase, team: Team, make: Make
    ) -> None:
        notice = {"code": "unknown_image", "message": "rows of images that the truth does not know", "count": 3}
        claimed = leases.claim(Submission, make.submission(phase, team).pk)
        assert claimed is not None
        report = {"signature": phase.signature, "splits": {}, "notices": [notice]}
        lifecycle.record(claimed, truth=phase.truth, report=report, cpu_seconds=0.1)
        problems = api.get(f"submissions/{claimed.pk}", user=member).json()["problems"]
        assert problems == {"errors": [], "total": 0, "counts": {}, "notices": [notice], "advice": {}}

    def test_a_running_submission_has_its_progress(
        self, api: Api, member: User, phase: Phase, team: Team, make: Make
    ) -> None:
        lease = {"lease_token": uuid4(), "lease_until": NOW}
        submission = make.submission(phase, team, status="running", stage="matching", progress=0.25, **lease)
        shape = api.get(f"submissions/{submission.pk}", user=member).json()
        assert (shape["status"], shape["stage"], shape["progress"]) == ("running", "matching", 0.25)

    def test_a_submission_of_another_team_is_not_found(
        self, api: Api, phase: Phase, make: Make, scored: Scored
    ) -> None:
        submission = scored(phase, 0.5)
        for path in ("", "/report"):
            assert refused(api.get(f"submissions/{submission.pk}{path}", user=make.user())) == (404, "not_found")
        assert refused(api.post(f"submissions/{submission.pk}/cancel", user=make.user())) == (404, "not_found")
        assert refused(api.patch(f"submissions/{submission.pk}", {"note": ""}, user=make.user())) == (404, "not_found")

    def test_an_unknown_submission_is_not_found(self, api: Api, member: User) -> None:
        assert refused(api.get(f"submissions/{uuid4()}", user=member)) == (404, "not_found")

    def test_reading_a_submission_requires_a_login(self, api: Api, phase: Phase, scored: Scored) -> None:
        assert refused(api.get(f"submissions/{scored(phase, 0.5).pk}")) == (401, "unauthenticated")

    def test_an_organizer_reads_all_submissions_and_splits(
        self, api: Api, phase: Phase, make: Make, scored: Scored
    ) -> None:
        organizer = make.user()
        phase.challenge.organizers.add(organizer)
        shape = api.get(f"submissions/{scored(phase, 0.5, private=0.4).pk}", user=organizer).json()
        assert set(shape["scores"]) == {"public", "private", "all"}


class TestList:
    def test_the_list_contains_the_teams_submissions_newest_first(
        self, api: Api, member: User, phase: Phase, team: Team, scored: Scored
    ) -> None:
        old, new = scored(phase, 0.9, team=team, at=NOW - DAY), scored(phase, 0.5, team=team)
        scored(phase, 0.7)
        shapes = api.get(PATH, user=member).json()["results"]
        assert [shape["id"] for shape in shapes] == [str(new.pk), str(old.pk)]
        assert [shape["on_board"] for shape in shapes] == [False, True]

    def test_only_members_can_read_the_list(self, api: Api, phase: Phase, make: Make) -> None:
        assert refused(api.get(PATH, user=make.user())) == (403, "not_a_member")

    def test_the_number_of_queries_does_not_depend_on_the_length_of_the_list(
        self,
        api: Api,
        member: User,
        phase: Phase,
        team: Team,
        scored: Scored,
        django_assert_max_num_queries: DjangoAssertNumQueries,
    ) -> None:
        for number in range(12):
            scored(phase, number / 100, team=team)
        # The first request also saves when the token was last used, so it needs more queries.
        api.get(PATH, user=member)
        with django_assert_max_num_queries(13):
            assert len(api.get(PATH, user=member).json()["results"]) == 12


class TestCancel:
    def test_a_queued_submission_can_be_cancelled(
        self, api: Api, member: User, phase: Phase, team: Team, make: Make
    ) -> None:
        answer = api.post(f"submissions/{make.submission(phase, team).pk}/cancel", user=member)
        assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")

    def test_a_scored_submission_cannot_be_cancelled(
        self, api: Api, member: User, phase: Phase, team: Team, scored: Scored
    ) -> None:
        answer = api.post(f"submissions/{scored(phase, 0.5, team=team).pk}/cancel", user=member)
        assert refused(answer) == (409, "not_cancellable")


class TestChange:
    @pytest.fixture
    def path(self, phase: Phase, team: Team, scored: Scored) -> str:
        return f"submissions/{scored(phase, 0.5, team=team).pk}"

    def test_the_note_and_the_final_choice_can_be_changed(self, api: Api, member: User, path: str) -> None:
        shape = api.patch(path, {"final": True, "note": "the one"}, user=member).json()
        assert (shape["final"], shape["note"]) == (True, "the one")

    def test_other_fields_cannot_be_changed(self, api: Api, member: User, path: str) -> None:
        api.patch(path, {"final": True, "note": "the one"}, user=member)
        shape = api.patch(path, {"note": ""}, user=member).json()
        assert (shape["final"], shape["note"]) == (True, "")

    def test_a_refused_change_does_not_change_the_note(self, api: Api, member: User, path: str, phase: Phase) -> None:
        type(phase).objects.update(closes_at=NOW - DAY)
        assert refused(api.patch(path, {"final": True, "note": "new"}, user=member)) == (409, "phase_closed")
        assert Submission.objects.get().note == ""

    def test_an_organizer_cannot_choose_final_submissions(self, api: Api, path: str, phase: Phase, make: Make) -> None:
        organizer = make.user()
        phase.challenge.organizers.add(organizer)
        assert refused(api.patch(path, {"final": True}, user=organizer)) == (403, "not_a_member")

    @pytest.mark.parametrize(
        "body",
        [
            {"finale": True},  # The name of the field "final" is misspelt.
            {"status": "scored"},  # The field "status" is read-only.
            {"final": "perhaps"},
            {"final": 1},
            {"note": 7},
            {"final": None},
            {"final": [True]},
            {"note": None},
            {"note": {"a": 1}},
            {"note": "x" * 501},
            [{"final": True}],
            "text",
            '{"note": "\\ud800"}',
        ],
    )
    def test_invalid_bodies_are_refused(self, api: Api, member: User, path: str, body: Any) -> None:
        assert refused(api.patch(path, body, user=member)) == (422, "invalid")
