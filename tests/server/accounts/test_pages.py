"""Tests the pages for login, API tokens and passwords, and the pages to which they redirect."""

import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from server.accounts.models import ApiToken, User
from server.audit.models import Entry
from tests.conftest import Make
from tests.server.page import Page


@pytest.fixture
def person(make: Make, client: Client) -> User:
    user = make.user(username="ada")
    client.force_login(user)
    return user


def log_in(client: Client, user: User, password: str, **form: str) -> Any:
    return client.post("/accounts/login", {"login": user.username, "password": password, **form})


def test_logging_in_redirects_to_the_requested_page(make: Make, client: Client) -> None:
    form = {"login": make.user(username="ada").username, "password": make.password}
    assert client.post("/accounts/login?next=/accounts/", form).url == "/accounts/"


UNSAFE = [
    *("foo", "home", "//evil.example", "///evil.example", "https://evil.example/", "https:evil", "http:///evil"),
    *("\\\\evil.example", "/\\evil.example", "/\t/evil.example", " //evil.example", "javascript:alert(1)"),
    *("\x00/", "/[", "http://testserver@evil.example", "http://testserver/", "?next=//evil", "#x", "../x", "."),
]


@pytest.mark.parametrize("target", UNSAFE)
def test_redirects_lead_only_to_pages_of_this_site(target: str, make: Make, client: Client) -> None:
    new = {"username": "new", "email": "new@example.org", "password1": "long enough 7", "next": target}
    assert client.post("/accounts/signup", new).url in ("/", "/[")
    # Signing up has logged the user in, so the login page redirects at once.
    assert client.get("/accounts/login", {"next": target}).url in ("/", "/[")
    assert client.post("/accounts/logout", {"next": target}).url in ("/", "/[")
    assert log_in(client, make.user(), make.password, next=target).url in ("/", "/[")
    client.post("/accounts/logout")
    for page in ("login", "signup"):
        assert Client().get(f"/accounts/{page}", {"next": target}).status_code == 200


@pytest.mark.parametrize("target", UNSAFE)
def test_the_login_of_the_admin_redirects_to_no_other_site(target: str, make: Make, client: Client) -> None:
    assert client.get("/admin/login/", {"next": target}).url.startswith("/accounts/login?next=%2F")
    client.force_login(make.user(is_staff=True))
    assert client.get("/admin/login/", {"next": target}).url == "/admin/"


def test_logging_out_requires_a_post_request(person: User, client: Client) -> None:
    assert client.get("/accounts/logout").status_code == 405
    client.post("/accounts/logout")
    assert client.get("/accounts/").status_code == 302


def secret_in(response: Any) -> str:
    found = re.search(r"podium_[\w-]{30,}", response.content.decode())
    return found.group() if found else ""


def test_a_token_is_shown_only_once(person: User, client: Client) -> None:
    response = client.post("/accounts/tokens", {"name": "laptop", "scope": "submit", "days": "30"}, follow=True)
    secret = secret_in(response)
    assert ApiToken.objects.of_secret(secret).get().name == "laptop"
    assert "no-store" in response["Cache-Control"]
    assert secret not in client.get("/accounts/").content.decode()


def test_reloading_the_page_that_shows_a_token_creates_no_second_one(person: User, client: Client) -> None:
    made = client.post("/accounts/tokens", {"name": "laptop", "scope": "submit", "days": "30"})
    assert (made.status_code, made["Location"], secret_in(made)) == (302, "/accounts/", "")
    carried = client.cookies["new_token"]
    assert (carried["httponly"], carried["samesite"], carried["path"]) == (True, "Strict", "/accounts/")
    for _ in range(2):
        client.get("/accounts/")
    assert ApiToken.objects.count() == 1


def test_the_next_user_of_a_browser_cannot_read_the_token(person: User, make: Make, client: Client) -> None:
    client.post("/accounts/tokens", {"name": "laptop", "scope": "submit", "days": "30"})
    carried = client.cookies["new_token"].value
    client.force_login(make.user())
    client.cookies["new_token"] = carried
    assert secret_in(client.get("/accounts/")) == ""


def test_a_token_without_a_name_is_not_created(person: User, client: Client) -> None:
    page = Page(client.post("/accounts/tokens", {"name": "", "scope": "submit", "days": "30"}))
    assert page.status == 422
    assert not ApiToken.objects.exists()


def test_a_token_longer_than_allowed_is_refused(person: User, client: Client, settings: Settings) -> None:
    settings.API_TOKEN_DAYS = 30
    page = Page(client.post("/accounts/tokens", {"name": "laptop", "scope": "submit", "days": "90"}))
    assert page.status == 422
    assert "invalid" in page.words


def test_a_revoked_token_is_no_longer_listed(person: User, client: Client) -> None:
    client.post("/accounts/tokens", {"name": "laptop", "scope": "read", "days": "7"})
    token = ApiToken.objects.get()
    page = Page(client.post(f"/accounts/tokens/{token.pk}/revoke", follow=True))
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert not page.all("form", action=f"/accounts/tokens/{token.pk}/revoke")


def test_nobody_can_revoke_the_token_of_another_user(person: User, make: Make, client: Client) -> None:
    client.post("/accounts/tokens", {"name": "laptop", "scope": "read", "days": "7"})
    other = Client()
    other.force_login(make.user())
    assert other.post(f"/accounts/tokens/{ApiToken.objects.get().pk}/revoke").status_code == 404


def test_changing_the_password_leads_to_the_account(person: User, make: Make, client: Client) -> None:
    new = {"oldpassword": make.password, "password1": "another long 7", "password2": "another long 7"}
    assert client.post("/accounts/password", new).url == "/accounts/"
    assert Entry.objects.get(action="user.password_changed").actor == "ada"


def test_an_account_without_a_password_can_set_one(person: User, client: Client) -> None:
    person.set_unusable_password()
    person.save()
    client.force_login(person)
    form = client.get("/accounts/password", follow=True)
    assert form.request["PATH_INFO"] == "/accounts/password/first"
    client.post("/accounts/password/first", {"password1": "another long 7", "password2": "another long 7"})
    assert Client().login(username="ada", password="another long 7")
