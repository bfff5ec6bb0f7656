"""Tests the pages for the profile and for signed-in devices."""

import pytest
from allauth.usersessions.models import UserSession
from django.test import Client

from server.accounts.models import User
from tests.conftest import PASSWORD, Make
from tests.server.page import Page

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def logged_in(user: User, agent: str = FIREFOX) -> Client:
    client = Client(headers={"user-agent": agent})
    client.post("/accounts/login", {"login": user.username, "password": PASSWORD})
    return client


def works(client: Client) -> bool:
    return bool(client.get("/accounts/").status_code == 200)


def test_each_login_is_listed_as_a_device(make: Make) -> None:
    user = make.user()
    first, second = logged_in(user), logged_in(user, "curl/8.0")
    words = Page(first.get("/accounts/security")).words
    assert "Firefox on Linux" in words
    assert "curl" in words
    assert works(second)


def test_a_device_that_a_new_password_signed_out_is_not_listed(make: Make) -> None:
    user = make.user()
    first, second = logged_in(user), logged_in(user, "curl/8.0")
    new = {"oldpassword": PASSWORD, "password1": "a new long password", "password2": "a new long password"}
    assert first.post("/accounts/password", new).status_code == 302
    words = Page(first.get("/accounts/security")).words
    assert ("this device" in words, "curl" in words, works(second)) == (True, False, False)


def test_a_device_can_be_signed_out_by_its_owner_only(make: Make) -> None:
    user, stranger = make.user(), logged_in(make.user())
    first, second = logged_in(user), logged_in(user, "curl/8.0")
    address = f"/accounts/security/devices/{UserSession.objects.get(user_agent='curl/8.0').pk}/sign-out"
    assert stranger.post(address).status_code == 404
    assert works(second)
    assert first.post(address).status_code == 302
    assert (works(first), works(second)) == (True, False)


def test_all_other_devices_can_be_signed_out_at_once(make: Make) -> None:
    user = make.user()
    first, *others = [logged_in(user) for _ in range(3)]
    stranger = logged_in(make.user())
    first.post("/accounts/security/devices/sign-out")
    assert [works(client) for client in (first, *others, stranger)] == [True, False, False, True]


@pytest.mark.member(username="ada")
def test_a_profile_can_be_filled_and_emptied(member: User, client: Client) -> None:
    client.post("/accounts/profile", {"display_name": " Ada  Lovelace ", "affiliation": "Owls", "country": "GB"})
    member.refresh_from_db()
    assert (member.shown_name, member.affiliation, member.country) == ("Ada Lovelace", "Owls", "GB")
    client.post("/accounts/profile", {"display_name": "", "affiliation": "", "country": ""})
    member.refresh_from_db()
    assert (member.shown_name, member.affiliation, member.country) == ("ada", "", "")


@pytest.mark.parametrize(
    "wrong", [{"display_name": "a\u202eb"}, {"affiliation": "x" * 121}, {"country": "XX"}, {"display_name": "a\nb\x00"}]
)
def test_a_profile_without_a_valid_name_is_refused(wrong: dict[str, str], member: User, client: Client) -> None:
    assert client.post("/accounts/profile", wrong).status_code == 422
    member.refresh_from_db()
    assert (member.display_name, member.affiliation, member.country) == ("", "", "")
