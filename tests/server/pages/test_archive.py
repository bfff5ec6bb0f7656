"""An archived challenge is read-only until an owner unarchives the challenge."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from server.audit.models import Entry
from server.challenges.models import Challenge, Phase
from server.errors import Refused
from server.organize.services import rescoring
from tests.conftest import Make
from tests.server.conftest import Scored

START, END = datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
ARCHIVE = "/organize/challenges/c/archive"
FIELDS: dict[str, Any] = {"challenge": {"slug": "c", "opens_at": START}, "slug": "main"}
pytestmark = pytest.mark.phase(**FIELDS, closes_at=END)


@pytest.fixture
def owner(phase: Phase, make: Make) -> Client:
    user, client = make.user(), Client()
    phase.challenge.organizers.add(user)
    client.force_login(user)
    return client


@pytest.fixture
def archived(owner: Client) -> Client:
    """Archive the challenge, and return the test client of its owner."""
    assert owner.post(ARCHIVE, {"confirm": "c"}).status_code == 302
    return owner


def test_archiving_needs_the_name_and_is_taken_back_without(phase: Phase, owner: Client) -> None:
    assert owner.post(ARCHIVE, {"confirm": "something"}).status_code == 422
    assert owner.post(ARCHIVE, {"confirm": "c"}).status_code == 302
    assert Challenge.objects.get().archived_at is not None
    assert owner.post(ARCHIVE, {"take_back": "1"}).status_code == 302
    assert Challenge.objects.get().archived_at is None
    found = Entry.objects.order_by("number").values_list("action", flat=True)
    assert list(found) == ["challenge.archived", "challenge.unarchived"]


@pytest.mark.phase(closes_at=None)
def test_an_open_challenge_cannot_be_archived(phase: Phase, owner: Client) -> None:
    refused = owner.post(ARCHIVE, {"confirm": "c"})
    assert (refused.status_code, b"the private scores are not shown yet" in refused.content) == (409, True)


def test_only_owners_archive(phase: Phase, owner: Client, make: Make) -> None:
    editor, client = make.user(), Client()
    phase.challenge.organizers.add(editor, through_defaults={"role": "editor"})
    client.force_login(editor)
    assert client.post(ARCHIVE, {"confirm": "c"}).status_code == 403
    owner.post(ARCHIVE, {"confirm": "c"})
    assert client.post(ARCHIVE, {"take_back": "1"}).status_code == 403


def test_nothing_can_be_changed(phase: Phase, archived: Client, make: Make, scored: Scored) -> None:
    member, stranger = Client(), Client()
    user = make.user()
    submission = scored(phase, 0.5, private=0.4, team=make.team(phase.challenge, user))
    member.force_login(user)
    stranger.force_login(make.user())
    pages, phases = "/organize/challenges/c", "/organize/challenges/c/phases/main"
    file = {"file": SimpleUploadedFile("f.csv", b"ImageId\n")}
    tries = [
        (archived, f"{pages}/edit", {"title": "New"}),
        (archived, f"{pages}/publish", {"visibility": "private"}),
        (archived, f"{pages}/new-phase", {}),
        (archived, f"{phases}/edit", {"title": "New"}),
        (archived, f"{phases}/rescore", {}),
        (archived, f"{phases}/truth", {}),
        (archived, f"{phases}/reveal", {"confirm": "main"}),
        (archived, f"{phases}/submissions/{submission.pk}/requeue", {}),
        (archived, "/challenges/c/organizers/add", {"username": "x", "role": "viewer"}),
        (archived, "/challenges/c/announcements", {"title": "x", "text": "x"}),
        (member, "/challenges/c/submit", file),
        (member, "/challenges/c/team/rename", {"name": "Other"}),
        (member, "/challenges/c/team/leave", {}),
        (member, f"/submissions/{submission.pk}/edit", {"note": "new"}),
        (stranger, "/challenges/c/join", {"accept_rules": "on"}),
    ]
    statuses = [(address, client.post(address, data).status_code) for client, address, data in tries]
    assert statuses == [(address, 409) for _, address, _ in tries]
    with pytest.raises(Refused, match="archived"):
        rescoring.start(phase=Phase.objects.get(), by=None)


def test_pages_downloads_and_results_stay(phase: Phase, archived: Client, client: Client, scored: Scored) -> None:
    scored(phase, 0.5, private=0.4)
    readable = ("", "rules", "data", "leaderboard", "leaderboard.csv", "results.json", "changes")
    for page in readable:
        assert client.get(f"/challenges/c/{page}").status_code == 200
    assert b"archived: read-only" in client.get("/challenges/c/").content
    assert b"archived" in client.get("/").content
    assert b"This challenge is archived" in archived.get("/organize/challenges/c").content
    assert archived.get("/organize/challenges/c/phases/main/submissions.csv").status_code == 200
    # Exports are allowed, but this export fails, because the stored ground truth is an empty file.
    assert archived.post("/organize/challenges/c/export").status_code == 422
