"""Links in emails confirm email addresses and reset passwords, and they lead only to this service."""

import re
from importlib import import_module
from io import StringIO
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.apps import apps
from django.core import mail
from django.core.management import call_command
from django.db import connection
from django.test import Client
from pytest_django import Settings

from server.accounts.models import User
from server.accounts.services import confirm_own_address
from server.audit.models import Entry
from tests.conftest import Make
from tests.server.page import Page

URL = "https://podium.example.org"
NEW = "another long 7"
CHANGE = {"password1": NEW, "password2": NEW}
SIGN_UP = {"username": "ada", "email": "ada@example.org", "password1": "long enough 7"}


@pytest.fixture(autouse=True)
def public(settings: Settings) -> None:
    settings.PODIUM_URL, settings.ACCOUNT_EMAIL_VERIFICATION = f"{URL}/", "mandatory"


def link() -> str:
    """Return the path of the link in the last email. The link must lead to this service."""
    paths: list[str] = re.findall(rf"^{URL}(/\S+)$", str(mail.outbox[-1].body), re.MULTILINE)
    return paths[-1]


def forgotten(email: str, **request: Any) -> Any:
    return Client().post("/accounts/password/forgotten", {"email": email}, **request)


# The following tests confirm email addresses.


def test_an_account_can_be_used_when_its_address_is_confirmed(client: Client, db: None) -> None:
    assert client.post("/accounts/signup", SIGN_UP).url == "/accounts/confirm"
    assert client.get("/accounts/").status_code == 302
    assert client.get(link()).url == "/"
    assert client.get("/accounts/").status_code == 200
    assert Entry.objects.get(action="user.email_confirmed").actor == "ada"


def test_opening_a_link_in_another_browser_confirms_nothing_because_mail_scanners_follow_links(
    client: Client, db: None
) -> None:
    client.post("/accounts/signup", SIGN_UP)
    Client().post("/accounts/signup", {**SIGN_UP, "username": "other", "email": "other@example.org"})
    # The last email contains the link for the second sign-up. A GET request for this link must not confirm the address,
    # because neither of the two browsers was used for that sign-up.
    for elsewhere in (Client(), client):
        assert elsewhere.get(link()).status_code == 200
    assert not EmailAddress.objects.filter(verified=True).exists()
    assert Client().post(link()).status_code == 302
    assert EmailAddress.objects.get(verified=True).user.username == "other"


def test_confirming_redirects_to_the_page_requested_at_sign_up(client: Client, db: None) -> None:
    client.post("/accounts/signup", {**SIGN_UP, "next": "/challenges/c/rules"})
    assert client.post(link()).url == "/challenges/c/rules"


def test_confirming_an_address_in_another_browser_logs_nobody_in(client: Client, db: None) -> None:
    client.post("/accounts/signup", SIGN_UP)
    elsewhere = Client()
    assert elsewhere.post(link()).url == "/accounts/login"
    assert elsewhere.get("/accounts/").status_code == 302


def test_logging_in_with_an_unconfirmed_address_sends_another_link_but_not_every_time(
    client: Client, db: None, settings: Settings
) -> None:
    client.post("/accounts/signup", SIGN_UP)
    login = {"login": "ada", "password": SIGN_UP["password1"]}
    assert Client().post("/accounts/login", login).url == "/accounts/confirm"
    assert len(mail.outbox) == 1
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "confirm_email": None}
    Client().post("/accounts/login", login)
    assert len(mail.outbox) == 2


@pytest.mark.parametrize("key", ["bad", "Mg:1xUvSz:Y0qMkyCFQIwQvbKR3hUI3lM9XqM1OgNlkSHYbqhLjjM"])
def test_a_bad_confirmation_cannot_be_used(key: str, client: Client, db: None) -> None:
    assert not client.get(f"/accounts/confirm/{key}").context["can_confirm"]
    assert client.post(f"/accounts/confirm/{key}").status_code == 404


def test_an_address_belongs_to_the_first_account_that_confirms_it(db: None) -> None:
    links = []
    for number in (1, 2):
        Client().post("/accounts/signup", {**SIGN_UP, "username": f"ada{number}", "email": f"ada{number}@example.org"})
        links.append(link())
    EmailAddress.objects.update(email="ada@example.org")
    Client().post(links[1])
    Client().post(links[0])
    assert EmailAddress.objects.get(verified=True).user.username == "ada2"
    assert not Page(Client().get(links[0])).context["can_confirm"]


def test_two_accounts_that_confirm_one_address_at_once_cause_no_error(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.post("/accounts/signup", SIGN_UP)
    path = link()
    Client().post("/accounts/signup", {**SIGN_UP, "username": "other"})
    EmailAddress.objects.filter(user__username="other").update(verified=True)
    # Simulate both accounts passing the check for duplicates before either of them is confirmed.
    monkeypatch.setattr(EmailAddress, "can_set_verified", lambda self: True)
    assert client.post(path).status_code == 302
    assert EmailAddress.objects.get(verified=True).user.username == "other"
    assert client.get("/accounts/").status_code == 302


def test_a_superuser_created_by_a_command_can_log_in_at_once(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", NEW)
    call_command("createsuperuser", "--noinput", username="root", email="Root@Example.org", stdout=StringIO())
    assert client.post("/accounts/login", {"login": "root", "password": NEW}).url == "/"


def test_addresses_of_existing_accounts_count_as_confirmed(make: Make, client: Client) -> None:
    users = [make.user(username=name, email=email) for name, email in (("a", "a@example.org"), ("b", ""))]
    confirm_own_address(known := make.user(username="c", email="c@example.org"))
    name = "server.accounts.migrations.0002_confirmed_addresses_of_known_accounts"
    for _ in range(2):
        import_module(name).confirm(apps, connection.schema_editor())
    found = EmailAddress.objects.values_list("user", "email", "verified", "primary")
    assert set(found) == {(users[0].pk, "a@example.org", True, True), (known.pk, "c@example.org", True, True)}
    for user in (*users, known):
        answer = Client().post("/accounts/login", {"login": user.username, "password": make.password})
        assert answer.url == "/"


# The following tests reset passwords.


def test_a_forgotten_password_can_be_reset_by_mail(make: Make, client: Client) -> None:
    user = make.user(email="ada@example.org")
    forgotten("ada@example.org")
    form = client.get(link(), follow=True)
    done = client.post(form.request["PATH_INFO"], CHANGE, follow=True)
    assert done.request["PATH_INFO"] == "/accounts/password/done"
    assert client.login(username=user.username, password=NEW)
    assert Entry.objects.get(action="user.password_changed").subject == f"user {user.pk}"


def test_a_reset_link_works_only_once(make: Make, client: Client) -> None:
    make.user(email="ada@example.org")
    forgotten("ada@example.org")
    client.post(client.get(link(), follow=True).request["PATH_INFO"], CHANGE)
    assert Client().get(link(), follow=True).context["token_fail"] is True


@pytest.mark.parametrize("path", ["1/bad-token", "zzzzzzzzzzzzzzzzzzzz/x", "é/x", "-/-", "1/set-password"])
def test_a_bad_reset_link_cannot_be_used(path: str, client: Client, db: None) -> None:
    assert client.get(f"/accounts/password/new/{path}").context["token_fail"] is True


def test_an_unknown_address_gets_the_same_page_and_the_same_work(make: Make) -> None:
    confirm_own_address(make.user(email="ada@example.org"))
    pages = [forgotten(email, follow=True) for email in ("ada@example.org", "nobody@example.org")]
    assert len({(page.status_code, page.content) for page in pages}) == 1
    assert [message.to for message in mail.outbox] == [["ada@example.org"], ["nobody@example.org"]]


def test_a_response_does_not_reveal_that_the_mail_server_refused_an_address(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr("django.core.mail.EmailMessage.send", refuse)
    make.user(email="ada@example.org")
    assert [forgotten(email).status_code for email in ("ada@example.org", "nobody@example.org")] == [302, 302]


def test_mails_to_one_mailbox_are_limited(make: Make) -> None:
    make.user(email="ada@example.org")
    answers = [forgotten("ada@example.org", REMOTE_ADDR=f"10.0.0.{n}").status_code for n in range(6)]
    assert answers == [302] * 5 + [429]
    assert len(mail.outbox) == 5


def test_one_address_can_request_ten_mails_a_minute(db: None) -> None:
    answers = [forgotten(f"nobody{n}@example.org").status_code for n in range(11)]
    assert answers == [302] * 10 + [429]


# The following tests check the host in links that are sent by email.


@pytest.mark.parametrize("host", ["testserver", "localhost", "127.0.0.1:8000", "[::1]"])
def test_links_lead_to_podium_url_whatever_host_was_requested(host: str, make: Make, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1", "[::1]"]
    confirm_own_address(make.user(email="ada@example.org"))
    hosts = {"Host": host, "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "ftp"}
    for email in ("ada@example.org", "nobody@example.org"):
        forgotten(email, headers=hosts)
        Client().post("/accounts/signup", {**SIGN_UP, "username": email[:3], "email": email}, headers=hosts)
    assert len(mail.outbox) == 4
    for message in mail.outbox:
        text = f"{message.subject}\n{message.body}"
        assert set(re.findall(r"\w+://[^/\s.]+(?:\.[^/\s.]+)*", text)) == {URL}
        assert host not in text
        assert "evil" not in text


def test_an_unknown_host_is_refused_and_sends_nothing(make: Make) -> None:
    make.user(email="ada@example.org")
    assert forgotten("ada@example.org", headers={"Host": "evil.example"}).status_code == 400
    assert mail.outbox == []


# The following tests are about email addresses that staff enter in the admin.


def test_an_address_that_staff_enter_counts_as_confirmed(make: Make, client: Client) -> None:
    client.force_login(make.user(is_staff=True, is_superuser=True))
    form = {"username": "bob", "email": "bob@example.org", "usable_password": "true", **CHANGE}
    assert client.post("/admin/accounts/user/add/", form).status_code == 302
    assert Client().post("/accounts/login", {"login": "bob", "password": NEW}).url == "/"
    bob = User.objects.get(username="bob")
    changed = {"username": "bob", "email": "new@example.org", "is_active": "on"}
    dates = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    client.post(f"/admin/accounts/user/{bob.pk}/change/", {**changed, **dates})
    assert list(EmailAddress.objects.filter(user=bob).values_list("email", "verified")) == [("new@example.org", True)]


def test_staff_can_confirm_an_address_by_hand(make: Make, client: Client) -> None:
    Client().post("/accounts/signup", SIGN_UP)
    client.force_login(make.user(username="root", is_staff=True, is_superuser=True))
    chosen = {"action": "confirm", "_selected_action": [EmailAddress.objects.get().pk]}
    client.post("/admin/account/emailaddress/", chosen)
    assert EmailAddress.objects.get().verified
    assert Entry.objects.get(action="user.email_confirmed").actor == "root"
