"""Signing up, logging in, tokens and passwords, as a person does it."""

import re
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from server.accounts.models import ApiToken, User
from server.audit.models import Entry
from tests.server.page import Page

NEW = {"username": "ada", "email": "ada@example.org", "password": "long enough 7"}


@pytest.fixture
def person(make: Any, client: Client) -> Any:
    user = make.user(username="ada")
    client.force_login(user)
    return user


# Signing up


def test_signing_up_logs_in_and_leads_on(client: Client, db: None) -> None:
    response = client.post("/accounts/signup", {**NEW, "next": "/accounts/"}, follow=True)
    assert response.redirect_chain == [("/accounts/", 302)]
    assert "Welcome, ada." in Page(response).words
    assert Entry.objects.get(action="account.created").actor_name == "ada"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("username", "ADA"),  # taken in another letter case
        ("username", "\u202eadm\u202c"),  # turns the text around
        ("username", "a\u200bb"),  # holds nothing one could see
        ("username", "\u3164"),  # a letter that shows nothing
        ("username", "a\x00b"),
        ("username", "..."),
        ("username", "two words"),
        ("email", "GRACE@example.org"),
        ("email", "nobody"),
        ("password", "short7"),
        ("password", "ada@example.org"),
        ("password", "8456271039"),
    ],
)
def test_signing_up_refuses(field: str, value: str, make: Any, client: Client) -> None:
    make.user(username="ada", email="other@example.org")
    make.user(username="grace", email="grace@example.org")
    start = {"username": "new", "email": "ada@example.org", "password": "long enough 7"}
    page = Page(client.post("/accounts/signup", {**start, field: value}))
    assert page.status == 422
    assert page.all("p", class_="wrong")
    assert User.objects.count() == 2


def test_what_was_typed_is_kept_but_not_the_password(client: Client, db: None) -> None:
    page = Page(client.post("/accounts/signup", {**NEW, "email": "wrong"}))
    assert page.all("input", name="username")[0]["value"] == "ada"
    assert "value" not in page.all("input", name="password")[0]
    assert page.all("input", name="email")[0]["aria-invalid"] == "true"


def test_names_are_normalized(client: Client, db: None) -> None:
    client.post("/accounts/signup", {**NEW, "username": "\uff21da"})
    assert User.objects.get().username == "Ada"


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_nobody_is_led_to_another_site(target: str, client: Client, db: None) -> None:
    assert client.post("/accounts/signup", {**NEW, "next": target}).url == "/"


# Logging in and out


def test_logging_in_leads_back(make: Any, client: Client) -> None:
    user = make.user()
    form = {"username": user.username, "password": make.password}
    assert client.post("/accounts/login?next=/accounts/", form).url == "/accounts/"


def test_a_name_is_found_in_any_letter_case(make: Any, client: Client) -> None:
    make.user(username="ada")
    assert client.post("/accounts/login", {"username": "ADA", "password": make.password}).status_code == 302


def test_logging_out_is_a_post(person: Any, client: Client) -> None:
    assert client.get("/accounts/logout").status_code == 405
    client.post("/accounts/logout")
    assert client.get("/accounts/").status_code == 302


# Tokens


def secret_in(response: Any) -> str:
    found = re.search(r"podium_[\w-]{30,}", response.content.decode())
    return found.group() if found else ""


def test_a_token_is_shown_once(person: Any, client: Client) -> None:
    response = client.post("/accounts/tokens", {"name": "laptop", "scope": "submit", "days": "30"}, follow=True)
    secret = secret_in(response)
    assert ApiToken.objects.of_secret(secret).get().name == "laptop"
    assert "no-store" in response["Cache-Control"]
    assert secret not in client.get("/accounts/").content.decode()


def test_reloading_the_page_that_shows_a_token_makes_no_second_one(person: Any, client: Client) -> None:
    made = client.post("/accounts/tokens", {"name": "laptop", "scope": "submit", "days": "30"})
    assert (made.status_code, made["Location"], secret_in(made)) == (302, "/accounts/", "")
    carried = client.cookies["new_token"]
    assert (carried["httponly"], carried["samesite"], carried["path"]) == (True, "Strict", "/accounts/")
    for _ in range(2):
        client.get("/accounts/")
    assert ApiToken.objects.count() == 1


def test_who_logs_in_after_somebody_does_not_read_their_token(person: Any, make: Any, client: Client) -> None:
    client.post("/accounts/tokens", {"name": "laptop", "scope": "submit", "days": "30"})
    carried = client.cookies["new_token"].value
    client.force_login(make.user())
    client.cookies["new_token"] = carried
    assert secret_in(client.get("/accounts/")) == ""


def test_a_token_without_a_name_is_not_made(person: Any, client: Client) -> None:
    page = Page(client.post("/accounts/tokens", {"name": "", "scope": "submit", "days": "30"}))
    assert page.status == 422
    assert not ApiToken.objects.exists()


def test_a_token_longer_than_allowed_is_refused(person: Any, client: Client, settings: Any) -> None:
    settings.API_TOKEN_DAYS = 30
    page = Page(client.post("/accounts/tokens", {"name": "laptop", "scope": "submit", "days": "90"}))
    assert page.status == 422
    assert "invalid" in page.words


def test_a_revoked_token_is_gone(person: Any, client: Client) -> None:
    client.post("/accounts/tokens", {"name": "laptop", "scope": "read", "days": "7"})
    token = ApiToken.objects.get()
    page = Page(client.post(f"/accounts/tokens/{token.pk}/revoke", follow=True))
    assert "The token laptop is revoked." in page.words
    assert "You have no token." in page.words


def test_nobody_revokes_the_token_of_another(person: Any, make: Any, client: Client) -> None:
    client.post("/accounts/tokens", {"name": "laptop", "scope": "read", "days": "7"})
    other = Client()
    other.force_login(make.user())
    assert other.post(f"/accounts/tokens/{ApiToken.objects.get().pk}/revoke").status_code == 404


# Passwords


def test_a_forgotten_password_is_set_anew_by_mail(make: Any, client: Client) -> None:
    user = make.user(email="ada@example.org")
    client.post("/accounts/password/forgotten", {"email": "ada@example.org"})
    link = re.search(r"http://testserver(\S+)", str(mail.outbox[0].body))
    assert link is not None
    form = client.get(link.group(1), follow=True)
    new = {"new_password1": "another long 7", "new_password2": "another long 7"}
    assert "Your new password is set" in Page(client.post(form.request["PATH_INFO"], new, follow=True)).words
    assert client.login(username=user.username, password="another long 7")
    assert Entry.objects.get(action="user.password_changed").subject == f"user {user.pk}"


def test_an_unknown_address_gets_the_same_answer_and_no_mail(client: Client, db: None) -> None:
    page = Page(client.post("/accounts/password/forgotten", {"email": "nobody@example.org"}, follow=True))
    assert "Look into your mail" in page.words
    assert mail.outbox == []


def test_a_used_link_says_so(client: Client, db: None) -> None:
    assert "This link cannot be used" in Page(client.get("/accounts/password/new/MQ/bad-token")).words


def test_changing_the_password_leads_to_the_account(person: Any, make: Any, client: Client) -> None:
    new = {"old_password": make.password, "new_password1": "another long 7", "new_password2": "another long 7"}
    assert client.post("/accounts/password", new).url == "/accounts/"
    assert Entry.objects.get(action="user.password_changed").actor_name == "ada"
