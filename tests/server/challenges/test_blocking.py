"""Users whom organizers have blocked cannot join the challenge in any way. Existing members stay in their teams."""

import pytest
from django.test import Client

from server.accounts.models import User
from server.audit.models import Entry
from server.challenges import approval, blocking
from server.challenges.models import Block, Challenge, JoinRequest, Membership, Team
from server.challenges.services import join
from server.errors import Refused
from server.personal_data.export import memberships_of
from server.teams.services import invitations, members
from tests.conftest import Make
from tests.server.documented import Api

PAGE = "/organize/challenges/c/blocked"
REASON = "A second account of Bob"


@pytest.fixture
def challenge(make: Make) -> Challenge:
    return make.phase(make.challenge(slug="c"), slug="main").challenge


@pytest.fixture
def owls(make: Make, challenge: Challenge) -> Team:
    return make.team(challenge, make.user(username="ada"), name="Owls")


@pytest.fixture
def eve(make: Make, challenge: Challenge) -> User:
    """Create a user who is blocked in the challenge."""
    user: User = make.user(username="eve")
    blocking.block(challenge=challenge, by=None, username="EVE", reason=REASON)
    return user


@pytest.fixture
def editor(make: Make, challenge: Challenge, client: Client) -> Client:
    challenge.organizers.add(user := make.user(), through_defaults={"role": "editor"})
    client.force_login(user)
    return client


def test_a_blocked_person_cannot_join(challenge: Challenge, eve: User, make: Make) -> None:
    with pytest.raises(Refused, match="do not allow eve to join") as caught:
        join(user=eve, challenge=challenge, accept_rules=True)
    assert caught.value.code == "forbidden"
    join(user=eve, challenge=make.challenge(), accept_rules=True)
    join(user=make.user(), challenge=challenge, accept_rules=True)


def test_the_page_and_the_api_refuse_a_blocked_person(
    challenge: Challenge, eve: User, client: Client, api: Api
) -> None:
    client.force_login(eve)
    assert client.post("/challenges/c/join", {"accept_rules": "on"}).status_code == 403
    answer = api.post("challenges/c/join", {"accept_rules": True}, user=eve)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert REASON not in str(answer.content)
    assert not Membership.objects.exists()


def test_a_blocked_person_cannot_be_invited_and_the_captain_does_not_read_why(owls: Team, eve: User, api: Api) -> None:
    ada = owls.memberships.get().user
    with pytest.raises(Refused) as caught:
        invitations.invite(team=owls, by=ada, username="eve")
    assert (caught.value.code, caught.value.detail) == ("invalid", "eve cannot join this challenge.")
    assert api.post("challenges/c/team/invitations", {"user": "eve"}, user=ada).status_code == 422
    assert not owls.invitations.exists()


def test_a_person_who_was_blocked_later_cannot_accept_an_invitation(
    make: Make, challenge: Challenge, owls: Team
) -> None:
    ada, eve = owls.memberships.get().user, make.user(username="eve")
    invited = invitations.invite(team=owls, by=ada, username="eve")
    blocking.block(challenge=challenge, by=None, username="eve", reason=REASON)
    assert any("do not allow" in reason for reason in members.reasons_against_entering(eve, owls))
    with pytest.raises(Refused, match="do not allow"):
        invitations.accept(invitation=invited, by=eve, accept_rules=True)
    _, token = invitations.invite_by_link(team=owls, by=ada)
    with pytest.raises(Refused, match="do not allow"):
        invitations.accept_link(token=token, user=eve, accept_rules=True)
    assert owls.memberships.count() == 1


def test_a_blocked_person_cannot_request_to_join(challenge: Challenge, owls: Team, eve: User) -> None:
    with pytest.raises(Refused, match="do not allow"):
        invitations.ask(user=eve, team=owls, accept_rules=True)
    Challenge.objects.update(registration="approval")
    challenge.refresh_from_db()
    with pytest.raises(Refused, match="do not allow"):
        approval.enter(user=eve, challenge=challenge, accept_rules=True)
    assert not JoinRequest.objects.exists()


def test_a_request_of_a_person_who_was_blocked_later_cannot_be_approved(make: Make, challenge: Challenge) -> None:
    Challenge.objects.update(registration="approval")
    challenge.refresh_from_db()
    request = approval.enter(user=make.user(username="bob"), challenge=challenge, accept_rules=True)
    assert isinstance(request, JoinRequest)
    blocking.block(challenge=challenge, by=None, username="bob", reason=REASON)
    with pytest.raises(Refused, match="do not allow"):
        approval.approve(request=request, by=None)
    approval.decline(request=request, by=None)


def test_a_member_who_is_blocked_stays_in_the_team_and_cannot_enter_another_one(
    make: Make, challenge: Challenge, owls: Team
) -> None:
    bob = make.user(username="bob")
    bats = make.team(challenge, bob)
    blocking.block(challenge=challenge, by=None, username="bob", reason=REASON)
    assert join(user=bob, challenge=challenge, accept_rules=True).team == bats
    with pytest.raises(Refused, match="do not allow"):
        members.enter(user=bob, team=owls, accept_rules=True)
    assert bats.memberships.get().user == bob


def test_an_editor_blocks_and_unblocks_a_person_with_the_form(
    editor: Client, make: Make, challenge: Challenge, owls: Team
) -> None:
    bob = make.user(username="bob")
    assert "They stay in their team" in posted(editor, act="block", username="ada", reason=REASON)
    assert "bob is blocked." in posted(editor, act="block", username="Bob", reason=f" {REASON} ")
    assert REASON in editor.get(PAGE).content.decode()
    found = Block.objects.get(user=bob)
    assert "bob can join the challenge again" in posted(editor, act="unblock", block=str(found.pk))
    assert join(user=bob, challenge=challenge, accept_rules=True)
    entries = Entry.objects.filter(action__startswith="person.").order_by("number")
    assert [one.action for one in entries] == ["person.blocked", "person.blocked", "person.unblocked"]
    assert entries[1].detail == entries[2].detail == {"user": bob.pk, "reason": REASON}


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"act": "block", "username": "nobody", "reason": "x"}, 422),
        ({"act": "block", "username": "eve", "reason": "x"}, 422),
        ({"act": "block", "username": "olga", "reason": "x"}, 422),
        ({"act": "block", "username": "bob", "reason": " "}, 422),
        ({"act": "block", "username": "bob", "reason": "x" * 301}, 422),
        ({"act": "unblock", "block": "x"}, 422),
        ({"act": "unblock", "block": "9" * 30}, 404),
        ({}, 422),
    ],
)
def test_a_form_without_a_valid_person_or_reason_changes_nothing(
    editor: Client, make: Make, challenge: Challenge, eve: User, fields: dict[str, str], status: int
) -> None:
    challenge.organizers.add(make.user(username="olga"))
    make.user(username="bob")
    assert editor.post(PAGE, fields).status_code == status
    assert Block.objects.get().user == eve


def test_a_block_of_another_challenge_cannot_be_removed(editor: Client, make: Make) -> None:
    make.user(username="bob")
    foreign = blocking.block(challenge=make.challenge(), by=None, username="bob", reason=REASON)
    assert editor.post(PAGE, {"act": "unblock", "block": str(foreign.pk)}).status_code == 404
    assert Block.objects.exists()


def test_the_person_reads_the_block_in_the_export_of_their_data(eve: User) -> None:
    (found,) = memberships_of(eve)["blocks"]
    assert (found["challenge_slug"], found["reason"]) == ("c", REASON)


def test_a_deleted_account_is_removed_from_the_list(eve: User) -> None:
    eve.delete()
    assert not Block.objects.exists()


def test_an_editor_blocks_lists_and_unblocks_with_the_api(make: Make, challenge: Challenge, api: Api) -> None:
    challenge.organizers.add(user := make.user(), through_defaults={"role": "editor"})
    caller, path = {"user": user, "scope": "organize"}, "challenges/c/blocks"
    bob = make.user(username="bob")
    answer = api.post(path, {"username": "Bob", "reason": REASON}, **caller)
    assert (answer.status_code, answer.json()["username"], answer.json()["reason"]) == (201, "bob", REASON)
    assert api.get(path, **caller).json()["results"] == [answer.json()]
    for body in ({"username": "bob", "reason": "x"}, {"username": "nobody", "reason": "x"}, {"username": "bob"}):
        refused = api.post(path, body, **caller)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid")
    address = f"{path}/{answer.json()['id']}"
    assert api.ask("DELETE", address, **caller).status_code == 204
    assert api.ask("DELETE", address, **caller).json()["code"] == "not_found"
    assert join(user=bob, challenge=challenge, accept_rules=True)
    entries = Entry.objects.filter(action__startswith="person.").order_by("number")
    assert [(one.action, one.actor) for one in entries] == [
        ("person.blocked", user.username),
        ("person.unblocked", user.username),
    ]


def test_the_api_does_not_remove_a_block_of_another_challenge(make: Make, challenge: Challenge, api: Api) -> None:
    challenge.organizers.add(user := make.user())
    make.user(username="bob")
    foreign = blocking.block(challenge=make.challenge(), by=None, username="bob", reason=REASON)
    address = f"challenges/c/blocks/{foreign.pk}"
    assert api.ask("DELETE", address, user=user, scope="organize").status_code == 404
    assert Block.objects.exists()


def posted(client: Client, **fields: str) -> str:
    return client.post(PAGE, fields, follow=True).content.decode()
