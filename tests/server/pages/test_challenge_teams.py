"""Organizers find every team of a challenge on one page, and decide on requests to join the challenge there."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from server.accounts.models import User
from server.audit.models import Entry
from server.challenges.approval import enter
from server.challenges.models import Challenge, JoinRequest, Membership, Phase
from tests.conftest import Make
from tests.server.page import Page

pytestmark = [
    pytest.mark.phase(challenge={"slug": "c", "registration": "approval"}, slug="main"),
    pytest.mark.usefixtures("organizer"),
]
PATH = "/organize/challenges/c/teams"


@pytest.fixture
def organizer(phase: Phase, member: User) -> User:
    phase.challenge.organizers.add(member)
    return member


@pytest.fixture
def waiting(phase: Phase, make: Make) -> JoinRequest:
    found = enter(user=make.user(username="ada"), challenge=phase.challenge, accept_rules=True, team_name="Aurora")
    assert isinstance(found, JoinRequest)
    return found


def test_a_team_without_submissions_can_be_found(phase: Phase, make: Make, client: Client) -> None:
    owls = make.team(phase.challenge, make.user(), make.user(), name="Straße")
    make.submission(phase, make.team(phase.challenge, name="Bats"))
    make.team(phase.challenge, name="Center", is_baseline=True)
    make.team(make.challenge(), name="Elsewhere")
    page = Page(client.get(PATH))
    assert "2 teams" in page.words
    assert f"/organize/challenges/c/phases/main/teams/{owls.pk}" in page.links()
    found = Page(client.get(f"{PATH}?q=STRASSE"))
    assert ("1 team" in found.words, "Bats" in found.words) == (True, False)
    rows = Page(client.get(PATH)).context["rows"]
    assert [(team.name, team.members, count) for team, count in rows] == [("Bats", 1, 1), ("Straße", 2, 0)]


def test_the_number_of_queries_does_not_grow_with_the_number_of_teams(phase: Phase, make: Make, client: Client) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(PATH).status_code == 200
        return len(queries)

    make.submission(phase, make.team(phase.challenge))
    count()  # This request fills the caches before queries are counted.
    few = count()
    for _ in range(9):
        make.submission(phase, make.team(phase.challenge))
    assert count() == few


def test_a_request_is_approved(waiting: JoinRequest, organizer: User, client: Client) -> None:
    assert "waiting for approval" in Page(client.get(PATH)).words
    page = Page(client.post(PATH, {"act": "approve", "request": waiting.pk}, follow=True))
    assert "ada joined the challenge with the team Aurora." in page.words
    assert Membership.objects.get(user=waiting.user).team.name == "Aurora"
    entry = Entry.objects.get(action="registration.approved")
    assert (entry.actor, entry.detail) == (organizer.username, {"user": waiting.user_id})


def test_a_request_is_declined_and_can_still_be_approved(waiting: JoinRequest, client: Client) -> None:
    page = Page(client.post(PATH, {"act": "decline", "request": waiting.pk}, follow=True))
    assert "The request from ada was declined." in page.words
    assert JoinRequest.objects.get().status == "declined"
    assert not page.all("button", value="decline")
    client.post(PATH, {"act": "approve", "request": waiting.pk})
    assert Membership.objects.filter(user=waiting.user).exists()


def test_a_request_that_cannot_be_approved_remains(waiting: JoinRequest, client: Client) -> None:
    User.objects.filter(pk=waiting.user_id).update(is_staff=True)
    refused = client.post(PATH, {"act": "approve", "request": waiting.pk})
    assert refused.status_code == 403
    assert JoinRequest.objects.exists()
    assert not Entry.objects.filter(action="registration.approved").exists()


def test_a_request_to_join_another_challenge_is_not_found(make: Make, client: Client) -> None:
    other: Challenge = make.challenge(registration="approval")
    found = enter(user=make.user(), challenge=other, accept_rules=True)
    assert client.post(PATH, {"act": "approve", "request": found.pk}).status_code == 404


@pytest.mark.parametrize("form", [{}, {"act": "approve"}, {"act": "approve", "request": "x"}, {"request": "1"}])
def test_a_form_without_a_decision_changes_nothing(form: dict[str, str], waiting: JoinRequest, client: Client) -> None:
    assert client.post(PATH, form).status_code == 422
    assert JoinRequest.objects.get().status == "waiting"
