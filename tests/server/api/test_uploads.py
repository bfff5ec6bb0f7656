"""A file can be uploaded in several requests with the tus 1.0.0 protocol.

The submission is created when the last byte has arrived.
"""

from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from pytest_django import Settings

from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.errors import Refused
from server.submissions import partial_uploads
from server.submissions.models import QuotaEntry, Submission
from server.submissions.services import intake, resumable
from tests.conftest import Make
from tests.server.api.conftest import BEGIN, FILE, Tus, folders, refused
from tests.server.documented import Api

NOW = datetime.now(UTC)
DAY = timedelta(days=1)

pytestmark = [
    pytest.mark.phase(challenge={"slug": "detection"}, slug="main", closes_at=NOW + DAY),
    pytest.mark.usefixtures("inline_queue", "team"),
]


def test_a_file_in_three_parts_becomes_one_submission(tus: Tus, member: User) -> None:
    assert tus.begin(filename="p.csv", note="fünf").status_code == 201
    for offset in (0, 1000, 2000):
        answer = tus.patch(offset, FILE[offset : offset + 1000])
        assert (answer.status_code, answer.headers["Upload-Offset"]) == (204, str(min(offset + 1000, len(FILE))))
    submission = Submission.objects.get()
    assert tus.state()["submission"] == str(submission.pk)
    assert (submission.sha256, submission.size_bytes) == (sha256(FILE).hexdigest(), len(FILE))
    assert (submission.file_name, submission.note, submission.user) == ("p.csv", "fünf", member)
    assert Path(submission.file.path).read_bytes() == FILE
    assert QuotaEntry.objects.count() == 1


@pytest.mark.parametrize(("metadata", "forced"), [({"force": "true"}, True), ({"force": "no"}, False), ({}, False)])
def test_force_in_the_metadata_forces_the_submission(tus: Tus, metadata: dict[str, str], forced: bool) -> None:
    tus.begin(**metadata)
    assert tus.patch(0, FILE).status_code == 204
    assert Submission.objects.get().forced is forced


def test_head_returns_offset_and_length_without_a_body(tus: Tus) -> None:
    tus.begin()
    tus.patch(0, FILE[:7])
    answer = tus.head()
    assert (answer.status_code, answer.content) == (200, b"")
    found = {name: answer.headers[name] for name in ("Upload-Offset", "Upload-Length", "Tus-Resumable")}
    assert found == {"Upload-Offset": "7", "Upload-Length": str(len(FILE)), "Tus-Resumable": "1.0.0"}
    assert "no-store" in answer.headers["Cache-Control"]


def test_options_returns_what_the_server_supports(api: Api, member: User) -> None:
    answer = api.ask("OPTIONS", BEGIN, user=member)
    found = [answer.headers[name] for name in ("Tus-Version", "Tus-Extension", "Tus-Max-Size")]
    assert (answer.status_code, answer.content) == (204, b"")
    assert found == ["1.0.0", "creation,expiration,termination", str(2 * 2**30)]


@pytest.mark.parametrize("offset", [0, 6, 8, 10**17])
def test_a_wrong_offset_is_409_and_writes_nothing(tus: Tus, offset: int) -> None:
    tus.begin()
    tus.patch(0, FILE[:7])
    answer = tus.patch(offset, b"x")
    assert refused(answer) == (409, "wrong_offset")
    assert (answer.json()["offset"], tus.state()["offset"]) == (7, 7)


def test_bytes_beyond_the_announced_length_are_refused(tus: Tus) -> None:
    tus.begin(length=5)
    assert refused(tus.patch(0, b"123456")) == (409, "wrong_offset")
    assert tus.state()["offset"] == 0


def test_an_empty_request_concurrent_with_the_last_one_does_not_reopen_the_upload(
    tus: Tus, monkeypatch: pytest.MonkeyPatch
) -> None:
    tus.begin()
    locked = partial_uploads.locked

    def after_the_other_request(path: Path, *, wait: bool) -> AbstractContextManager[None]:
        monkeypatch.undo()
        assert tus.patch(0, FILE).status_code == 204
        return locked(path, wait=wait)

    monkeypatch.setattr(partial_uploads, "locked", after_the_other_request)
    assert tus.patch(len(FILE)).status_code == 204
    assert (tus.state()["offset"], Submission.objects.count()) == (len(FILE), 1)


@pytest.mark.parametrize("name", ["..", "a/..", "\u2025", "foo\uff0f", "."])
def test_a_file_without_a_usable_name_is_submitted(tus: Tus, name: str) -> None:
    tus.begin(filename=name)
    assert tus.patch(0, FILE).status_code == 204
    assert Submission.objects.get().file_name in ("unnamed", "foo")


def test_an_empty_file_is_submitted_by_an_empty_request(tus: Tus) -> None:
    tus.begin(length=0)
    assert tus.patch(0).status_code == 204
    assert Submission.objects.get().size_bytes == 0


def test_a_repeated_last_request_returns_the_same_submission(tus: Tus) -> None:
    tus.begin()
    assert [tus.patch(0, FILE).status_code, tus.patch(len(FILE)).status_code] == [204, 204]
    assert tus.patch(0, FILE).status_code == 204
    assert Submission.objects.count() == 1


def test_a_complete_file_whose_submission_was_interrupted_is_submitted_by_an_empty_request(
    tus: Tus, monkeypatch: pytest.MonkeyPatch
) -> None:
    tus.begin()
    with monkeypatch.context() as patched:
        patched.setattr(resumable, "finish", lambda *args, **options: 1 / 0)
        assert tus.patch(0, FILE).status_code == 500
    assert tus.state()["submission"] is None
    assert tus.patch(len(FILE)).status_code == 204
    assert tus.state()["submission"] == str(Submission.objects.get().pk)


def test_bytes_that_were_submitted_before_a_crash_are_not_submitted_again(
    tus: Tus, monkeypatch: pytest.MonkeyPatch
) -> None:
    tus.begin()
    unlink = Path.unlink

    def crash(path: Path, missing_ok: bool = False) -> None:
        if path.name == partial_uploads.CONTENT:
            raise RuntimeError
        unlink(path, missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", crash)
        assert tus.patch(0, FILE).status_code == 500
    assert tus.patch(len(FILE)).status_code == 204
    assert tus.state()["submission"] == str(Submission.objects.get().pk)


class TestWho:
    def test_only_the_owner_can_access_an_upload(self, api: Api, tus: Tus, team: Team, make: Make) -> None:
        mate = make.user()
        team.memberships.create(challenge=team.challenge, user=mate, rules_accepted_at=NOW)
        tus.begin()
        for other in (mate, make.user(is_staff=True)):
            stranger = Tus(api, other)
            stranger.path = tus.path
            assert stranger.head().status_code == 404
            assert stranger.patch(0, FILE).status_code == 404
            assert api.ask("DELETE", tus.path, user=other).status_code == 404
        assert tus.state()["offset"] == 0

    @pytest.mark.parametrize(
        "name",
        [
            "../../podium.sqlite3",
            "..%2f..%2fx",
            "%00",
            "00000000-0000-4000-8000-000000000000",
            "upload-x",
            "a/../b",
            "*",
        ],
    )
    def test_an_id_gives_access_to_no_other_file(self, api: Api, tus: Tus, member: User, name: str) -> None:
        tus.begin()
        assert api.get(f"uploads/{name}", user=member).status_code == 404

    def test_a_person_who_has_left_the_team_cannot_submit(self, tus: Tus, team: Team) -> None:
        tus.begin()
        team.memberships.all().delete()
        assert refused(tus.patch(0, FILE)) == (403, "not_a_member")

    def test_a_deleted_upload_no_longer_exists(self, api: Api, tus: Tus, member: User) -> None:
        tus.begin()
        assert api.ask("DELETE", tus.path, user=member).status_code == 204
        assert tus.head().status_code == 404
        assert folders() == []


class TestRules:
    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            ({"Upload-Length": ""}, 422),
            ({"Upload-Length": "-1"}, 422),
            ({"Upload-Length": "1e3"}, 422),
            ({"Upload-Length": "9" * 30}, 422),
            ({"Upload-Metadata": "filename ###"}, 422),
            ({"Upload-Metadata": "filename /w=="}, 422),  # "/w==" decodes to a byte that is not UTF-8.
            ({"Upload-Metadata": "x" * 5000}, 422),
            ({"Idempotency-Key": "a b"}, 422),
            ({"Tus-Resumable": "0.2.0"}, 412),
        ],
    )
    def test_unusable_headers_are_refused(self, tus: Tus, headers: dict[str, str], status: int) -> None:
        given = {"Upload-Length": "5", "Tus-Resumable": "1.0.0", **headers}
        answer = tus.api.ask("POST", BEGIN, user=tus.user, headers={k: v for k, v in given.items() if v})
        assert answer.status_code == status
        assert folders() == []

    @pytest.mark.parametrize("name", ["a\r\nSet-Cookie: x=1", "../../etc/passwd", "\u202efdp.csv", "\0", ""])
    def test_a_file_name_is_made_harmless(self, tus: Tus, name: str) -> None:
        answer = tus.begin(filename=name)
        assert "Set-Cookie" not in answer.headers
        tus.patch(0, FILE)
        stored = Submission.objects.get().file_name
        assert stored
        assert not {"/", "\r", "\n", "\0", "\u202e"} & set(stored)

    def test_a_file_beyond_the_limit_is_413(self, tus: Tus, settings: Settings) -> None:
        settings.UPLOAD_MAX_BYTES = 10
        assert refused(tus.begin(length=11)) == (413, "file_too_large")

    def test_another_content_type_is_415(self, tus: Tus) -> None:
        tus.begin()
        answer = tus.ask("PATCH", tus.path, {"Upload-Offset": "0"}, data=b"x", content_type="text/csv")
        assert refused(answer) == (415, "unsupported_media_type")

    def test_a_note_that_is_too_long_is_refused_at_once(self, tus: Tus) -> None:
        assert refused(tus.begin(note="x" * 501)) == (422, "invalid")

    def test_the_last_byte_must_arrive_before_the_deadline(self, tus: Tus, phase: Phase) -> None:
        tus.begin()
        tus.patch(0, FILE[:10])
        Phase.objects.update(closes_at=NOW - DAY)
        assert refused(tus.patch(10, FILE[10:])) == (409, "phase_closed")
        assert not Submission.objects.exists()
        assert folders() == []

    def test_received_at_is_the_time_of_the_last_byte(self, tus: Tus) -> None:
        tus.begin()
        tus.patch(0, FILE[:10])
        before = datetime.now(UTC) - timedelta(milliseconds=1)
        tus.patch(10, FILE[10:])
        assert Submission.objects.get().received_at >= before

    @pytest.mark.phase(quota_per_day=1)
    def test_an_upload_is_refused_but_kept_if_the_quota_is_used_up_meanwhile(
        self, tus: Tus, api: Api, member: User
    ) -> None:
        tus.begin()
        tus.patch(0, FILE[:10])
        assert api.upload(BEGIN.replace("uploads", "submissions"), file=b"other", user=member).status_code == 201
        assert refused(tus.patch(10, FILE[10:])) == (429, "quota_exhausted")
        assert tus.state()["offset"] == 10

    def test_a_file_that_was_submitted_before_is_a_duplicate(self, tus: Tus) -> None:
        for expected in (204, 409):
            tus.begin()
            assert tus.patch(0, FILE).status_code == expected
        assert Submission.objects.count() == 1
        assert tus.head().status_code == 404

    def test_a_closed_phase_refuses_an_upload_before_its_first_byte(self, tus: Tus, phase: Phase) -> None:
        Phase.objects.update(closes_at=NOW - DAY)
        assert refused(tus.begin()) == (409, "phase_closed")

    def test_a_complete_file_that_is_refused_repeatedly_is_hashed_once(
        self, tus: Tus, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*args: object, **options: object) -> None:
            raise Refused("no_space", "full")

        tus.begin()
        with monkeypatch.context() as patched:
            patched.setattr(intake, "keep", refuse)
            assert refused(tus.patch(0, FILE)) == (507, "no_space")
            patched.setattr(partial_uploads, "file_digest", None)
            assert refused(tus.patch(len(FILE))) == (507, "no_space")
        assert tus.patch(len(FILE)).status_code == 204
        assert Submission.objects.get().sha256 == sha256(FILE).hexdigest()

    def test_a_file_without_storage_is_refused_before_its_bytes_are_read(self, tus: Tus, settings: Settings) -> None:
        tus.begin()
        settings.TEAM_STORAGE_BYTES = len(FILE) - 1
        assert refused(tus.patch(0, FILE)) == (429, "storage_exhausted")
        assert tus.state()["offset"] == 0
