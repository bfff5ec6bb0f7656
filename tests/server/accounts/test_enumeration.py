"""Login and invitations do not reveal whether an email address has an account.

`test_signup.py` and `test_mails.py` test the same for sign-up and forgotten passwords.
"""

import pytest
from django.test import Client

from server.challenges.models import Phase, Team
from server.errors import Refused
from server.teams.services import invitations
from tests.conftest import Make
from tests.server.documented import Api
from tests.server.page import Page

KNOWN, UNKNOWN = "grace@example.org", "nobody@example.org"


@pytest.fixture
def grace(make: Make) -> None:
    make.user(username="grace", email=KNOWN)


def seen_at_login(address: str, password: str) -> tuple[int, str]:
    answer = Client().post("/accounts/login", {"login": address, "password": password})
    return answer.status_code, Page(answer).words.replace(address, "ADDRESS")


@pytest.mark.parametrize("password", ["wrong", "correct horse battery"])
def test_logging_in_gives_the_same_response_for_known_and_unknown_addresses(grace: None, password: str) -> None:
    known = seen_at_login(KNOWN, password)
    assert known == seen_at_login(UNKNOWN, password)
    assert known[0] != 302


def test_login_is_locked_after_the_same_number_of_attempts_for_known_and_unknown_addresses(grace: None) -> None:
    seen = [[seen_at_login(address, "wrong") for _ in range(12)] for address in (KNOWN, UNKNOWN)]
    assert [status for status, _ in seen[0]] == [status for status, _ in seen[1]]


def test_an_invitation_does_not_find_people_by_address(grace: None, phase: Phase, make: Make) -> None:
    team = make.team(phase.challenge, captain := make.user())
    details = []
    for address in (KNOWN, UNKNOWN):
        with pytest.raises(Refused) as refused:
            invitations.invite(team=team, by=captain, username=address)
        details.append((refused.value.code, refused.value.detail))
    assert details[0] == details[1] == ("invalid", "There is no user with this name who can see this challenge.")


@pytest.mark.phase(challenge={"slug": "c"})
def test_the_api_invites_nobody_by_address(grace: None, team: Team, api: Api) -> None:
    user = team.memberships.get().user
    answers = [api.post("challenges/c/team/invitations", {"user": address}, user=user) for address in (KNOWN, UNKNOWN)]
    assert {(answer.status_code, answer.json()["detail"]) for answer in answers} == {
        (422, "There is no user with this name who can see this challenge.")
    }
