"""Submissions in the API: upload, status, cancelling, and final submissions."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from server.submissions.defect_advice import ADVICE
from server.submissions.models import Submission
from server.submissions.services import leases, lifecycle

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
FILE = b"ImageId,PredictionString\na,\n"
PATH = "challenges/detection/phases/main/submissions"
KEYS = {
    *("id", "challenge", "phase", "team", "status", "stage", "progress", "note", "final", "file_name", "sha256"),
    *("received_at", "scored_at", "signature", "scores", "intervals", "problems", "on_board", "why_not", "fault"),
}


pytestmark = [
    pytest.mark.phase(challenge={"slug": "detection"}, slug="main", closes_at=NOW + DAY),
    pytest.mark.team(name="Foxes"),
]


@pytest.fixture
def user(make: Any) -> Any:
    return make.user()


@pytest.fixture
def team(make: Any, phase: Any, user: Any) -> Any:
    return make.team(phase.challenge, user, name="Foxes")


def refused(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


@pytest.mark.usefixtures("inline_queue", "team")
class TestSubmit:
    def test_an_accepted_file_is_queued(self, api: Any, user: Any) -> None:
        answer = api.upload(PATH, file=FILE, name="mine.csv", note="first try", user=user)
        shape = answer.json()
        assert answer.status_code == 201
        assert set(shape) >= KEYS
        assert (shape["status"], shape["challenge"], shape["phase"], shape["team"]) == (
            *("queued", "detection", "main"),
            "Foxes",
        )
        assert (shape["file_name"], shape["note"], shape["scores"]) == ("mine.csv", "first try", {})
        assert (shape["signature"], shape["fault"], shape["on_board"]) == (None, None, False)

    @pytest.mark.parametrize("content", [b"", b"\0", b"\xff\xfe", b"PK\x03\x04", b"nonsense"])
    def test_the_content_of_a_file_is_not_checked_on_upload(self, api: Any, user: Any, content: bytes) -> None:
        assert api.upload(PATH, file=content, user=user).status_code == 201

    @pytest.mark.parametrize(
        "name", ["../../etc/passwd", "x" * 300 + ".csv", "a\\b.csv", "=1+1.csv", "\u202efdp.csv", "ゼロ.csv", " "]
    )
    def test_a_file_name_contains_no_path(self, api: Any, user: Any, name: str) -> None:
        answer = api.upload(PATH, file=FILE, name=name, user=user)
        if answer.status_code == 201:
            assert "/" not in answer.json()["file_name"]
        else:  # Only a path or a space: there is no file name.
            assert refused(answer) == (422, "invalid")

    def test_a_missing_file_is_invalid(self, api: Any, user: Any) -> None:
        answer = api.upload(PATH, file=None, note="x", user=user)
        assert refused(answer) == (422, "invalid")
        assert "file" in answer.json()["errors"]

    def test_a_note_that_is_too_long_is_invalid(self, api: Any, user: Any) -> None:
        assert refused(api.upload(PATH, file=FILE, note="x" * 501, user=user)) == (422, "invalid")

    def test_a_note_with_a_null_is_invalid(self, api: Any, user: Any) -> None:
        assert refused(api.upload(PATH, file=FILE, note="a\0b", user=user)) == (422, "invalid")

    def test_a_truncated_form_is_invalid(self, api: Any, user: Any) -> None:
        answer = api.post(PATH, b"--nothing", user=user, content_type="multipart/form-data")
        assert refused(answer) == (422, "invalid")

    def test_json_instead_of_a_form_is_415(self, api: Any, user: Any) -> None:
        assert refused(api.post(PATH, {"file": "x"}, user=user)) == (415, "unsupported_media_type")

    def test_the_same_file_again_is_a_duplicate(self, api: Any, user: Any) -> None:
        api.upload(PATH, file=FILE, user=user)
        answer = api.upload(PATH, file=FILE, user=user)
        assert refused(answer) == (409, "duplicate_file")

    def test_a_used_up_quota_has_the_time_of_the_next_submission(self, api: Any, user: Any, phase: Any) -> None:
        type(phase).objects.update(quota_per_day=1, closes_at=NOW + 9 * DAY)
        api.upload(PATH, file=FILE, user=user)
        answer = api.upload(PATH, file=FILE + b"b,\n", user=user)
        assert refused(answer) == (429, "quota_exhausted")
        assert answer.json()["next_allowed_at"].endswith("Z")
        assert 0 < int(answer.headers["Retry-After"]) <= 24 * 3600

    def test_a_used_up_total_quota_has_a_retry_after_header(self, api: Any, user: Any, phase: Any) -> None:
        type(phase).objects.update(quota_total=0)
        answer = api.upload(PATH, file=FILE, user=user)
        assert refused(answer) == (429, "quota_exhausted")
        assert answer.json()["next_allowed_at"] is None
        assert int(answer.headers["Retry-After"]) > 0

    @pytest.mark.parametrize(("opens", "closes", "code"), [(-2, -1, "phase_closed"), (1, 2, "phase_not_open")])
    def test_a_phase_that_is_not_open_refuses_files(
        self, api: Any, user: Any, phase: Any, opens: int, closes: int, code: str
    ) -> None:
        type(phase).objects.update(opens_at=NOW + opens * DAY, closes_at=NOW + closes * DAY)
        assert refused(api.upload(PATH, file=FILE, user=user)) == (409, code)

    def test_a_stranger_cannot_submit(self, api: Any, make: Any) -> None:
        assert refused(api.upload(PATH, file=FILE, user=make.user())) == (403, "not_a_member")

    def test_a_token_with_the_scope_read_cannot_submit(self, api: Any, user: Any) -> None:
        assert refused(api.upload(PATH, file=FILE, user=user, scope="read")) == (403, "forbidden")

    def test_a_body_above_the_limit_is_refused(self, api: Any, user: Any, settings: Any) -> None:
        settings.UPLOAD_MAX_BYTES = 10
        answer = api.upload(PATH, file=b"x" * 100_000, user=user)
        assert refused(answer) == (413, "file_too_large")
        assert not Submission.objects.exists()

    def test_a_body_without_its_length_is_refused(self, api: Any, user: Any) -> None:
        answer = api.upload(PATH, file=FILE, user=user, headers={"Transfer-Encoding": "chunked"})
        assert refused(answer) == (422, "invalid")

    def test_a_closed_phase_is_refused_before_the_form_is_checked(self, api: Any, user: Any, phase: Any) -> None:
        type(phase).objects.update(closes_at=NOW - DAY)
        assert refused(api.upload(PATH, file=None, user=user)) == (409, "phase_closed")

    def test_a_file_just_above_the_limit_is_refused(self, api: Any, user: Any, settings: Any) -> None:
        settings.UPLOAD_MAX_BYTES = 10
        assert refused(api.upload(PATH, file=b"x" * 11, user=user)) == (413, "file_too_large")


class TestRead:
    def test_a_scored_submission_has_scores_and_rank(
        self, api: Any, user: Any, phase: Any, team: Any, scored: Any
    ) -> None:
        submission = scored(phase, 1 / 3, team=team, private=0.1, interval=(0.3, 0.4))
        shape = api.get(f"submissions/{submission.pk}", user=user).json()
        assert shape["scores"] == {"public": {"mAP": 1 / 3}}
        assert shape["intervals"] == {"public": {"mAP": [0.3, 0.4]}}
        assert (shape["on_board"], shape["why_not"], shape["board"], shape["rank"]) == (True, None, "public", 1)
        assert shape["signature"] == phase.signature

    def test_the_time_of_scoring_has_whole_seconds(
        self, api: Any, user: Any, phase: Any, team: Any, scored: Any
    ) -> None:
        """The duration of scoring depends slightly on the hidden truth."""
        submission = scored(phase, 0.5, team=team, at=datetime(2026, 5, 4, 3, 2, 1, 987_654, tzinfo=UTC))
        assert api.get(f"submissions/{submission.pk}", user=user).json()["scored_at"] == "2026-05-04T03:02:01Z"

    def test_the_team_cannot_see_the_cpu_time(self, api: Any, user: Any, phase: Any, team: Any, scored: Any) -> None:
        submission = scored(phase, 0.5, team=team)
        submission.evaluations.update(cpu_seconds=98.7654321)
        for path in (f"submissions/{submission.pk}", f"submissions/{submission.pk}/report", PATH):
            content = api.get(path, user=user).content
            assert b"98.765" not in content
            assert b"cpu" not in content

    def test_private_scores_are_shown_after_the_end(
        self, api: Any, user: Any, phase: Any, team: Any, scored: Any
    ) -> None:
        submission = scored(phase, 0.5, team=team, private=0.1)
        type(phase).objects.update(closes_at=NOW - DAY)
        assert api.get(f"submissions/{submission.pk}", user=user).json()["scores"]["private"] == {"mAP": 0.1}

    def test_a_rejected_submission_lists_its_defects(
        self, api: Any, user: Any, phase: Any, team: Any, make: Any
    ) -> None:
        error = {"code": "not_finite", "message": "…", "line": 2, "column": "Score", "image": "a", "token": 2}
        problems = {"errors": [error], "total": 1, "more": True, "counts": {"not_finite": 1}, "notices": []}
        submission = make.submission(
            phase, team, status="rejected", finished_at=NOW, fault="participant", problems=problems
        )
        shape = api.get(f"submissions/{submission.pk}", user=user).json()
        assert shape["problems"] == {**problems, "advice": {"not_finite": ADVICE["not_finite"]}}
        assert (shape["status"], shape["fault"]) == ("rejected", "participant")

    def test_a_scored_submission_lists_its_notices(self, api: Any, user: Any, phase: Any, team: Any, make: Any) -> None:
        notice = {"code": "unknown_image", "message": "rows of images that the truth does not know", "count": 3}
        claimed = leases.claim(Submission, make.submission(phase, team).pk)
        assert claimed is not None
        report = {"signature": phase.signature, "splits": {}, "notices": [notice]}
        lifecycle.record(claimed, truth=phase.truth, report=report, cpu_seconds=0.1)
        problems = api.get(f"submissions/{claimed.pk}", user=user).json()["problems"]
        assert problems == {"errors": [], "total": 0, "counts": {}, "notices": [notice], "advice": {}}

    def test_a_running_submission_has_its_progress(self, api: Any, user: Any, phase: Any, team: Any, make: Any) -> None:
        lease = {"lease_token": uuid4(), "lease_until": NOW}
        submission = make.submission(phase, team, status="running", stage="matching", progress=0.25, **lease)
        shape = api.get(f"submissions/{submission.pk}", user=user).json()
        assert (shape["status"], shape["stage"], shape["progress"]) == ("running", "matching", 0.25)

    def test_a_submission_of_another_team_is_not_found(self, api: Any, phase: Any, make: Any, scored: Any) -> None:
        submission = scored(phase, 0.5)
        for path in ("", "/report"):
            assert refused(api.get(f"submissions/{submission.pk}{path}", user=make.user())) == (404, "not_found")
        assert refused(api.post(f"submissions/{submission.pk}/cancel", user=make.user())) == (404, "not_found")
        assert refused(api.patch(f"submissions/{submission.pk}", {"note": ""}, user=make.user())) == (404, "not_found")

    def test_an_unknown_submission_is_not_found(self, api: Any, user: Any) -> None:
        assert refused(api.get(f"submissions/{uuid4()}", user=user)) == (404, "not_found")

    def test_reading_a_submission_needs_a_user(self, api: Any, phase: Any, scored: Any) -> None:
        assert refused(api.get(f"submissions/{scored(phase, 0.5).pk}")) == (401, "unauthenticated")

    def test_an_organizer_reads_all_submissions_and_splits(self, api: Any, phase: Any, make: Any, scored: Any) -> None:
        organizer = make.user()
        phase.challenge.organizers.add(organizer)
        shape = api.get(f"submissions/{scored(phase, 0.5, private=0.4).pk}", user=organizer).json()
        assert set(shape["scores"]) == {"public", "private", "all"}


class TestList:
    def test_the_list_has_the_own_submissions_newest_first(
        self, api: Any, user: Any, phase: Any, team: Any, scored: Any
    ) -> None:
        old, new = scored(phase, 0.9, team=team, at=NOW - DAY), scored(phase, 0.5, team=team)
        scored(phase, 0.7)
        shapes = api.get(PATH, user=user).json()["results"]
        assert [shape["id"] for shape in shapes] == [str(new.pk), str(old.pk)]
        assert [shape["on_board"] for shape in shapes] == [False, True]

    def test_the_list_is_for_members(self, api: Any, phase: Any, make: Any) -> None:
        assert refused(api.get(PATH, user=make.user())) == (403, "not_a_member")

    def test_the_number_of_queries_does_not_depend_on_the_length(
        self, api: Any, user: Any, phase: Any, team: Any, scored: Any, django_assert_max_num_queries: Any
    ) -> None:
        for number in range(12):
            scored(phase, number / 100, team=team)
        api.get(PATH, user=user)  # saves the time of the token's last use
        with django_assert_max_num_queries(13):
            assert len(api.get(PATH, user=user).json()["results"]) == 12


class TestCancel:
    def test_a_queued_submission_is_cancelled(self, api: Any, user: Any, phase: Any, team: Any, make: Any) -> None:
        answer = api.post(f"submissions/{make.submission(phase, team).pk}/cancel", user=user)
        assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")

    def test_a_scored_submission_is_not_cancellable(
        self, api: Any, user: Any, phase: Any, team: Any, scored: Any
    ) -> None:
        answer = api.post(f"submissions/{scored(phase, 0.5, team=team).pk}/cancel", user=user)
        assert refused(answer) == (409, "not_cancellable")


class TestChange:
    @pytest.fixture
    def path(self, phase: Any, team: Any, scored: Any) -> str:
        return f"submissions/{scored(phase, 0.5, team=team).pk}"

    def test_note_and_final_are_changed(self, api: Any, user: Any, path: str) -> None:
        shape = api.patch(path, {"final": True, "note": "the one"}, user=user).json()
        assert (shape["final"], shape["note"]) == (True, "the one")

    def test_other_fields_do_not_change(self, api: Any, user: Any, path: str) -> None:
        api.patch(path, {"final": True, "note": "the one"}, user=user)
        shape = api.patch(path, {"note": ""}, user=user).json()
        assert (shape["final"], shape["note"]) == (True, "")

    def test_a_refused_change_does_not_change_the_note(self, api: Any, user: Any, path: str, phase: Any) -> None:
        type(phase).objects.update(closes_at=NOW - DAY)
        assert refused(api.patch(path, {"final": True, "note": "new"}, user=user)) == (409, "phase_closed")
        assert Submission.objects.get().note == ""

    def test_an_organizer_cannot_choose_final_submissions(self, api: Any, path: str, phase: Any, make: Any) -> None:
        organizer = make.user()
        phase.challenge.organizers.add(organizer)
        assert refused(api.patch(path, {"final": True}, user=organizer)) == (403, "not_a_member")

    @pytest.mark.parametrize(
        "body",
        [
            {"finale": True},  # misspelt
            {"status": "scored"},  # read-only
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
    def test_invalid_bodies_are_refused(self, api: Any, user: Any, path: str, body: Any) -> None:
        assert refused(api.patch(path, body, user=user)) == (422, "invalid")
