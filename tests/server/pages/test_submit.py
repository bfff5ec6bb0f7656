"""The submit page accepts a file, or rejects it and keeps the values of the other fields."""

import re
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from server.accounts.models import User
from server.submissions.models import Submission
from server.submissions.upload_handler import HashingUploadHandler
from tests.conftest import InlineQueue, Make
from tests.server.conftest import Scored
from tests.server.page import Page

HOUR = timedelta(hours=1)
NOW = datetime.now(UTC)
ADDRESS = "/challenges/c/submit"
ACCEPTED = f"{ADDRESS}?accept_rules=on"
# Each test case consists of the phase fields to change, and the error code and HTTP status with which uploads are
# rejected.
REFUSED = [
    ({"opens_at": NOW + HOUR}, "phase_not_open", 409),
    ({"closes_at": NOW - HOUR}, "phase_closed", 409),
    ({"quota_per_day": 0}, "quota_exhausted", 429),
]


def a_file(content: bytes = b"ImageId,PredictionString\na,\n") -> SimpleUploadedFile:
    return SimpleUploadedFile("run.csv", content, "text/csv")


def a_phase(make: Make, member: User, **fields: Any) -> Any:
    phase = make.phase(make.challenge(slug="c"), **fields)
    make.team(phase.challenge, member)
    return phase


def test_an_accepted_file_leads_to_its_page(
    make: Make, member: User, client: Client, inline_queue: InlineQueue
) -> None:
    a_phase(make, member)
    response = client.post(ADDRESS, {"file": a_file(), "note": "first"})
    submission = Submission.objects.get()
    assert response.url == f"/submissions/{submission.pk}/"
    assert (submission.note, submission.file_name, submission.status) == ("first", "run.csv", "queued")


@pytest.mark.parametrize(("fields", "code", "status"), REFUSED)
def test_a_refused_file_shows_the_code(
    fields: Any, code: str, status: int, make: Make, member: User, client: Client, inline_queue: InlineQueue
) -> None:
    a_phase(make, member, **fields)
    page = Page(client.post(ADDRESS, {"file": a_file()}))
    assert page.status == status
    assert code in page.words
    assert page.all("div", id="refusal")
    assert not Submission.objects.exists()


@pytest.mark.parametrize(("fields", "code", "status"), REFUSED)
def test_the_form_shows_in_advance_why_a_file_would_be_refused(
    fields: Any, code: str, status: int, make: Make, member: User, client: Client
) -> None:
    a_phase(make, member, **fields)
    page = Page(client.get(ADDRESS))
    assert page.status == 200
    assert page.all("div", id="not-now")
    assert code in page.words


def test_a_refused_form_keeps_the_note(make: Make, member: User, client: Client, inline_queue: InlineQueue) -> None:
    a_phase(make, member)
    client.post(ADDRESS, {"file": a_file()})
    page = Page(client.post(ADDRESS, {"file": a_file(), "note": "kept"}))
    assert page.status == 409
    assert page.all("input", name="note")[0]["value"] == "kept"


def test_a_form_without_csrf_token_is_refused(make: Make, member: User) -> None:
    a_phase(make, member)
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(member)
    assert browser.post(ADDRESS, {"file": a_file()}).status_code == 403
    assert not Submission.objects.exists()


def test_the_refusal_for_a_used_up_quota_has_a_retry_after_header(make: Make, member: User, client: Client) -> None:
    a_phase(make, member, quota_per_day=0)
    response = client.post(ADDRESS, {"file": a_file()})
    assert response.status_code == 429
    assert 0 < int(response["Retry-After"]) <= 24 * 3600


def test_a_file_submitted_twice_is_refused(make: Make, member: User, client: Client, inline_queue: InlineQueue) -> None:
    a_phase(make, member)
    client.post(ADDRESS, {"file": a_file()})
    page = Page(client.post(ADDRESS, {"file": a_file()}))
    assert page.status == 409
    assert "duplicate_file" in page.words


def test_a_refused_duplicate_links_to_the_score_of_the_earlier_submission(
    make: Make, member: User, client: Client, scored: Scored
) -> None:
    phase = a_phase(make, member)
    content = a_file().read()
    one = scored(phase, 0.61234, team=phase.challenge.teams.get(), sha256=sha256(content).hexdigest())
    page = Page(client.post(ADDRESS, {"file": a_file(content)}))
    assert page.all("a", href=f"/submissions/{one.pk}/")
    assert re.search(r"This file was scored on \d+ \w+ \d+: 0.61234", page.words)


def test_a_used_up_quota_links_to_its_history(make: Make, member: User, client: Client) -> None:
    a_phase(make, member, quota_per_day=0)
    assert Page(client.get(ADDRESS)).all("a", href="/challenges/c/team#statement")


def test_a_file_that_is_too_large_is_refused(make: Make, member: User, client: Client, settings: Settings) -> None:
    settings.UPLOAD_MAX_BYTES = 10
    a_phase(make, member)
    page = Page(client.post(ADDRESS, {"file": a_file()}))
    assert page.status == 413
    assert "file_too_large" in page.words


def test_a_form_without_a_file_is_invalid(make: Make, member: User, client: Client) -> None:
    a_phase(make, member)
    page = Page(client.post(ADDRESS, {"note": "nothing"}))
    assert page.status == 422
    assert page.all("p", id="id_file_error")


def test_an_empty_file_is_accepted(make: Make, member: User, client: Client, inline_queue: InlineQueue) -> None:
    a_phase(make, member)
    assert client.post(ADDRESS, {"file": a_file(b"")}).status_code == 302


def test_the_page_shows_quota_and_deadline(make: Make, member: User, client: Client, inline_queue: InlineQueue) -> None:
    a_phase(make, member, closes_at=NOW + 30 * HOUR)
    client.post(ADDRESS, {"file": a_file()})
    page = Page(client.get(ADDRESS))
    assert "Closes in 1 day 5 hours" in page.words
    assert (len(page.all("rect", class_="used")), len(page.all("rect", class_="left"))) == (1, 4)


def test_a_used_up_quota_says_when_the_next_submission_is_allowed(
    make: Make, member: User, client: Client, inline_queue: InlineQueue
) -> None:
    a_phase(make, member, quota_per_day=1)
    client.post(ADDRESS, {"file": a_file()})
    words = Page(client.get(ADDRESS)).words
    assert "0 of 1 left today (UTC) next in" in words


def test_the_form_shows_every_limit_of_a_file(make: Make, member: User, client: Client, settings: Settings) -> None:
    settings.UPLOAD_MAX_BYTES, settings.DECOMPRESSED_MAX_BYTES = 3 * 2**20, 5 * 2**20
    settings.SUBMISSION_MAX_BOXES, settings.SUBMISSION_MAX_IMAGES = 7_000, 8_000
    a_phase(make, member)
    words = Page(client.get(ADDRESS)).words
    assert "at most 3 MiB uploaded, 5 MiB uncompressed, 7,000 predictions, 8,000 images" in words


def test_the_page_shows_commands_with_the_names_of_the_phase(
    make: Make, member: User, client: Client, settings: Settings
) -> None:
    settings.PODIUM_URL = "https://podium.example.org"
    a_phase(make, member, slug="main")
    context = Page(client.get(ADDRESS)).context
    assert "podium submit c --phase main -f predictions.csv" in context["submit_command"]
    assert "https://podium.example.org/api/v1/challenges/c/phases/main/submissions" in context["upload_command"]
    assert "join" not in context["submit_command"] + context["upload_command"]


def test_the_page_gives_scripts_the_size_limit_of_a_file(
    make: Make, member: User, client: Client, settings: Settings
) -> None:
    a_phase(make, member)
    form = Page(client.get(ADDRESS)).all("form", enctype="multipart/form-data")[0]
    assert form["data-upload"] == str(settings.UPLOAD_MAX_BYTES)


@pytest.mark.phase(challenge={"slug": "c", "rules": "Play *fair*."})
class TestFirstFile:
    @pytest.mark.parametrize("page", ["submit", "data"])
    def test_the_commands_begin_with_podium_join(self, page: str, phase: Any, member: User, client: Client) -> None:
        context = Page(client.get(f"/challenges/c/{page}")).context
        assert "\npodium join c --accept-rules\npodium submit c " in context["submit_command"]
        assert page == "data" or "/api/v1/challenges/c/join\ncurl" in context["upload_command"]

    def test_the_page_shows_the_rules_and_asks_for_a_team_name(self, phase: Any, member: User, client: Client) -> None:
        page = Page(client.get(ADDRESS))
        assert "Play fair" in page.words
        assert "Accept the rules and submit" in page.words
        assert page.all("input", name="team_name")

    @pytest.mark.parametrize(("name", "team"), [("Owls", "Owls"), ("", "ada")])
    @pytest.mark.member(username="ada")
    def test_a_person_can_join_by_submitting_a_first_file(
        self, name: str, team: str, phase: Any, member: User, client: Client, inline_queue: InlineQueue
    ) -> None:
        (form,) = Page(client.get(ADDRESS)).all("form", enctype="multipart/form-data")
        client.post(form["action"], {"file": a_file(), "team_name": name})
        assert Submission.objects.get().team.name == team
        assert member.memberships.get().rules_accepted_at is not None

    def test_a_first_file_without_consent_is_refused(
        self, phase: Any, member: User, client: Client, inline_queue: InlineQueue
    ) -> None:
        page = Page(client.post(ADDRESS, {"file": a_file(), "team_name": "Owls"}))
        assert (page.status, "rules_not_accepted" in page.words) == (403, True)
        assert not Submission.objects.exists()
        assert not member.memberships.exists()

    def test_a_first_file_without_consent_is_not_read(
        self, phase: Any, member: User, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(HashingUploadHandler, "new_file", lambda *about, **more: pytest.fail("the file was read"))
        assert client.post(ADDRESS, {"file": a_file()}).status_code == 403
        with pytest.raises(pytest.fail.Exception):
            client.post(ACCEPTED, {"file": a_file()})

    # Unicode normalization makes the note too long.
    @pytest.mark.parametrize("fields", [{"note": "\ufdfa" * 30}, {"file": a_file(b"x" * 11)}])
    def test_a_person_whose_first_file_is_refused_does_not_join(
        self, fields: Any, phase: Any, member: User, client: Client, settings: Settings
    ) -> None:
        settings.UPLOAD_MAX_BYTES = 10
        page = Page(client.post(ACCEPTED, {"file": a_file(b"x"), "team_name": "Owls", **fields}))
        assert page.status in (413, 422)
        assert page.all("input", name="team_name")[0]["value"] == "Owls"
        assert not member.memberships.exists()

    def test_a_taken_team_name_is_refused(
        self, phase: Any, make: Make, member: User, client: Client, inline_queue: InlineQueue
    ) -> None:
        make.team(phase.challenge, name="Owls")
        page = Page(client.post(ACCEPTED, {"file": a_file(), "team_name": "Owls"}))
        assert page.status == 422
        assert not member.memberships.exists()

    @pytest.mark.parametrize(
        ("fields", "code", "status"),
        [
            ({"join_until": NOW - HOUR}, "not_a_member", 403),
            ({"registration": "approval"}, "not_a_member", 403),
            ({"allowed_domains": "example.com"}, "forbidden", 403),
            ({"opens_at": NOW + HOUR}, "phase_not_open", 409),
        ],
    )
    def test_people_who_are_not_allowed_to_join_now_cannot_submit(
        self,
        fields: Any,
        code: str,
        status: int,
        make: Make,
        member: User,
        client: Client,
        inline_queue: InlineQueue,
    ) -> None:
        make.phase(make.challenge(slug="c", **fields))
        page = Page(client.post(ACCEPTED, {"file": a_file()}))
        assert (page.status, code in page.words) == (status, True)
        assert not member.memberships.exists()
