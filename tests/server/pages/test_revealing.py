"""Organizers reveal private scores with a separate action.

The reveal can be cancelled for ten minutes, during which participants cannot read the scores yet.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from server.audit.models import Entry
from server.challenges.models import Phase
from server.clock import database_now
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.pages.edits import save

START, END = datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
PRIVATE = 0.4321098765432101
REVEAL = "/organize/challenges/c/phases/main/reveal"
TEN_MINUTES = timedelta(minutes=10)
FIELDS: dict[str, Any] = {"challenge": {"slug": "c", "opens_at": START}, "slug": "main"}
ROUTES = (
    *("/challenges/c/leaderboard?split=private", "/challenges/c/leaderboard.csv?split=private"),
    *("/challenges/c/leaderboard/history?split=private", "/challenges/c/leaderboard/compare?split=private"),
    *("/challenges/c/leaderboard?split=all", "/challenges/c/results.json?preliminary=1"),
    *("/challenges/c/results.csv?preliminary=1", "/api/v1/challenges/c/phases/main/results?preliminary=1"),
    *(f"/api/v1/challenges/c/phases/main/leaderboard?split={split}" for split in ("private", "all")),
    "/api/v1/challenges/c/phases/main/leaderboard/history?split=private",
)
pytestmark = pytest.mark.phase(**FIELDS, closes_at=END, reveal="manual")


@pytest.fixture
def owls(phase: Phase, scored: Scored, make: Make) -> Client:
    """Create a scored submission, and return the test client of a member of its team."""
    member = make.user()
    scored(phase, 0.5, private=PRIVATE, team=make.team(phase.challenge, member, name="Owls"))
    return client_of(member)


@pytest.fixture
def owner(phase: Phase, make: Make) -> Client:
    user = make.user()
    phase.challenge.organizers.add(user)
    return client_of(user)


def client_of(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def addresses(phase: Phase) -> list[str]:
    submission = phase.submissions.get()
    own = (f"/submissions/{submission.pk}/", f"/submissions/{submission.pk}/report.json")
    return [*ROUTES, *own, f"/api/v1/submissions/{submission.pk}", "/challenges/c/submissions"]


def readable(client: Client, phase: Phase) -> set[str]:
    """Return the URLs whose responses contain a private score, and the URLs in ROUTES that the client can open."""
    found = set()
    for address in addresses(phase):
        answer = client.get(address)
        content = b"".join(answer) if answer.streaming else answer.content
        if b"0.4321" in content or (address in ROUTES and answer.status_code == 200):
            found.add(address)
    return found


def test_private_scores_of_a_closed_phase_wait_for_the_reveal(phase: Phase, owls: Client, client: Client) -> None:
    assert readable(owls, phase) == readable(client, phase) == set()
    assert Phase.objects.get().revealed_at is None
    assert b"when the organizers reveal it" in client.get("/challenges/c/leaderboard").content
    Phase.objects.update(reveals_at=database_now() + TEN_MINUTES)
    assert readable(owls, phase) == readable(client, phase) == set()
    Phase.objects.update(reveals_at=END)
    assert set(ROUTES) <= readable(owls, phase)
    assert Phase.objects.get().revealed_at is not None


def test_a_tag_from_before_the_reveal_is_not_valid_afterwards(phase: Phase, owls: Client) -> None:
    for address in ("/challenges/c/leaderboard", "/api/v1/challenges/c/phases/main/leaderboard?split=private"):
        Phase.objects.update(reveals_at=None)
        before = owls.get(address).headers.get("ETag", "")
        Phase.objects.update(reveals_at=END)
        assert owls.get(address, headers={"If-None-Match": before}).status_code == 200


def test_an_owner_reveals_by_typing_the_name_and_takes_it_back(phase: Phase, owls: Client, owner: Client) -> None:
    assert owner.post(REVEAL, {"confirm": "something"}).status_code == 422
    before = database_now()
    assert owner.post(REVEAL, {"confirm": "main"}).status_code == 302
    assert Phase.objects.get().reveals_at >= before + TEN_MINUTES
    assert readable(owls, phase) == set()
    assert b"Cancel the reveal" in owner.get(REVEAL).content
    assert owner.post(REVEAL, {"confirm": "main"}).status_code == 409
    assert owner.post(REVEAL, {"take_back": "1"}).status_code == 302
    assert Phase.objects.get().reveals_at is None
    assert owner.post(REVEAL, {"take_back": "1"}).status_code == 409
    found = Entry.objects.order_by("number").values_list("action", flat=True)
    assert list(found) == ["phase.revealed", "phase.reveal_taken_back"]


def test_shown_scores_cannot_be_taken_back(phase: Phase, owner: Client) -> None:
    Phase.objects.update(reveals_at=END)
    assert owner.post(REVEAL, {"take_back": "1"}).status_code == 409
    assert b"Cancel the reveal" not in owner.get(REVEAL).content


@pytest.mark.phase(closes_at=None)
def test_an_open_phase_cannot_be_revealed(phase: Phase, owner: Client) -> None:
    assert owner.post(REVEAL, {"confirm": "main"}).status_code == 409


@pytest.mark.phase(closes_at=None, reveal="at_close")
def test_closing_a_phase_acts_at_once_and_reveals_ten_minutes_later(phase: Phase, owls: Client, owner: Client) -> None:
    before = database_now()
    assert save(owner, phase, closes_at=f"{END:%Y-%m-%dT%H:%M:%S}", confirm="main").status_code == 302
    found = Phase.objects.get()
    assert found.has_closed(database_now())
    assert found.reveals_at >= before + TEN_MINUTES
    assert readable(owls, phase) == set()
    assert save(owner, found, closes_at="").status_code == 302  # Removing the closing date reopens the phase.
    assert Phase.objects.get().reveals_at is None
    assert Phase.objects.get().is_open(database_now())


@pytest.mark.phase(closes_at=None, reveal="at_close")
def test_closing_the_challenge_delays_the_reveal_of_its_phases(phase: Phase, owls: Client, owner: Client) -> None:
    closing = f"{END:%Y-%m-%dT%H:%M:%S}"
    assert save(owner, phase.challenge, closes_at=closing, confirm="c").status_code == 302
    assert readable(owls, phase) == set()
    assert owner.post(REVEAL, {"take_back": "1"}).status_code == 302
    assert (Phase.objects.get().reveal, Phase.objects.get().reveals_at) == ("manual", None)


def test_a_change_to_at_close_reveals_ten_minutes_later(phase: Phase, owls: Client, owner: Client) -> None:
    refused = save(owner, phase, reveal="at_close")
    assert (refused.status_code, b"10 minutes after this change" in refused.content) == (422, True)
    assert save(owner, phase, reveal="at_close", confirm="main").status_code == 302
    assert readable(owls, phase) == set()
    assert Phase.objects.get().reveals_at > database_now()


@pytest.mark.phase(reveal="at_close")
def test_an_edit_of_a_closed_phase_does_not_hide_its_scores(phase: Phase, owls: Client, owner: Client) -> None:
    assert save(owner, phase, title="New title").status_code == 302
    assert set(ROUTES) <= readable(owls, phase)
