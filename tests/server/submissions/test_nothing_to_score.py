"""A file in which no prediction could be a hit is rejected and uses no quota. A team can choose to submit it anyway."""

from typing import Any

import pytest
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.errors import Refused
from server.submissions.models import Submission
from server.submissions.services import intake
from tests.conftest import Make
from tests.server.page import Page

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("inline_queue")]
PROBLEMS = {
    "errors": [{"code": "nothing_to_score", "message": "the file has no predictions", "line": None}],
    "total": 1,
    "counts": {"nothing_to_score": 1},
    "notices": [{"code": "outside_image", "message": "Are these pixels?", "count": 12}],
}


def rejected(make: Make, phase: Phase, team: Team, **fields: object) -> Submission:
    values = {"status": "rejected", "finished_at": "2026-01-01T00:00Z", "fault": "participant", "problems": PROBLEMS}
    return make.submission(phase, team, **{**values, **fields})


def test_the_page_of_a_rejected_file_offers_to_submit_it_anyway(
    make: Make, phase: Phase, team: Team, member: User, client: Client
) -> None:
    client.force_login(member)
    one = rejected(make, phase, team)
    page = Page(client.get(f"/submissions/{one.pk}/"))
    assert "This does not use quota." in page.words
    assert "Are these pixels? (12 times)" in page.words
    answer = client.post(f"/submissions/{one.pk}/submit-anyway")
    again = Submission.objects.latest("received_at")
    assert (answer["Location"], again.forced, again.sha256) == (f"/submissions/{again.pk}/", True, one.sha256)
    with again.file.open("rb") as new, one.file.open("rb") as old:
        assert new.read() == old.read()


@pytest.mark.parametrize(
    "fields", [{"problems": {"counts": {"empty": 1}}}, {"file": ""}, {"status": "failed", "failure": "x"}]
)
def test_other_submissions_cannot_be_submitted_anyway(
    make: Make, phase: Phase, team: Team, member: User, client: Client, fields: dict[str, object]
) -> None:
    client.force_login(member)
    one = rejected(make, phase, team, **fields)
    assert "Submit it anyway" not in Page(client.get(f"/submissions/{one.pk}/")).words
    with pytest.raises(Refused):
        intake.submit_anyway(submission=one, by=member)
    assert Submission.objects.count() == 1


def test_a_file_cannot_be_submitted_anyway_twice(make: Make, phase: Phase, team: Team, member: User) -> None:
    one = rejected(make, phase, team)
    intake.submit_anyway(submission=one, by=member)
    with pytest.raises(Refused) as caught:
        intake.submit_anyway(submission=one, by=member)
    assert caught.value.code == "duplicate_file"


def test_an_account_copies_only_one_stored_file_at_a_time(
    make: Make, phase: Phase, team: Team, member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (rejected(make, phase, team) for _ in range(2))
    submit = intake.submit

    def while_another_request_arrives(**arguments: Any) -> Submission:
        monkeypatch.setattr(intake, "submit", submit)
        with pytest.raises(Refused) as caught:
            intake.submit_anyway(submission=other, by=member)
        assert caught.value.code == "rate_limited"
        return submit(**arguments)

    monkeypatch.setattr(intake, "submit", while_another_request_arrives)
    assert intake.submit_anyway(submission=one, by=member).forced
    assert intake.submit_anyway(submission=other, by=member).forced


@pytest.mark.phase(quota_per_day=1)
def test_a_file_that_will_be_refused_is_neither_read_nor_copied(
    make: Make, phase: Phase, team: Team, member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (rejected(make, phase, team) for _ in range(2))
    intake.submit_anyway(submission=one, by=member)
    monkeypatch.setattr(intake, "submit", None)
    for submission, user, code in (
        (one, member, "quota_exhausted"),
        (other, member, "quota_exhausted"),
        (other, make.user(), "not_a_member"),
    ):
        with pytest.raises(Refused) as caught:
            intake.submit_anyway(submission=submission, by=user)
        assert caught.value.code == code
