"""Accounts are hard to take over: strong hashes, fresh sessions, strict cookies, few attempts, links to nobody else."""

import re
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from server import settings as real_settings
from server.accounts import attempts
from server.accounts.models import User

NEW = "another long 7"
CHANGE = {"new_password1": NEW, "new_password2": NEW}


@pytest.fixture(autouse=True)
def in_one_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counts start anew with each minute, but not in the middle of a test."""
    monkeypatch.setattr(attempts, "time", lambda: 960_000_030.0)


def log_in(client: Client, user: User, password: str) -> Any:
    return client.post("/accounts/login", {"username": user.username, "password": password})


def reset_link(client: Client, email: str) -> str:
    client.post("/accounts/password/forgotten", {"email": email})
    found = re.search(r"http://testserver(\S+)", str(mail.outbox[-1].body))
    assert found is not None
    return found[1]


# Passwords


def test_new_passwords_are_hashed_with_argon2(make: Any, settings: Any) -> None:
    settings.PASSWORD_HASHERS = real_settings.PASSWORD_HASHERS
    assert make.user().password.startswith("argon2$argon2id$")


def test_an_older_hash_is_renewed_when_its_owner_logs_in(make: Any, settings: Any, client: Client) -> None:
    settings.PASSWORD_HASHERS = real_settings.PASSWORD_HASHERS[::-1]
    user = make.user()
    settings.PASSWORD_HASHERS = real_settings.PASSWORD_HASHERS
    assert user.password.startswith("pbkdf2")
    log_in(client, user, make.password)
    user.refresh_from_db()
    assert user.password.startswith("argon2")


def test_mail_goes_to_the_console_until_somebody_says_where() -> None:
    assert real_settings.EMAIL_BACKEND == "django.core.mail.backends.console.EmailBackend"


# Sessions


def test_logging_in_makes_a_new_session(make: Any, client: Client) -> None:
    client.get("/accounts/login")
    session = client.session
    session["planted"] = "by somebody else"
    session.save()
    client.cookies["sessionid"] = planted = session.session_key
    log_in(client, make.user(), make.password)
    assert client.cookies["sessionid"].value not in ("", planted)


def test_logging_out_ends_the_session_for_good(make: Any, client: Client) -> None:
    log_in(client, make.user(), make.password)
    kept = client.cookies["sessionid"].value
    client.post("/accounts/logout")
    client.cookies["sessionid"] = kept
    assert client.get("/accounts/").status_code == 302


@pytest.mark.parametrize("way", ["changed", "set anew"])
def test_a_new_password_ends_the_other_sessions(way: str, make: Any, client: Client) -> None:
    user, elsewhere = make.user(email="ada@example.org"), Client()
    log_in(elsewhere, user, make.password)
    if way == "changed":
        log_in(client, user, make.password)
        client.post("/accounts/password", {"old_password": make.password, **CHANGE})
        assert client.get("/accounts/").status_code == 200
    else:
        form = client.get(reset_link(client, user.email), follow=True)
        client.post(form.request["PATH_INFO"], CHANGE)
    assert elsewhere.get("/accounts/").status_code == 302


def test_cookies_are_strict(make: Any, client: Client) -> None:
    client.get("/accounts/login")
    log_in(client, make.user(), make.password)
    session, token = client.cookies["sessionid"], client.cookies["csrftoken"]
    assert (session["httponly"], session["samesite"], token["samesite"]) == (True, "Lax", "Lax")


# Attempts


def test_old_passwords_are_not_guessed_in_an_open_session(make: Any, client: Client, settings: Any) -> None:
    settings.LOGIN_ATTEMPTS_PER_MINUTE = 2
    log_in(client, make.user(), make.password)
    answers = [client.post("/accounts/password", {"old_password": "wrong", **CHANGE}).status_code for _ in range(3)]
    assert answers == [200, 200, 429]
    assert client.post("/accounts/password", {"old_password": make.password, **CHANGE}).status_code == 429


def test_nobodys_mailbox_is_flooded(make: Any, client: Client, settings: Any) -> None:
    settings.LOGIN_ATTEMPTS_PER_MINUTE = 2
    user = make.user(email="ada@example.org")
    answers = [client.post("/accounts/password/forgotten", {"email": user.email}).status_code for _ in range(3)]
    assert answers == [302, 302, 429]
    assert len(mail.outbox) == 2


def test_accounts_are_not_made_by_the_thousand(client: Client, db: None, settings: Any) -> None:
    settings.LOGIN_ATTEMPTS_PER_MINUTE = 1

    def sign_up(number: int) -> int:
        form = {"username": f"new{number}", "email": f"new{number}@example.org", "password": NEW}
        status: int = Client().post("/accounts/signup", form).status_code
        return status

    answers = [sign_up(number) for number in range(attempts.NAMES_OF_AN_ADDRESS + 1)]
    assert answers == [302] * attempts.NAMES_OF_AN_ADDRESS + [429]


# Links in mails


def test_a_reset_link_works_once(make: Any, client: Client) -> None:
    link = reset_link(client, make.user(email="ada@example.org").email)
    client.post(client.get(link, follow=True).request["PATH_INFO"], CHANGE)
    assert b"This link cannot be used" in Client().get(link, follow=True).content


def test_a_reset_link_never_leads_to_another_host(make: Any, client: Client) -> None:
    user = make.user(email="ada@example.org")
    answer = client.post("/accounts/password/forgotten", {"email": user.email}, headers={"Host": "evil.example"})
    assert answer.status_code == 400
    assert mail.outbox == []
