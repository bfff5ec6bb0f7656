"""Tests teams in the API: the user's own team, invitations, requests, merges, and the public data of a team."""

from typing import Any

import pytest

from server.accounts.models import User
from server.challenges.models import Phase, Team
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.documented import Api

C = "challenges/c"

pytestmark = pytest.mark.phase(challenge={"slug": "c"}, slug="main")


@pytest.fixture
def ada(make: Make) -> User:
    return make.user(username="ada")


@pytest.fixture
def bob(make: Make) -> User:
    return make.user(username="bob")


@pytest.fixture
def owls(make: Make, phase: Phase, ada: User) -> Team:
    return make.team(phase.challenge, ada, name="Owls")


def members(api: Api, user: User) -> list[tuple[str, bool]]:
    return [(one["user"], one["captain"]) for one in api.get(f"{C}/team", user=user).json()["members"]]


def test_a_person_is_invited_by_username_and_accepts(api: Api, owls: Team, ada: User, bob: User) -> None:
    made = api.post(f"{C}/team/invitations", {"user": "bob"}, user=ada)
    assert (made.status_code, made.json()["kind"], made.json()["link"]) == (201, "person", None)
    (found,) = api.get(f"{C}/invitations", user=bob).json()["results"]
    assert found["team"] == "Owls"
    refused = api.post(f"{C}/invitations/{found['id']}", {"accept": True}, user=bob)
    assert refused.json()["code"] == "rules_not_accepted"
    done = api.post(f"{C}/invitations/{found['id']}", {"accept": True, "accept_rules": True}, user=bob)
    assert done.json() == {"accepted": True, "team": "Owls"}
    assert members(api, bob) == [("ada", True), ("bob", False)]


def test_a_link_admits_only_one_person(api: Api, owls: Team, ada: User, bob: User, make: Make) -> None:
    made = api.post(f"{C}/team/invitations", {}, user=ada).json()
    assert made["link"].endswith(f"/invitations/{made['token']}")
    body = {"token": made["token"], "accept_rules": True}
    assert api.post("invitations", body, user=bob).json()["team"] == "Owls"
    assert api.post("invitations", body, user=make.user()).status_code == 404


def test_only_the_captain_decides_on_a_request(api: Api, owls: Team, ada: User, bob: User, make: Make) -> None:
    asked = api.post(f"{C}/invitations", {"team": "owls", "accept_rules": True}, user=bob).json()
    address = f"{C}/invitations/{asked['id']}"
    assert api.post(address, {"accept": True}, user=make.user()).status_code == 404
    assert api.post(address, {"accept": True}, user=bob).status_code == 403
    assert api.post(address, {"accept": True}, user=ada).status_code == 200
    assert members(api, ada) == [("ada", True), ("bob", False)]


def test_a_declined_invitation_cannot_be_repeated_at_once(api: Api, owls: Team, ada: User, bob: User) -> None:
    made = api.post(f"{C}/team/invitations", {"user": "bob"}, user=ada).json()
    assert api.post(f"{C}/invitations/{made['id']}", {"accept": False}, user=bob).json()["accepted"] is False
    again = api.post(f"{C}/team/invitations", {"user": "bob"}, user=ada)
    assert (again.status_code, again.json()["code"]) == (429, "rate_limited")


def test_the_captain_can_change_the_team(api: Api, make: Make, phase: Phase, ada: User, bob: User) -> None:
    make.team(phase.challenge, ada, bob, name="Owls")
    changes: dict[str, Any] = {
        "name": "Ravens",
        "method": "Deep",
        "code_url": "https://example.org/c",
        "captain": "bob",
    }
    assert api.patch(f"{C}/team", changes, user=bob).status_code == 403
    changed = api.patch(f"{C}/team", changes, user=ada).json()
    assert (changed["team"], changed["method"], changed["paper_url"]) == ("Ravens", "Deep", None)
    assert members(api, ada) == [("ada", False), ("bob", True)]
    assert api.patch(f"{C}/team", {"shown": True}, user=ada).json()["members"][0]["shown"] is True


def test_a_refused_change_of_the_team_changes_nothing(api: Api, make: Make, phase: Phase, ada: User, bob: User) -> None:
    make.team(phase.challenge, ada, bob, name="Owls")
    before = api.get(f"{C}/team", user=ada).json()
    changes = {"name": "Ravens", "method": "Deep", "captain": "nobody"}
    assert api.patch(f"{C}/team", changes, user=ada).status_code == 404
    assert api.get(f"{C}/team", user=ada).json() == before


def test_members_leave_and_are_removed(api: Api, make: Make, phase: Phase, ada: User, bob: User) -> None:
    eve = make.user(username="eve")
    make.team(phase.challenge, ada, bob, eve)
    assert api.ask("DELETE", f"{C}/team/members/eve", user=bob).status_code == 403
    assert api.ask("DELETE", f"{C}/team/members/eve", user=ada).status_code == 204
    assert api.ask("DELETE", f"{C}/team/members/bob", user=bob).status_code == 204
    assert members(api, ada) == [("ada", True)]
    assert api.get(f"{C}/team", user=bob).json()["code"] == "not_a_member"


def test_two_captains_merge_their_teams(
    api: Api, make: Make, phase: Phase, owls: Team, ada: User, bob: User, scored: Scored
) -> None:
    crows = make.team(phase.challenge, bob, name="Crows")
    scored(phase, 0.5, team=crows, final=True)
    made = api.post(f"{C}/team/merges", {"team": "Crows"}, user=ada).json()
    address = f"{C}/team/merges/{made['id']}"
    assert [api.get(address, user=one).json()["use"][0]["finals"] for one in (ada, bob)] == [0, 1]
    assert api.post(address, {"confirm": True}, user=ada).status_code == 403
    assert api.post(address, {"confirm": True}, user=bob).json() == {"accepted": True, "team": "Owls"}
    assert members(api, bob) == [("ada", True), ("bob", False)]
    assert api.get(f"{C}/teams/{crows.pk}").json()["merged_into"] == owls.pk


def test_the_public_data_of_a_team_has_no_private_score_and_no_unnamed_member(
    api: Api, phase: Phase, owls: Team, ada: User, scored: Scored
) -> None:
    assert api.get(f"{C}/teams/{owls.pk}").status_code == 404
    scored(phase, 0.5, team=owls, private=0.25)
    (row,) = api.get(f"{C}/phases/main/leaderboard").json()["results"]
    assert row["team_id"] == owls.pk
    shown = api.get(f"{C}/teams/{owls.pk}").json()
    assert (shown["members"], shown["members_not_named"]) == ([], 1)
    assert [(one["split"], one["rank"], one["score"]) for one in shown["results"]] == [("public", 1, 0.5)]
