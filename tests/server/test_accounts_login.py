"""Wrong passwords are limited: by name and address, by address alone, at every door."""

from typing import Any

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse

from server.accounts import attempts
from server.accounts.requests import address_of
from tests.server.page import Page

DOORS = ("/accounts/login", "/admin/login/")


@pytest.fixture(autouse=True)
def in_one_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counts start anew with each minute, but not in the middle of a test."""
    monkeypatch.setattr(attempts, "time", lambda: 960_000_030.0)


def log_in(client: Client, name: str, password: str = "wrong", *, door: str = DOORS[0], **request: Any) -> Any:
    return client.post(door, {"username": name, "password": password}, **request)


@pytest.mark.parametrize("door", DOORS)
def test_too_many_wrong_passwords_are_refused(door: str, make: Any, client: Client, settings: Any) -> None:
    user = make.user(is_staff=True)
    for _ in range(settings.LOGIN_ATTEMPTS_PER_MINUTE):
        assert log_in(client, user.username, door=door).status_code == 200
    response = log_in(client, user.username, make.password, door=door)
    assert response.status_code == 429
    assert "rate_limited" in Page(response).words


def test_the_doors_count_together(make: Any, client: Client, settings: Any) -> None:
    settings.LOGIN_ATTEMPTS_PER_MINUTE = 1
    user = make.user(is_staff=True)
    log_in(client, user.username, door=DOORS[0])
    assert log_in(client, user.username, make.password, door=DOORS[1]).status_code == 429


def test_the_refusal_says_how_long_to_wait(client: Client, db: None, settings: Any) -> None:
    settings.LOGIN_ATTEMPTS_PER_MINUTE = 0
    assert log_in(client, "ada")["Retry-After"] == "30"


@pytest.mark.parametrize("spelling", ["ADA", " ada ", "\uff41da", "\uff21DA\u3000", "ada\t"])
def test_other_spellings_of_a_name_are_no_further_attempts(
    spelling: str, make: Any, client: Client, settings: Any
) -> None:
    settings.LOGIN_ATTEMPTS_PER_MINUTE = 1
    make.user(username="ada")
    log_in(client, spelling)
    assert log_in(client, "ada", make.password).status_code == 429


def test_other_names_may_still_log_in(make: Any, client: Client, settings: Any) -> None:
    settings.LOGIN_ATTEMPTS_PER_MINUTE = 1
    log_in(client, "someone")
    assert log_in(client, make.user().username, make.password).status_code == 302


def test_an_address_does_not_try_name_after_name(make: Any, client: Client, settings: Any) -> None:
    settings.LOGIN_ATTEMPTS_PER_MINUTE = 1
    for number in range(attempts.NAMES_OF_AN_ADDRESS):
        assert log_in(client, f"name{number}").status_code == 200
    user = make.user()
    assert log_in(client, user.username, make.password).status_code == 429
    assert log_in(client, user.username, make.password, REMOTE_ADDR="10.0.0.9").status_code == 302


def test_behind_a_proxy_a_stranger_does_not_lock_the_owner_out(make: Any, client: Client, settings: Any) -> None:
    settings.PROXIES, settings.LOGIN_ATTEMPTS_PER_MINUTE = 1, 1
    user = make.user()
    log_in(client, user.username, headers={"X-Forwarded-For": "203.0.113.9"})
    stranger = log_in(client, user.username, headers={"X-Forwarded-For": "10.9.9.9, 203.0.113.9"})
    assert stranger.status_code == 429
    owner = log_in(client, user.username, make.password, headers={"X-Forwarded-For": "198.51.100.7"})
    assert owner.status_code == 302


@pytest.mark.parametrize(
    ("proxies", "header", "address"),
    [
        (0, "203.0.113.9", "127.0.0.1"),
        (1, None, "127.0.0.1"),
        (1, "", "127.0.0.1"),
        (1, "forged, 203.0.113.9", "203.0.113.9"),
        (2, "forged, 203.0.113.9, 10.0.0.1", "203.0.113.9"),
        (2, "203.0.113.9", "203.0.113.9"),
    ],
)
def test_an_address_is_what_our_own_proxies_saw(
    proxies: int, header: str | None, address: str, rf: RequestFactory, settings: Any
) -> None:
    settings.PROXIES = proxies
    assert address_of(rf.get("/", headers={} if header is None else {"X-Forwarded-For": header})) == address


def test_staff_get_into_the_admin_by_its_own_door(make: Any, client: Client) -> None:
    user = make.user(is_staff=True)
    response = log_in(client, user.username, make.password, door="/admin/login/?next=/admin/")
    assert response.url == "/admin/"
    assert client.get("/admin/").status_code == 200


def test_without_being_staff_one_is_not_sent_in_circles(make: Any, client: Client) -> None:
    client.force_login(make.user())
    response = client.get(reverse("admin:index"), follow=True)
    assert response.status_code == 200
    assert Page(response).all("input", name="password")
