"""Tests submitting files through the API."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import Settings

from server.accounts.models import User
from server.challenges.models import Phase
from server.submissions.models import Submission
from tests.conftest import Make
from tests.server.documented import Api

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


def refused(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


@pytest.mark.usefixtures("inline_queue", "team")
class TestSubmit:
    def test_an_accepted_file_is_queued(self, api: Api, member: User) -> None:
        answer = api.upload(PATH, file=FILE, name="mine.csv", note="first try", user=member)
        shape = answer.json()
        assert answer.status_code == 201
        assert set(shape) >= KEYS
        assert (shape["status"], shape["challenge"], shape["phase"], shape["team"]) == (
            *("queued", "detection", "main"),
            "Foxes",
        )
        assert (shape["file_name"], shape["note"], shape["scores"]) == ("mine.csv", "first try", {})
        assert (shape["signature"], shape["fault"], shape["on_board"]) == (None, None, False)

    def test_a_forced_file_is_marked_and_others_are_not(self, api: Api, member: User) -> None:
        forced = api.upload(PATH, file=FILE, force="true", user=member).json()
        other = api.upload(PATH, file=FILE + b"b,\n", user=member).json()
        assert (forced["forced"], other["forced"]) == (True, False)
        assert Submission.objects.get(pk=forced["id"]).forced

    @pytest.mark.parametrize("content", [b"", b"\0", b"\xff\xfe", b"PK\x03\x04", b"nonsense"])
    def test_the_content_of_a_file_is_not_checked_on_upload(self, api: Api, member: User, content: bytes) -> None:
        assert api.upload(PATH, file=content, user=member).status_code == 201

    @pytest.mark.parametrize(
        "name", ["../../etc/passwd", "x" * 300 + ".csv", "a\\b.csv", "=1+1.csv", "\u202efdp.csv", "ゼロ.csv", " "]
    )
    def test_a_file_name_contains_no_path(self, api: Api, member: User, name: str) -> None:
        answer = api.upload(PATH, file=FILE, name=name, user=member)
        if answer.status_code == 201:
            assert "/" not in answer.json()["file_name"]
        else:
            # Django removes folders from a file name. If nothing remains, it ignores the file, so no file is submitted.
            assert refused(answer) == (422, "invalid")

    def test_a_missing_file_is_invalid(self, api: Api, member: User) -> None:
        answer = api.upload(PATH, file=None, note="x", user=member)
        assert refused(answer) == (422, "invalid")
        assert "file" in answer.json()["errors"]

    def test_a_note_that_is_too_long_is_invalid(self, api: Api, member: User) -> None:
        assert refused(api.upload(PATH, file=FILE, note="x" * 501, user=member)) == (422, "invalid")

    def test_a_note_with_a_null_is_invalid(self, api: Api, member: User) -> None:
        assert refused(api.upload(PATH, file=FILE, note="a\0b", user=member)) == (422, "invalid")

    def test_a_truncated_form_is_invalid(self, api: Api, member: User) -> None:
        answer = api.post(PATH, b"--nothing", user=member, content_type="multipart/form-data")
        assert refused(answer) == (422, "invalid")

    def test_json_instead_of_a_form_is_415(self, api: Api, member: User) -> None:
        assert refused(api.post(PATH, {"file": "x"}, user=member)) == (415, "unsupported_media_type")

    def test_a_file_that_is_submitted_again_is_a_duplicate(self, api: Api, member: User) -> None:
        api.upload(PATH, file=FILE, user=member)
        answer = api.upload(PATH, file=FILE, user=member)
        assert refused(answer) == (409, "duplicate_file")

    def test_the_refusal_for_a_used_up_quota_has_the_time_of_the_next_submission(
        self, api: Api, member: User, phase: Phase
    ) -> None:
        type(phase).objects.update(quota_per_day=1, closes_at=NOW + 9 * DAY)
        api.upload(PATH, file=FILE, user=member)
        answer = api.upload(PATH, file=FILE + b"b,\n", user=member)
        assert refused(answer) == (429, "quota_exhausted")
        assert answer.json()["next_allowed_at"].endswith("Z")
        assert 0 < int(answer.headers["Retry-After"]) <= 24 * 3600

    def test_the_refusal_for_a_used_up_total_quota_has_a_retry_after_header(
        self, api: Api, member: User, phase: Phase
    ) -> None:
        type(phase).objects.update(quota_total=0)
        answer = api.upload(PATH, file=FILE, user=member)
        assert refused(answer) == (429, "quota_exhausted")
        assert answer.json()["next_allowed_at"] is None
        assert int(answer.headers["Retry-After"]) > 0

    @pytest.mark.parametrize(("opens", "closes", "code"), [(-2, -1, "phase_closed"), (1, 2, "phase_not_open")])
    def test_a_phase_that_is_not_open_refuses_files(
        self, api: Api, member: User, phase: Phase, opens: int, closes: int, code: str
    ) -> None:
        type(phase).objects.update(opens_at=NOW + opens * DAY, closes_at=NOW + closes * DAY)
        assert refused(api.upload(PATH, file=FILE, user=member)) == (409, code)

    def test_a_stranger_cannot_submit(self, api: Api, make: Make) -> None:
        assert refused(api.upload(PATH, file=FILE, user=make.user())) == (403, "not_a_member")

    def test_a_token_with_the_scope_read_cannot_submit(self, api: Api, member: User) -> None:
        assert refused(api.upload(PATH, file=FILE, user=member, scope="read")) == (403, "forbidden")

    def test_a_body_above_the_limit_is_refused(self, api: Api, member: User, settings: Settings) -> None:
        settings.UPLOAD_MAX_BYTES = 10
        answer = api.upload(PATH, file=b"x" * 100_000, user=member)
        assert refused(answer) == (413, "file_too_large")
        assert not Submission.objects.exists()

    def test_a_body_without_its_length_is_refused(self, api: Api, member: User) -> None:
        answer = api.upload(PATH, file=FILE, user=member, headers={"Transfer-Encoding": "chunked"})
        assert refused(answer) == (422, "invalid")

    def test_a_closed_phase_is_refused_before_the_form_is_checked(self, api: Api, member: User, phase: Phase) -> None:
        type(phase).objects.update(closes_at=NOW - DAY)
        assert refused(api.upload(PATH, file=None, user=member)) == (409, "phase_closed")

    def test_a_file_just_above_the_limit_is_refused(self, api: Api, member: User, settings: Settings) -> None:
        settings.UPLOAD_MAX_BYTES = 10
        assert refused(api.upload(PATH, file=b"x" * 11, user=member)) == (413, "file_too_large")
