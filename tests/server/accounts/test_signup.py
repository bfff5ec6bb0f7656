"""Sign-up checks names, is limited, and never reveals whether an email address already has an account."""

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from pytest_django import Settings

from server.accounts.models import User
from server.accounts.services import confirm_own_address
from server.audit.models import Entry
from tests.conftest import Make
from tests.server.page import Page

PASSWORD = "long enough 7"
NEW = {"username": "ada", "email": "ada@example.org", "password1": PASSWORD}
SIGNUP = "/accounts/signup"


def sign_up(number: int = 0, *, client: Client | None = None, headers: dict[str, str] | None = None, **to: Any) -> Any:
    form = {"username": f"new{number}", "email": f"new{number}@example.org", "password1": PASSWORD}
    return (client or Client()).post(SIGNUP, {**form, **to}, headers=headers)


@pytest.fixture
def confirming(settings: Settings) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"


def test_signing_up_logs_in_and_redirects_to_the_next_page(client: Client, db: None) -> None:
    response = client.post(SIGNUP, {**NEW, "next": "/accounts/"}, follow=True)
    assert response.redirect_chain == [("/accounts/", 302)]
    assert response.context["user"].username == "ada"
    assert Entry.objects.get(action="account.created").actor == "ada"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("username", "ADA"),  # The name "ada" is already taken, and letter case is ignored.
        ("username", "\u202eadm\u202c"),  # The name has a character that changes the direction of the text.
        ("username", "a\u200bb"),  # The name has an invisible character.
        ("username", "\u3164"),  # The name consists of an invisible letter.
        ("username", "a\x00b"),
        ("username", "..."),
        ("username", "two words"),
        ("email", "nobody"),
        ("password1", "short7"),
        ("password1", "ada@example.org"),
        ("password1", "8456271039"),
    ],
)
def test_sign_up_refuses_an_invalid_form(field: str, value: str, make: Make, client: Client) -> None:
    make.user(username="ada", email="other@example.org")
    start = {"username": "new", "email": "ada@example.org", "password1": PASSWORD}
    page = Page(client.post(SIGNUP, {**start, field: value}))
    assert page.all("p", class_="wrong")
    assert User.objects.count() == 1


def test_a_refused_form_keeps_all_input_except_the_password(client: Client, db: None) -> None:
    page = Page(client.post(SIGNUP, {**NEW, "email": "wrong"}))
    assert page.all("input", name="username")[0]["value"] == "ada"
    assert "value" not in page.all("input", name="password1")[0]
    assert page.all("input", name="email")[0]["aria-invalid"] == "true"


def test_names_are_normalized(client: Client, db: None) -> None:
    client.post(SIGNUP, {**NEW, "username": "\uff21da"})
    assert User.objects.get().username == "Ada"


def test_a_name_that_is_taken_before_saving_is_an_error_of_the_form(
    make: Make, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("allauth.account.internal.userkit.filter_users_by_username", lambda *_: User.objects.none())
    monkeypatch.setattr("server.accounts.adapter.refuse_look_alike", lambda *_: None)
    make.user(username="ada")
    assert client.post(SIGNUP, NEW).status_code == 422
    assert not Entry.objects.filter(action="account.created").exists()


def test_one_address_can_create_twenty_accounts_a_day(db: None, settings: Settings) -> None:
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "signup": "1000/m/ip"}
    answers = [sign_up(number) for number in range(21)]
    assert [answer.status_code for answer in answers] == [302] * 20 + [429]
    assert answers[-1]["Retry-After"] == "86400"
    assert User.objects.count() == 20


def test_attempts_to_sign_up_are_limited_per_minute(db: None) -> None:
    assert [sign_up(email="wrong").status_code for _ in range(21)] == [200] * 20 + [429]


def test_the_limit_of_sign_ups_applies_to_an_ipv6_site_and_ignores_forged_headers(db: None, settings: Settings) -> None:
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "signed_up": "1/d/ip"}
    forged = [sign_up(number, headers={"X-Forwarded-For": f"203.0.113.{number}"}) for number in range(2)]
    assert [answer.status_code for answer in forged] == [302, 429]
    settings.PROXIES = 1
    network = [sign_up(number, headers={"X-Forwarded-For": f"2001:db8:0:{number}::1"}) for number in range(2, 4)]
    assert [answer.status_code for answer in network] == [302, 429]


# The following tests check that no response reveals which email addresses have accounts.


def everything_seen(name: str, address: str) -> list[Any]:
    """Sign up, sign up again with the same name, log in and request a new password. Return the content of all pages."""
    client = Client()
    answers = [
        sign_up(client=client, username=name, email=address),
        client.get("/accounts/"),
        sign_up(username=name, email="other@example.org"),
        Client().post("/accounts/login", {"login": name, "password": PASSWORD}),
        Client().post("/accounts/password/forgotten", {"email": address}),
    ]
    texts = [Page(answer).words.replace(name, "NAME").replace(address.lower(), "ADDRESS") for answer in answers]
    # Remove the time at which the account was created, because it differs between two sign-ups if a new minute has
    # begun.
    shown = [re.sub(r"joined .*? UTC", "joined", text) for text in texts]
    return [(answer.status_code, answer.headers.get("Location")) for answer in answers] + shown


@pytest.mark.parametrize("confirmation", ["mandatory", "none"])
@pytest.mark.parametrize("known", ["grace@example.org", "GRACE@example.org"])
def test_sign_up_gives_the_same_response_for_a_known_address(
    confirmation: str, known: str, make: Make, settings: Settings
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = confirmation
    confirm_own_address(make.user(username="grace", email="grace@example.org"))
    assert everything_seen("probe-a", known) == everything_seen("probe-b", "unknown@example.org")


def test_only_a_mail_reveals_that_an_address_has_an_account(make: Make, confirming: None) -> None:
    confirm_own_address(make.user(email="grace@example.org"))
    sign_up(1, email="grace@example.org")
    sign_up(2, email="unknown@example.org")
    known, unknown = mail.outbox
    assert (known.to, unknown.to) == (["grace@example.org"], ["unknown@example.org"])
    assert "/accounts/confirm/" not in known.body
    assert "/accounts/confirm/" in unknown.body


def test_sign_up_takes_the_same_time_for_known_and_unknown_addresses(
    make: Make, confirming: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    confirm_own_address(make.user(email="grace@example.org"))
    hashed: list[str] = []
    monkeypatch.setattr(User, "set_password", lambda self, password: hashed.append(self.email))
    sign_up(1, email="grace@example.org")
    sign_up(2, email="unknown@example.org")
    assert hashed == ["grace@example.org", "unknown@example.org"]


def test_sign_up_with_an_address_of_somebody_else_gives_no_access(make: Make, client: Client) -> None:
    confirm_own_address(owner := make.user(username="grace", email="grace@example.org"))
    sign_up(1, email="grace@example.org")
    client.post("/accounts/password/forgotten", {"email": "grace@example.org"})
    assert [message.body.splitlines()[0] for message in mail.outbox] == ["Hello grace,"]
    assert list(EmailAddress.objects.filter(verified=True).values_list("user", flat=True)) == [owner.pk]
