"""Failed logins are limited per account and IP address, and per IP address alone, even without Redis.

The limits apply to every login page.
"""

from typing import Any

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse
from pytest_django import Settings
from redis.exceptions import ConnectionError as RedisIsDown

from server.accounts.models import User
from server.accounts.requests import client_network
from tests.conftest import Make
from tests.server.page import Page

LOGIN = "/accounts/login"


def log_in(client: Client, name: str, password: str = "wrong", **request: Any) -> Any:
    return client.post(LOGIN, {"login": name, "password": password}, **request)


@pytest.fixture
def few(settings: Settings) -> None:
    """Allow one failed login per account and three per IP address in each minute."""
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "login_failed": "1/m/key,3/m/ip"}


def test_the_eleventh_wrong_password_in_a_minute_is_refused(make: Make, client: Client) -> None:
    user = make.user()
    assert [log_in(client, user.username).status_code for _ in range(11)] == [200] * 10 + [429]
    response = log_in(client, user.username, make.password)
    assert (response.status_code, response["Retry-After"]) == (429, "60")
    assert "rate_limited" in Page(response).words


def test_an_attempt_is_counted_before_its_password_is_checked(
    make: Make, client: Client, few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, meanwhile = make.user(), []

    def check(self: User, raw_password: str) -> bool:
        if not meanwhile:
            meanwhile.append(0)
            meanwhile.append(log_in(Client(), user.username).status_code)
        return False

    monkeypatch.setattr(User, "check_password", check)
    log_in(client, user.username)
    assert meanwhile == [0, 429]


def test_the_limit_applies_while_redis_is_down(
    make: Make, client: Client, few: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(*_: Any, **__: Any) -> None:
        raise RedisIsDown

    monkeypatch.setattr("redis.connection.AbstractConnection.connect", connect)
    redis = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}
    settings.CACHES = {**settings.CACHES, "requests": redis}
    assert [log_in(client, make.user().username).status_code for _ in range(4)] == [200, 200, 200, 429]


def test_a_correct_password_does_not_count_as_a_failed_attempt(make: Make, client: Client, few: None) -> None:
    user = make.user()
    assert [log_in(Client(), user.username, make.password).status_code for _ in range(5)] == [302] * 5


@pytest.mark.parametrize("spelling", ["ADA", " ada ", "\uff41da", "\uff21DA\u3000", "ada\t"])
def test_all_spellings_of_a_name_share_one_limit(spelling: str, make: Make, client: Client, few: None) -> None:
    make.user(username="ada")
    log_in(client, spelling)
    assert log_in(client, "ada", make.password).status_code == 429


@pytest.mark.parametrize("spelling", ["ADA", " ada ", "\uff41da"])
def test_a_name_is_found_in_any_spelling(spelling: str, make: Make, client: Client) -> None:
    make.user(username="ada")
    assert log_in(client, spelling, make.password).status_code == 302


def test_the_limit_of_one_name_does_not_block_others(make: Make, client: Client, few: None) -> None:
    log_in(client, "someone")
    assert log_in(client, make.user().username, make.password).status_code == 302


def test_failed_logins_from_one_address_are_limited_for_all_names(make: Make, client: Client, few: None) -> None:
    assert [log_in(client, f"name{number}").status_code for number in range(4)] == [200, 200, 200, 429]
    user = make.user()
    assert log_in(client, user.username, make.password).status_code == 429
    assert log_in(client, user.username, make.password, REMOTE_ADDR="10.0.0.9").status_code == 302


def test_an_ipv6_network_counts_as_one_address(make: Make, client: Client, few: None) -> None:
    answers = [log_in(client, f"name{n}", REMOTE_ADDR=f"2001:db8:0:{n}::1").status_code for n in range(4)]
    assert answers == [200, 200, 200, 429]
    assert log_in(client, "name9", REMOTE_ADDR="2001:db8:1::1").status_code == 200


def test_behind_a_proxy_a_stranger_cannot_lock_the_owner_out(
    make: Make, client: Client, settings: Settings, few: None
) -> None:
    settings.PROXIES = 1
    user = make.user()
    log_in(client, user.username, headers={"X-Forwarded-For": "203.0.113.9"})
    stranger = log_in(client, user.username, headers={"X-Forwarded-For": "10.9.9.9, 203.0.113.9"})
    assert stranger.status_code == 429
    owner = log_in(client, user.username, make.password, headers={"X-Forwarded-For": "198.51.100.7"})
    assert owner.status_code == 302


def test_without_a_proxy_forwarded_headers_do_not_change_the_address(make: Make, client: Client, few: None) -> None:
    answers = [log_in(client, f"name{n}", headers={"X-Forwarded-For": f"203.0.113.{n}"}).status_code for n in range(4)]
    assert answers == [200, 200, 200, 429]


@pytest.mark.parametrize(
    ("proxies", "header", "address"),
    [
        (0, "203.0.113.9", "127.0.0.1"),
        (1, None, "127.0.0.1"),
        (1, "", "127.0.0.1"),
        (1, "forged, 203.0.113.9", "203.0.113.9"),
        (1, "2001:db8:1:2:3:4:5:6", "2001:db8:1::"),
        (1, "::ffff:203.0.113.9", "203.0.113.9"),
        (2, "forged, 203.0.113.9, 10.0.0.1", "203.0.113.9"),
        (2, "203.0.113.9", "203.0.113.9"),
    ],
)
def test_the_address_is_the_one_that_trusted_proxies_saw(
    proxies: int, header: str | None, address: str, rf: RequestFactory, settings: Settings
) -> None:
    settings.PROXIES = proxies
    assert client_network(rf.get("/", headers={} if header is None else {"X-Forwarded-For": header})) == address


def test_a_deactivated_account_is_reported_only_with_its_password(make: Make, client: Client) -> None:
    user = make.user(is_active=False)
    assert log_in(client, user.username).status_code == 200
    assert log_in(client, user.username, make.password).status_code == 403


def test_the_login_of_the_admin_redirects_to_the_login_page(make: Make, client: Client) -> None:
    user = make.user(is_staff=True)
    answer = client.post("/admin/login/?next=/admin/", {"username": user.username, "password": make.password})
    assert answer.url == "/accounts/login?next=%2Fadmin%2F"
    answer = client.post(answer.url, {"login": user.username, "password": make.password})
    assert answer.url == "/admin/"
    assert client.get("/admin/").status_code == 200


def test_the_admin_has_no_second_login(make: Make, client: Client) -> None:
    client.force_login(make.user(is_staff=True))
    answer = client.post("/admin/login/", {"username": make.user().username, "password": make.password})
    assert (answer.status_code, answer.url) == (302, "/admin/")


def test_users_without_the_staff_role_are_not_redirected_in_a_loop(make: Make, client: Client) -> None:
    client.force_login(make.user())
    assert client.get(reverse("admin:index"), follow=True).status_code == 403
