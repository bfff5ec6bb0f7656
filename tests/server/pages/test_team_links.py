"""Tests the page of an invitation link: other sites do not receive the token, and the link works after a sign-up."""

from datetime import timedelta

import pytest
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Challenge, Phase, Team
from server.clock import database_now
from server.teams.models import Invitation
from server.teams.services import invitations
from tests.conftest import Make
from tests.server.page import Page

pytestmark = [pytest.mark.phase(challenge={"slug": "c", "title": "Cats", "rules": "Be kind."})]
PASSWORD = "a long and unusual sentence"


@pytest.fixture
def owls(make: Make, phase: Phase) -> Team:
    return make.team(phase.challenge, make.user(username="ada"), name="Owls")


@pytest.fixture
def token(owls: Team) -> str:
    return invitations.invite_by_link(team=owls, by=owls.memberships.get().user)[1]


def as_(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def test_the_address_of_the_page_does_not_contain_the_token(token: str) -> None:
    client = Client()
    response = client.get(f"/invitations/{token}")
    assert (response.status_code, response["Location"]) == (302, "/invitation")
    assert response["Cache-Control"].startswith("max-age=0")
    cookie = response.cookies["invitation"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/invitation")
    page = client.get("/invitation")
    assert token.encode() not in page.content
    assert page["Referrer-Policy"] == "same-origin"
    assert Invitation.objects.get()  # The invitation is still valid after its link was opened.


def test_a_person_without_an_account_signs_up_and_then_joins(token: str, owls: Team) -> None:
    client = Client()
    page = Page(client.get(f"/invitations/{token}", follow=True))
    assert "Owls" in page.words
    assert "Be kind." in page.words
    (link,) = [link for link in page.links() if link.startswith("/accounts/signup") and "next=/invitation" in link]
    form = {"username": "bob", "email": "bob@example.org", "password1": PASSWORD, "next": "/invitation"}
    page = Page(client.post(link, form, follow=True))
    assert page.all("button", value="accept")
    assert Page(client.post("/invitation")).status == 403
    page = Page(client.post("/invitation", {"accept_rules": "on"}, follow=True))
    assert "You are now in Owls" in page.words
    assert owls.memberships.count() == 2
    assert client.get("/invitation").status_code == 404


def test_a_link_admits_only_one_person(token: str, owls: Team, make: Make) -> None:
    first, second = as_(make.user()), as_(make.user())
    for client in (first, second):
        client.get(f"/invitations/{token}")
    statuses = [client.post("/invitation", {"accept_rules": "on"}).status_code for client in (first, second)]
    assert statuses == [302, 404]
    assert owls.memberships.count() == 2


@pytest.mark.parametrize("end", ["withdrawn", "expired", "guessed", "too long"])
def test_an_invalid_token_shows_nothing_about_the_team(end: str, token: str, owls: Team, make: Make) -> None:
    if end == "withdrawn":
        invitations.close(invitation=Invitation.objects.get(), by=owls.memberships.get().user)
    elif end == "expired":
        Invitation.objects.update(expires_at=database_now() - timedelta(seconds=1))
    address = {"guessed": token[:-1] + "x", "too long": "a" * 200}.get(end, token)
    client = as_(make.user())
    page = Page(client.get(f"/invitations/{address}", follow=True))
    assert page.status == 404
    assert "Owls" not in page.words
    assert client.post("/invitation", {"accept_rules": "on"}).status_code == 404


def test_a_private_challenge_is_not_revealed_by_an_invitation(token: str, make: Make) -> None:
    Challenge.objects.update(visibility="private")
    for client in (Client(), as_(make.user())):
        page = Page(client.get(f"/invitations/{token}", follow=True))
        assert page.status == 404
        assert "Cats" not in page.words


def test_the_only_member_of_a_team_sees_that_joining_would_delete_it(token: str, phase: Phase, make: Make) -> None:
    bob = make.user()
    make.team(phase.challenge, bob, name="Crows")
    client = as_(bob)
    assert "which is deleted if you are its only member" in Page(client.get(f"/invitations/{token}", follow=True)).words
    client.post("/invitation")
    assert [team.name for team in Team.objects.all()] == ["Owls"]


def test_a_person_who_may_not_join_gets_the_reasons_and_no_button(token: str, phase: Phase, make: Make) -> None:
    phase.challenge.organizers.add(organizer := make.user())
    page = Page(as_(organizer).get(f"/invitations/{token}", follow=True))
    assert "they cannot take part" in page.words
    assert not page.all("button", value="accept")


def test_a_forged_form_without_csrf_token_is_refused(token: str, owls: Team, make: Make) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.user())
    client.get(f"/invitations/{token}")
    assert client.post("/invitation", {"accept_rules": "on"}).status_code == 403
    assert owls.memberships.count() == 1
