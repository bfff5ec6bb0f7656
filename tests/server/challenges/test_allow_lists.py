"""Organizers restrict a challenge to email domains and to people on a list, which participants never see."""

import pytest
from allauth.account.models import EmailAddress
from django.test import Client

from server.accounts.services import confirm_own_address
from server.challenges.services import join
from server.errors import Refused
from server.teams.services import invitations, members
from tests.conftest import Make
from tests.server.page import Page

LISTED = "ada@example.org bob"


@pytest.mark.parametrize(
    ("username", "email", "confirmed", "domains", "may_join"),
    [
        ("ada", "ada@example.org", True, "", True),
        ("ada", "Ada@Example.org", True, "", True),
        ("ada", "ada@example.org", False, "", False),
        # A username that equals an address on the list gives no access, because anybody can choose it.
        ("ada@example.org", "eve@example.com", True, "", False),
        ("Bob", "bob@example.com", False, "", True),
        ("eve", "bob@example.com", True, "", False),
        ("eve", "eve@example.com", True, "example.com", True),
        ("eve", "eve@example.com", True, "example.net", False),
        ("bob", "bob@example.com", True, "example.net", True),
    ],
)
def test_people_on_either_list_can_join(
    username: str, email: str, confirmed: bool, domains: str, may_join: bool, make: Make
) -> None:
    challenge = make.challenge(allowed_people=LISTED, allowed_domains=domains)
    user = make.user(username=username, email=email)
    confirm_own_address(user)
    EmailAddress.objects.update(verified=confirmed)
    if may_join:
        assert join(user=user, challenge=challenge, accept_rules=True)
        return
    with pytest.raises(Refused) as caught:
        join(user=user, challenge=challenge, accept_rules=True)
    assert caught.value.code == "forbidden"
    assert not any(word in caught.value.detail for word in LISTED.split())
    assert domains in caught.value.detail


def test_a_person_who_is_not_listed_cannot_accept_an_invitation(make: Make) -> None:
    team = make.team(make.challenge(allowed_people=LISTED), ada := make.user())
    eve = make.user(username="eve")
    invited = invitations.invite(team=team, by=ada, username="eve")
    assert any("on the organizers' list" in reason for reason in members.reasons_against_entering(eve, team))
    with pytest.raises(Refused, match="on the organizers' list"):
        invitations.accept(invitation=invited, by=eve, accept_rules=True)


@pytest.mark.parametrize("domains", ["", "example.net"])
def test_the_page_for_joining_mentions_the_list_but_nobody_on_it(domains: str, make: Make, client: Client) -> None:
    make.phase(make.challenge(slug="c", allowed_people=LISTED, allowed_domains=domains))
    client.force_login(make.user())
    words = Page(client.get("/challenges/c/rules")).words
    assert "the organizers have listed" in words
    assert "ada@example.org" not in words
