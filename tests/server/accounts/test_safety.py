"""Accounts are protected by strong password hashes, new sessions after a login, strict cookies and limited attempts."""

import re
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from pytest_django import Settings

from server import settings as real_settings
from server.accounts.models import User
from tests.conftest import Make

NEW = "another long 7"
CHANGE = {"password1": NEW, "password2": NEW}


def log_in(client: Client, user: User, password: str) -> Any:
    return client.post("/accounts/login", {"login": user.username, "password": password})


def reset_link(client: Client, email: str) -> str:
    client.post("/accounts/password/forgotten", {"email": email})
    found = re.search(r"http://localhost:8000(\S+)", str(mail.outbox[-1].body))
    assert found is not None
    return found[1]


def test_new_passwords_are_hashed_with_argon2(make: Make, settings: Settings) -> None:
    settings.PASSWORD_HASHERS = real_settings.PASSWORD_HASHERS
    assert make.user().password.startswith("argon2$argon2id$")


def test_an_older_hash_is_renewed_when_its_owner_logs_in(make: Make, settings: Settings, client: Client) -> None:
    settings.PASSWORD_HASHERS = real_settings.PASSWORD_HASHERS[::-1]
    user = make.user()
    settings.PASSWORD_HASHERS = real_settings.PASSWORD_HASHERS
    assert user.password.startswith("pbkdf2")
    log_in(client, user, make.password)
    user.refresh_from_db()
    assert user.password.startswith("argon2")


def test_mail_goes_to_the_console_by_default() -> None:
    assert real_settings.EMAIL_BACKEND == "django.core.mail.backends.console.EmailBackend"


def test_logging_in_creates_a_new_session(make: Make, client: Client) -> None:
    client.get("/accounts/login")
    session = client.session
    session["planted"] = "by somebody else"
    session.save()
    client.cookies["sessionid"] = planted = session.session_key
    log_in(client, make.user(), make.password)
    assert client.cookies["sessionid"].value not in ("", planted)


def test_logging_out_ends_the_session_for_good(make: Make, client: Client) -> None:
    log_in(client, make.user(), make.password)
    kept = client.cookies["sessionid"].value
    client.post("/accounts/logout")
    client.cookies["sessionid"] = kept
    assert client.get("/accounts/").status_code == 302


@pytest.mark.parametrize("way", ["changed", "set again"])
def test_a_new_password_ends_the_other_sessions(way: str, make: Make, client: Client) -> None:
    user, elsewhere = make.user(email="ada@example.org"), Client()
    log_in(elsewhere, user, make.password)
    if way == "changed":
        log_in(client, user, make.password)
        client.post("/accounts/password", {"oldpassword": make.password, **CHANGE})
        assert client.get("/accounts/").status_code == 200
    else:
        form = client.get(reset_link(client, user.email), follow=True)
        client.post(form.request["PATH_INFO"], CHANGE)
    assert elsewhere.get("/accounts/").status_code == 302


def test_cookies_are_restricted_to_this_site(make: Make, client: Client) -> None:
    client.get("/accounts/login")
    log_in(client, make.user(), make.password)
    session, token = client.cookies["sessionid"], client.cookies["csrftoken"]
    assert (session["httponly"], session["samesite"], token["samesite"]) == (True, "Lax", "Lax")


def test_guesses_of_the_old_password_are_limited_in_an_open_session(
    make: Make, client: Client, settings: Settings
) -> None:
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "change_password": "2/m/user"}
    log_in(client, make.user(), make.password)
    answers = [client.post("/accounts/password", {"oldpassword": "wrong", **CHANGE}).status_code for _ in range(3)]
    assert answers == [200, 200, 429]
    assert client.post("/accounts/password", {"oldpassword": make.password, **CHANGE}).status_code == 429
