"""If a challenge requires approval, people become members only when an organizer approves their requests."""

from io import StringIO
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core.management import CommandError, call_command
from django.test import Client

from server.accounts.models import User
from server.accounts.services import confirm_own_address
from server.audit.models import Entry
from server.challenges import approval
from server.challenges.models import Challenge, JoinRequest, Membership, Team
from server.challenges.services import join, join_team
from server.errors import Refused
from server.pages.challenge.main_button import WAITING
from server.pages.challenge_context import JoinState
from tests.conftest import InlineQueue, Make
from tests.server.documented import Api
from tests.server.page import Page

SUBMISSIONS = "/api/v1/challenges/c/phases/main/submissions"
JOIN = "/api/v1/challenges/c/join"
REQUESTS = "/api/v1/challenges/c/join-requests"
ORGANIZING = {"scope": "organize"}
FILE = b"ImageId,PredictionString\nimage1,\n"


@pytest.fixture
def challenge(make: Make, inline_queue: InlineQueue) -> Challenge:
    challenge: Challenge = make.challenge(slug="c", registration="approval")
    make.phase(challenge, slug="main")
    return challenge


@pytest.fixture
def ada(make: Make) -> User:
    return make.user(username="ada")


@pytest.fixture
def organizer(make: Make, challenge: Challenge) -> User:
    challenge.organizers.add(user := make.user(username="olga"))
    return user


@pytest.fixture
def waiting(ada: User, challenge: Challenge) -> JoinRequest:
    request = approval.enter(user=ada, challenge=challenge, accept_rules=True, team_name="Aurora")
    assert isinstance(request, JoinRequest)
    return request


def code(service: Any, **asked: Any) -> str:
    with pytest.raises(Refused) as caught:
        service(**asked)
    return caught.value.code


def as_(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_a_request_alone_makes_nobody_a_member(waiting: JoinRequest, ada: User, challenge: Challenge) -> None:
    assert not Membership.objects.exists()
    assert not Team.objects.exists()
    assert Entry.objects.get(action="registration.requested").actor == "ada"


def test_requesting_again_changes_nothing(waiting: JoinRequest, ada: User, challenge: Challenge) -> None:
    assert approval.enter(user=ada, challenge=challenge, accept_rules=False, team_name="Basalt") == waiting
    assert JoinRequest.objects.get().team_name == "Aurora"


def test_joining_without_approval_is_impossible(ada: User, challenge: Challenge) -> None:
    assert code(join, user=ada, challenge=challenge, accept_rules=True) == "awaiting_approval"
    assert not Membership.objects.exists()


@pytest.mark.parametrize(
    ("asked", "expected"),
    [({"accept_rules": False}, "rules_not_accepted"), ({"accept_rules": True, "team_name": "..."}, "invalid")],
)
def test_a_request_follows_the_rules_of_joining(asked: Any, expected: str, ada: User, challenge: Challenge) -> None:
    assert code(approval.enter, user=ada, challenge=challenge, **asked) == expected
    assert not JoinRequest.objects.exists()


def test_pages_show_that_a_request_waits_for_approval(waiting: JoinRequest, ada: User) -> None:
    client = as_(ada)
    assert client.get("/challenges/c/rules").context["join_state"] == JoinState.WAITING
    assert client.get("/challenges/c/").context["button"].sentence == WAITING
    for page in ("submit", "submissions"):
        answer = client.get(f"/challenges/c/{page}")
        assert answer.status_code == 403
        assert "awaiting_approval" in Page(answer).words


def test_the_team_page_of_a_waiting_person_shows_only_invitations(waiting: JoinRequest, ada: User) -> None:
    page = Page(as_(ada).get("/challenges/c/team"))
    assert "Your request to join is waiting for approval by an organizer." in page.words
    assert not page.all("form", action="/challenges/c/join")


def test_a_request_can_be_made_on_the_rules_page(challenge: Challenge, ada: User) -> None:
    client = as_(ada)
    assert Page(client.get("/challenges/c/rules")).all("form", action="/challenges/c/join")
    client.post("/challenges/c/join", {"accept_rules": "on"})
    assert JoinRequest.objects.get().user == ada
    assert client.get("/challenges/c/rules").context["join_state"] == JoinState.WAITING


def test_submitting_is_refused_until_approval(waiting: JoinRequest, ada: User, organizer: User, api: Api) -> None:
    refused = api.upload(SUBMISSIONS, file=FILE, user=ada)
    assert (refused.status_code, refused.json()["code"]) == (403, "awaiting_approval")
    approval.approve(request=waiting, by=organizer)
    assert api.upload(SUBMISSIONS, file=FILE, user=ada).status_code == 201


def test_a_waiting_person_is_on_no_leaderboard_and_sees_only_public_pages(
    waiting: JoinRequest, ada: User, make: Make, api: Api
) -> None:
    board = "/api/v1/challenges/c/phases/main/leaderboard"
    seen = [api.get(board, user=user).json() for user in (ada, make.user())]
    assert seen[0]["results"] == seen[1]["results"] == []
    assert seen[0]["me"] is seen[1]["me"] is None
    assert "Aurora" not in Page(as_(make.user()).get("/challenges/c/leaderboard")).words


def test_a_waiting_person_cannot_see_a_private_challenge(waiting: JoinRequest, ada: User, challenge: Challenge) -> None:
    Challenge.objects.update(visibility="private")
    assert as_(ada).get("/challenges/c/").status_code == 404


def test_approval_makes_a_member_with_the_requested_team(waiting: JoinRequest, organizer: User) -> None:
    member = approval.approve(request=waiting, by=organizer)
    assert (member.user.username, member.team.name, member.is_captain) == ("ada", "Aurora", True)
    assert not JoinRequest.objects.exists()
    actions = {entry.action: entry.actor for entry in Entry.objects.all()}
    assert actions["registration.approved"] == "olga"
    assert actions["challenge.joined"] == "ada"


def test_a_team_name_that_is_taken_meanwhile_gets_a_number(
    waiting: JoinRequest, make: Make, challenge: Challenge
) -> None:
    make.team(challenge, name="aurora")
    assert approval.approve(request=waiting, by=None).team.name == "Aurora 2"


def test_a_declined_person_cannot_simply_request_again(waiting: JoinRequest, ada: User, challenge: Challenge) -> None:
    approval.decline(request=waiting, by=None)
    assert code(approval.enter, user=ada, challenge=challenge, accept_rules=True) == "not_a_member"
    assert as_(ada).get("/challenges/c/rules").context["join_state"] == JoinState.DECLINED
    assert as_(ada).get("/challenges/c/submit").status_code == 403


def test_a_declined_person_can_still_be_approved(waiting: JoinRequest) -> None:
    approval.decline(request=waiting, by=None)
    assert approval.approve(request=waiting, by=None).user.username == "ada"


def test_a_request_can_be_approved_only_once(waiting: JoinRequest) -> None:
    approval.approve(request=waiting, by=None)
    assert code(approval.approve, request=waiting, by=None) == "not_found"
    assert Membership.objects.count() == 1


@pytest.mark.parametrize("decide", [approval.approve, approval.decline])
def test_only_organizers_decide_on_requests(decide: Any, waiting: JoinRequest, ada: User, make: Make) -> None:
    for user in (ada, make.user()):
        assert code(decide, request=waiting, by=user) == "forbidden"
    assert JoinRequest.objects.get().status == "waiting"


def test_when_approval_is_no_longer_needed_a_waiting_person_can_join(
    waiting: JoinRequest, ada: User, challenge: Challenge
) -> None:
    Challenge.objects.update(registration="open")
    assert isinstance(approval.enter(user=ada, challenge=challenge, accept_rules=True), Membership)
    assert not JoinRequest.objects.exists()


def test_an_approved_team_accepts_further_members_itself(waiting: JoinRequest, make: Make) -> None:
    team = approval.approve(request=waiting, by=None).team
    assert join_team(user=make.user(), team=team, accept_rules=True).team == team


def test_the_api_lists_requests_and_accepts_the_decision(ada: User, organizer: User, api: Api) -> None:
    asked = api.post(JOIN, {"accept_rules": True, "team": "Aurora"}, user=ada)
    assert (asked.status_code, asked.json()["status"]) == (202, "waiting")
    (found,) = api.get(REQUESTS, user=organizer, **ORGANIZING).json()["results"]
    assert (found["user"], found["team"]) == ("ada", "Aurora")
    assert api.post(f"{REQUESTS}/{found['id']}", {"approve": False}, user=organizer, **ORGANIZING).status_code == 200
    assert api.post(JOIN, {"accept_rules": True}, user=ada).status_code == 403
    assert api.post(f"{REQUESTS}/{found['id']}", {"approve": True}, user=organizer, **ORGANIZING).status_code == 200
    assert api.post(JOIN, {"accept_rules": True}, user=ada).json()["team"] == "Aurora"


def test_a_request_of_another_challenge_is_not_found(waiting: JoinRequest, make: Make, api: Api) -> None:
    make.challenge(slug="other").organizers.add(user := make.user())
    path = f"/api/v1/challenges/other/join-requests/{waiting.pk}"
    assert api.post(path, {"approve": True}, user=user, **ORGANIZING).status_code == 404


def test_staff_can_decide_on_requests_in_the_admin(waiting: JoinRequest, make: Make) -> None:
    client = as_(make.user(username="root", is_staff=True, is_superuser=True))
    chosen = {"_selected_action": [waiting.pk]}
    client.post("/admin/challenges/joinrequest/", {**chosen, "action": "decline"})
    assert JoinRequest.objects.get().status == "declined"
    client.post("/admin/challenges/joinrequest/", {**chosen, "action": "approve"})
    assert Membership.objects.get().user.username == "ada"
    assert Entry.objects.get(action="registration.approved").actor == "root"


def run(*words: str) -> str:
    call_command("registrations", "c", *words, stdout=(out := StringIO()))
    return out.getvalue()


def test_a_command_lists_requests_and_decides_on_them(waiting: JoinRequest, organizer: User) -> None:
    assert run().startswith("ada  waiting")
    assert run("--decline", "ada").startswith("ada was declined.\nada  declined")
    assert run("--approve", "ADA", "--as", "olga") == "ada was approved.\n"
    assert Entry.objects.get(action="registration.approved").actor == "olga"


@pytest.fixture
def several(challenge: Challenge, make: Any, organizer: Any) -> list[JoinRequest]:
    """Create requests to join from three people. The second person has become an organizer in the meantime."""
    people = [make.user(username=name) for name in ("first", "second", "third")]
    requests = [approval.enter(user=one, challenge=challenge, accept_rules=True) for one in people]
    challenge.organizers.add(people[1])
    return [one for one in requests if isinstance(one, JoinRequest)]


def members() -> list[str]:
    return sorted(Membership.objects.values_list("user__username", flat=True))


def test_in_the_admin_a_request_that_is_refused_does_not_stop_the_others(several: list[JoinRequest], make: Any) -> None:
    client = as_(make.user(username="root", is_staff=True, is_superuser=True))
    form = {"_selected_action": [one.pk for one in several], "action": "approve"}
    page = client.post("/admin/challenges/joinrequest/", form, follow=True)
    told = {str(message): message.level_tag for message in page.context["messages"]}
    (refusal,) = (text for text, level in told.items() if level == "error")
    assert refusal.startswith("second did not join c: second is staff or an organizer of this challenge")
    assert sorted(text for text, level in told.items() if level == "success") == ["first joined c.", "third joined c."]
    assert members() == ["first", "third"]
    assert JoinRequest.objects.get().user.username == "second"


def test_in_the_command_a_request_that_is_refused_does_not_stop_the_others(several: list[JoinRequest]) -> None:
    out = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("registrations", "c", "--approve", "nobody", "second", "first", "third", stdout=out)
    unknown, refused = str(caught.value).splitlines()
    assert unknown == "nobody has not requested to join c."
    assert refused.startswith("second was not approved: second is staff or an organizer of this challenge")
    assert caught.value.returncode == 1
    assert out.getvalue().splitlines()[:2] == ["first was approved.", "third was approved."]
    assert members() == ["first", "third"]


@pytest.mark.parametrize("words", [("--approve", "nobody"), ("--approve", "ada", "--as", "ada"), ("--as", "nobody")])
def test_a_command_refuses_invalid_arguments(words: tuple[str, ...], waiting: JoinRequest) -> None:
    with pytest.raises(CommandError):
        run(*words)
    assert JoinRequest.objects.get().status == "waiting"


@pytest.mark.parametrize(
    ("email", "confirmed", "allowed"),
    [
        ("ada@example.org", True, True),
        ("ada@EXAMPLE.org", True, True),
        ("ada@example.org", False, False),
        ("ada@sub.example.org", True, False),
        ("ada@example.org.evil.example", True, False),
        ("ada@other.example", True, False),
    ],
)
def test_only_people_with_a_confirmed_address_at_an_allowed_domain_can_join(
    email: str, confirmed: bool, allowed: bool, make: Make
) -> None:
    challenge, user = make.challenge(allowed_domains="other.org example.org"), make.user(email=email)
    confirm_own_address(user)
    EmailAddress.objects.update(verified=confirmed)
    if allowed:
        assert join(user=user, challenge=challenge, accept_rules=True)
    else:
        assert code(join, user=user, challenge=challenge, accept_rules=True) == "forbidden"
