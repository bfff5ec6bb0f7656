"""Participants who are offered an organizer role are warned that accepting it removes their team from leaderboards."""

import pytest
from django.test import Client

from server.audit.models import Entry
from server.challenges.models import Organizer, Phase, RoleOffer, Team
from server.notices.models import Notice
from server.notices.services.deriving import derive
from tests.conftest import Make
from tests.server.conftest import Scored

OFFER, ADD = "/challenges/c/organizers/offer", "/challenges/c/organizers/add"
pytestmark = pytest.mark.phase(challenge={"slug": "c"}, slug="main")


@pytest.fixture
def owner(phase: Phase, make: Make) -> Client:
    user, client = make.user(), Client()
    phase.challenge.organizers.add(user)
    client.force_login(user)
    return client


@pytest.fixture
def ada(phase: Phase, make: Make, scored: Scored) -> Client:
    """Return the test client of a logged-in participant whose team is on the leaderboard."""
    user, client = make.user(username="ada"), Client()
    scored(phase, 0.5, private=0.4, team=make.team(phase.challenge, user, make.user(), name="Owls"))
    client.force_login(user)
    return client


def is_listed(client: Client) -> bool:
    return b"Owls" in client.get("/api/v1/challenges/c/phases/main/leaderboard").content


@pytest.mark.parametrize("role", ["owner", "editor", "viewer"])
def test_accepting_a_role_takes_the_team_off_the_leaderboards(
    phase: Phase, owner: Client, ada: Client, client: Client, role: str
) -> None:
    derive()
    assert owner.post(ADD, {"username": "ada", "role": role}).status_code == 302
    assert not Organizer.objects.filter(user__username="ada").exists()
    assert b"has not yet accepted" in owner.get("/challenges/c/organizers").content
    derive()
    assert "your team is removed" in Notice.objects.get(user__username="ada").event.text
    assert b"your team is removed from all leaderboards" in ada.get(OFFER).content
    assert is_listed(client)
    assert ada.post(OFFER, {"accept": "1"}).status_code == 302
    assert Organizer.objects.get(user__username="ada").role == role
    assert not is_listed(client)
    assert "became an organizer" in Team.objects.get(name="Owls").disqualification_reason
    found = Entry.objects.filter(action__in=("organizer.offered", "team.disqualified", "organizer.added"))
    assert [one.action for one in found.order_by("number")] == [
        "organizer.offered",
        "team.disqualified",
        "organizer.added",
    ]


def test_a_declined_or_withdrawn_offer_changes_nothing(
    phase: Phase, owner: Client, ada: Client, client: Client
) -> None:
    owner.post(ADD, {"username": "ada", "role": "viewer"})
    assert ada.post(OFFER, {"decline": "1"}).status_code == 302
    owner.post(ADD, {"username": "ada", "role": "viewer"})
    owner.post(f"/challenges/c/organizers/offers/{RoleOffer.objects.get().pk}/withdraw")
    assert ada.post(OFFER, {"accept": "1"}).status_code == 404
    assert is_listed(client)
    assert not Organizer.objects.filter(user__username="ada").exists()


def test_only_the_person_with_the_offer_can_accept_it(phase: Phase, owner: Client, ada: Client, make: Make) -> None:
    owner.post(ADD, {"username": "ada", "role": "viewer"})
    stranger = Client()
    stranger.force_login(make.user())
    for other in (owner, stranger):
        assert other.post(OFFER, {"accept": "1"}).status_code == 404
    assert RoleOffer.objects.exists()
