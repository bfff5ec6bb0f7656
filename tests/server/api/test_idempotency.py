"""Repeating an upload with the same Idempotency-Key never creates a second submission."""

from typing import Any

import pytest

from server.accounts.models import User
from server.challenges.models import Phase
from server.submissions.models import QuotaEntry, Submission
from tests.conftest import Make
from tests.server.api.conftest import FILE, Tus, refused
from tests.server.documented import Answer, Api

pytestmark = [
    pytest.mark.phase(challenge={"slug": "detection"}, slug="main"),
    pytest.mark.usefixtures("inline_queue", "team"),
]


PATH = "challenges/detection/phases/main/submissions"


def upload(api: Api, user: User, file: bytes = FILE, key: str = "k1", path: str = PATH) -> Answer:
    return api.upload(path, file=file, user=user, headers={"Idempotency-Key": key})


def test_a_repeated_request_returns_the_first_submission(api: Api, member: User) -> None:
    answers = [upload(api, member) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert answers[0].json()["id"] == answers[1].json()["id"]
    assert QuotaEntry.objects.count() == 1


@pytest.mark.phase(quota_per_day=1)
def test_a_repeated_request_returns_the_first_submission_even_without_quota(api: Api, member: User) -> None:
    assert [upload(api, member).status_code for _ in range(2)] == [201, 200]


def test_a_key_of_another_phase_is_refused(api: Api, member: User, make: Make, phase: Phase) -> None:
    make.phase(phase.challenge, slug="second")
    upload(api, member)
    answer = upload(api, member, path=PATH.replace("main", "second"))
    assert refused(answer) == (422, "key_reused")


@pytest.mark.parametrize("changes", [{"file": b"ImageId,PredictionString\nb,\n"}, {"force": "true"}])
def test_a_key_with_another_file_or_force_is_refused(api: Api, member: User, changes: dict[str, Any]) -> None:
    upload(api, member)
    answer = api.upload(PATH, user=member, headers={"Idempotency-Key": "k1"}, **{"file": FILE, **changes})
    assert refused(answer) == (422, "key_reused")
    assert QuotaEntry.objects.count() == 1


def test_another_team_may_use_the_same_key(api: Api, member: User, make: Make, phase: Phase) -> None:
    other = make.team(phase.challenge).memberships.get().user
    assert [upload(api, user).status_code for user in (member, other)] == [201, 201]


@pytest.mark.parametrize("key", ["a b", "é", "x" * 81, "a\tb"])
def test_an_unusable_key_is_refused(api: Api, member: User, key: str) -> None:
    assert refused(upload(api, member, key=key)) == (422, "invalid")


class TestResumableUploads:
    def test_two_uploads_with_the_same_key_become_one_submission(self, tus: Tus) -> None:
        paths = []
        for _ in range(2):
            tus.begin(key="k1")
            paths.append(tus.path)
        for tus.path in paths:
            assert tus.patch(0, FILE).status_code == 204
        assert Submission.objects.count() == 1

    def test_an_upload_with_a_used_key_and_another_size_is_refused_at_once(self, tus: Tus) -> None:
        tus.begin(key="k1")
        tus.patch(0, FILE)
        assert refused(tus.begin(key="k1", length=len(FILE) + 1)) == (422, "key_reused")

    def test_an_upload_with_a_used_key_and_other_bytes_is_refused_when_it_is_complete(self, tus: Tus) -> None:
        tus.begin(key="k1")
        tus.patch(0, FILE)
        tus.begin(key="k1")
        other = FILE.replace(b"a", b"b")
        tus.patch(0, other[:10])
        assert tus.state()["submission"] is None
        assert refused(tus.patch(10, other[10:])) == (422, "key_reused")
        assert Submission.objects.count() == 1
        assert tus.head().status_code == 404

    @pytest.mark.phase(quota_per_day=1)
    def test_an_upload_with_a_used_key_needs_no_quota(self, tus: Tus) -> None:
        for _ in range(2):
            assert tus.begin(key="k1").status_code == 201
            assert tus.patch(0, FILE).status_code == 204
        assert tus.state()["submission"] == str(Submission.objects.get().pk)
