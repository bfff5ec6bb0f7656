"""Tests invitations and requests to join: how often people can be contacted, and who cannot be invited at all."""

from datetime import timedelta

import pytest
from django.db.models import F
from pytest_django import Settings

from server.accounts.models import User
from server.challenges.models import JoinRequest, Phase, Team
from server.clock import database_now
from server.errors import Refused
from server.teams.models import Invitation, SentInvitation
from server.teams.services import invitations, members, merging
from tests.conftest import Make


@pytest.fixture
def owls(make: Make, phase: Phase) -> Team:
    return make.team(phase.challenge, make.user(username="ada"), name="Owls")


@pytest.fixture
def ada(owls: Team) -> User:
    return owls.memberships.get().user


def test_nobody_is_invited_again_within_14_days_of_an_invitation_however_it_ended(
    make: Make, owls: Team, ada: User
) -> None:
    bob = make.user(username="bob")
    first = invitations.invite(team=owls, by=ada, username="bob")
    invitations.close(invitation=first, by=ada)
    with pytest.raises(Refused, match="14 days") as refused:
        invitations.invite(team=owls, by=ada, username="bob")
    assert refused.value.code == "rate_limited"
    assert 13 * 86400 < int(refused.value.headers["Retry-After"]) <= 14 * 86400
    SentInvitation.objects.update(sent_at=F("sent_at") - timedelta(days=14))
    again = invitations.invite(team=owls, by=ada, username="bob")
    invitations.close(invitation=again, by=bob)
    with pytest.raises(Refused, match="14 days"):
        invitations.invite(team=owls, by=ada, username="bob")


def test_creating_a_new_team_does_not_allow_more_invitations(make: Make, phase: Phase, owls: Team, ada: User) -> None:
    make.user(username="bob")
    invitations.invite(team=owls, by=ada, username="bob")
    members.leave(team=owls, by=ada)
    assert not Team.objects.exists()
    with pytest.raises(Refused, match="14 days"):
        invitations.invite(team=make.team(phase.challenge, ada), by=ada, username="bob")


def test_the_number_of_invitations_that_a_person_sends_or_receives_in_a_day_is_limited(
    make: Make, owls: Team, ada: User, settings: Settings
) -> None:
    settings.INVITATIONS_PER_DAY = 2
    people = [make.user() for _ in range(3)]
    for person in people[:2]:
        invitations.invite(team=owls, by=ada, username=person.username)
    with pytest.raises(Refused, match="ada has sent 2"):
        invitations.invite(team=owls, by=ada, username=people[2].username)
    for _ in range(2):
        other = make.phase().challenge
        team = make.team(other, captain := make.user())
        invitations.invite(team=team, by=captain, username=people[2].username)
    with pytest.raises(Refused, match=f"{people[2]} has received 2"):
        invitations.invite(team=make.team(owls.challenge, late := make.user()), by=late, username=people[2].username)
    assert invitations.invite_by_link(team=owls, by=ada)[1]


def test_a_declined_request_cannot_be_repeated_at_once(make: Make, owls: Team, ada: User) -> None:
    bob = make.user()
    asked = invitations.ask(user=bob, team=owls, accept_rules=True)
    invitations.close(invitation=asked, by=ada)
    with pytest.raises(Refused, match="14 days"):
        invitations.ask(user=bob, team=owls, accept_rules=True)


def test_a_declined_merge_cannot_be_proposed_again_at_once(make: Make, phase: Phase, owls: Team, ada: User) -> None:
    crows = make.team(phase.challenge, bob := make.user(username="bob"), name="Crows")
    invitations.invite(team=owls, by=ada, username="bob")
    proposal = merging.propose(team=owls, other=crows, by=ada)
    merging.close(proposal=proposal, by=bob)
    with pytest.raises(Refused, match="14 days") as refused:
        merging.propose(team=owls, other=crows, by=ada)
    assert refused.value.code == "rate_limited"
    SentInvitation.objects.update(sent_at=F("sent_at") - timedelta(days=14))
    assert merging.propose(team=owls, other=crows, by=ada).other == crows


def test_a_proposal_that_waits_is_not_a_new_contact(make: Make, phase: Phase, owls: Team, ada: User) -> None:
    crows = make.team(phase.challenge, make.user(), name="Crows")
    first = merging.propose(team=owls, other=crows, by=ada)
    assert merging.propose(team=owls, other=crows, by=ada) == first
    assert SentInvitation.objects.count() == 1


def test_proposals_count_within_the_limit_of_a_day(
    make: Make, phase: Phase, owls: Team, ada: User, settings: Settings
) -> None:
    settings.INVITATIONS_PER_DAY = 1
    invitations.invite(team=owls, by=ada, username=make.user().username)
    with pytest.raises(Refused, match="ada has sent 1"):
        merging.propose(team=owls, other=make.team(phase.challenge, make.user()), by=ada)


def test_organizers_are_neither_invited_nor_admitted(make: Make, owls: Team, ada: User) -> None:
    organizer = make.user(username="organizer")
    owls.challenge.organizers.add(organizer)
    with pytest.raises(Refused, match="is staff or an organizer"):
        invitations.invite(team=owls, by=ada, username="organizer")
    _, token = invitations.invite_by_link(team=owls, by=ada)
    with pytest.raises(Refused, match="cannot take part"):
        invitations.accept_link(token=token, user=organizer, accept_rules=True)
    assert members.reasons_against_entering(organizer, owls) != []
    with pytest.raises(Refused, match="cannot take part"):
        invitations.ask(user=organizer, team=owls, accept_rules=True)
    assert Invitation.objects.get().kind == "link"


@pytest.mark.phase(challenge={"registration": "approval"})
def test_a_team_cannot_admit_a_person_whom_the_organizers_have_declined(make: Make, owls: Team, ada: User) -> None:
    bob, now = make.user(), database_now()
    JoinRequest.objects.create(challenge=owls.challenge, user=bob, status="declined", rules_accepted_at=now)
    _, token = invitations.invite_by_link(team=owls, by=ada)
    with pytest.raises(Refused, match="declined"):
        invitations.accept_link(token=token, user=bob, accept_rules=True)


def test_an_invitation_by_username_is_announced_once(make: Make, owls: Team, ada: User) -> None:
    seen: list[Invitation] = []

    def note(invitation: Invitation, **signal: object) -> None:
        seen.append(invitation)

    invitations.invited.connect(note)
    make.user(username="bob")
    found = invitations.invite(team=owls, by=ada, username="BOB")
    invitations.invite_by_link(team=owls, by=ada)
    invitations.invited.disconnect(note)
    assert seen == [found]


def test_the_member_who_joined_first_becomes_captain_when_the_captains_account_is_deleted(
    make: Make, phase: Phase
) -> None:
    ada, bob, eve = (make.user() for _ in range(3))
    team = make.team(phase.challenge, ada, bob, eve)
    ada.delete()
    assert [(one.user, one.is_captain) for one in team.memberships.all()] == [(bob, True), (eve, False)]
