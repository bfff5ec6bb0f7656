"""When a user approves a program's login code in the browser, only that program gets a token, and only once."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from server.accounts import device_logins
from server.accounts.adapter import AccountAdapter
from server.accounts.models import ApiToken, DeviceLogin, User
from server.audit.models import Entry
from tests.conftest import Make
from tests.server.documented import Api

PAGE = "/accounts/device"
START = {"name": "podium on laptop", "scope": "submit"}


@pytest.fixture
def started(api: Api) -> dict[str, Any]:
    return dict(api.post("device/code", START).json())


def fetch(api: Api, device_code: str) -> tuple[int, dict[str, Any]]:
    DeviceLogin.objects.update(asked_at=None)
    answer = api.post("device/token", {"device_code": device_code})
    return answer.status_code, answer.json()


def approve(client: Client, code: str, decision: str = "approve") -> Any:
    return client.post(PAGE, {"code": code, "decision": decision})


def test_the_first_response_has_the_fields_of_rfc_8628(started: dict[str, Any], settings: Settings) -> None:
    assert re.fullmatch(r"[B-Z]{4}-[B-Z]{4}", started["user_code"])
    assert started["verification_uri"] == f"{settings.PODIUM_URL}/accounts/device"
    assert started["verification_uri_complete"].endswith(f"?code={started['user_code']}")
    assert (started["expires_in"], started["interval"]) == (900, 5)


def test_codes_are_not_stored_in_plain_text(started: dict[str, Any]) -> None:
    assert started["device_code"] not in str(DeviceLogin.objects.values_list().get())


def test_an_approved_code_gives_a_token_for_the_user_who_approved_it(
    api: Api, client: Client, member: User, started: dict[str, Any]
) -> None:
    assert approve(client, started["user_code"]).status_code == 200
    status, answer = fetch(api, started["device_code"])
    token = ApiToken.objects.of_secret(answer["access_token"]).get()
    assert (status, answer["token_type"], answer["scope"]) == (200, "Bearer", "submit")
    assert (token.user, token.name, token.scope) == (member, "podium on laptop", "submit")


def test_a_code_gives_only_one_token(api: Api, client: Client, member: User, started: dict[str, Any]) -> None:
    approve(client, started["user_code"])
    assert [fetch(api, started["device_code"])[0] for _ in range(2)] == [200, 400]
    assert ApiToken.objects.count() == 1


def test_a_code_is_pending_until_it_is_decided(api: Api, started: dict[str, Any]) -> None:
    assert fetch(api, started["device_code"])[1]["code"] == "authorization_pending"


def test_polling_too_often_is_refused(api: Api, started: dict[str, Any]) -> None:
    fetch(api, started["device_code"])
    answer = api.post("device/token", {"device_code": started["device_code"]})
    assert (answer.status_code, answer.json()["code"]) == (400, "slow_down")


def test_a_denied_code_gives_no_token(api: Api, client: Client, member: User, started: dict[str, Any]) -> None:
    approve(client, started["user_code"], "deny")
    answers = [fetch(api, started["device_code"])[1]["code"] for _ in range(2)]
    assert answers == ["access_denied", "expired_token"]
    assert not ApiToken.objects.exists()


def test_an_expired_code_can_neither_be_approved_nor_fetched(
    api: Api, client: Client, member: User, started: dict[str, Any]
) -> None:
    DeviceLogin.objects.update(expires_at=datetime.now(UTC) - timedelta(seconds=1))
    assert approve(client, started["user_code"]).status_code == 404
    assert fetch(api, started["device_code"])[1]["code"] == "expired_token"


def test_a_code_can_be_decided_only_once(
    api: Api, client: Client, member: User, make: Make, started: dict[str, Any]
) -> None:
    other = Client()
    other.force_login(make.user())
    assert [approve(one, started["user_code"]).status_code for one in (client, other)] == [200, 404]
    fetch(api, started["device_code"])
    assert ApiToken.objects.get().user == member


def test_the_user_code_is_not_enough_to_fetch_the_token(
    api: Api, client: Client, member: User, started: dict[str, Any]
) -> None:
    approve(client, started["user_code"])
    assert fetch(api, started["user_code"])[1]["code"] == "expired_token"


def test_reading_the_page_approves_nothing(api: Api, client: Client, member: User, started: dict[str, Any]) -> None:
    page = client.get(f"{PAGE}?code={started['user_code']}&decision=approve").content.decode()
    assert f'value="{started["user_code"]}"' in page
    assert fetch(api, started["device_code"])[1]["code"] == "authorization_pending"


@pytest.mark.parametrize("scope", ["read", "submit", "organize"])
def test_the_page_shows_what_the_code_grants(api: Api, client: Client, member: User, scope: str) -> None:
    code = api.post("device/code", {"name": "<b>tool</b>", "scope": scope}).json()["user_code"]
    page = client.post(PAGE, {"code": code.replace("-", " ").lower()}).content.decode()
    assert code in page
    assert "&lt;b&gt;tool&lt;/b&gt;" in page
    assert "127.0.0.1" in page
    assert "90 days, or until you revoke it" in page
    assert ("submit files" in page, "organize" in page) == (scope != "read", scope == "organize")


def test_a_visitor_must_log_in_first_and_keeps_the_code(client: Client, started: dict[str, Any]) -> None:
    answer = client.get(PAGE, {"code": started["user_code"]})
    assert answer.headers["Location"] == f"/accounts/login?next=/accounts/device%3Fcode%3D{started['user_code']}"


def test_guessing_codes_is_limited(client: Client, member: User) -> None:
    statuses = [client.post(PAGE, {"code": f"BCDF-GHJ{sign}"}).status_code for sign in 2 * device_logins.ALPHABET]
    assert statuses[:20] == [404] * 20
    assert statuses[20:] == [429] * 20


def test_starting_logins_is_limited(api: Api, db: None) -> None:
    statuses = [api.post("device/code", START).status_code for _ in range(11)]
    assert statuses == [200] * 10 + [429]


@pytest.mark.parametrize("name", ["", " ", "a\nb\x00", "x" * 81, "\u202eevil"])
def test_a_name_that_cannot_be_shown_is_invalid(api: Api, db: None, name: str) -> None:
    assert api.post("device/code", {**START, "name": name}).json()["code"] == "invalid"


def test_a_token_is_never_valid_longer_than_the_setting(
    api: Api, client: Client, member: User, started: dict[str, Any], settings: Settings
) -> None:
    settings.API_TOKEN_DAYS = 1
    approve(client, started["user_code"])
    assert fetch(api, started["device_code"])[1]["expires_in"] <= 24 * 3600


def test_decisions_are_in_the_audit_log(client: Client, member: User, started: dict[str, Any]) -> None:
    approve(client, started["user_code"])
    entry = Entry.objects.get(action="device.approved")
    assert (entry.actor, entry.detail["user"]) == (member.username, member.pk)


def test_responses_that_contain_a_secret_are_not_cached(
    api: Api, client: Client, member: User, started: dict[str, Any]
) -> None:
    approve(client, started["user_code"])
    answer = api.post("device/token", {"device_code": started["device_code"]})
    assert answer.headers["Cache-Control"] == "no-store"


class TestMe:
    def test_the_response_contains_the_user_and_the_token(self, api: Api, make: Make) -> None:
        user = make.user()
        answer = api.get("me", user=user).json()
        assert (answer["username"], answer["token"]["scope"]) == (user.username, "submit")

    def test_a_session_has_no_token(self, api: Api, client: Client, member: User) -> None:
        assert client.get("/api/v1/me").json() == {"username": member.username, "token": None}

    def test_a_revoked_token_is_refused_from_then_on(self, api: Api, make: Make) -> None:
        user = make.user()
        assert api.ask("DELETE", "me/token", user=user, scope="read").status_code == 204
        assert api.get("me", user=user, scope="read").status_code == 401


def test_a_change_of_the_password_ends_approved_logins(
    api: Api, client: Client, member: User, started: dict[str, Any]
) -> None:
    approve(client, started["user_code"])
    AccountAdapter().set_password(member, "another horse battery")
    assert api.post("device/token", {"device_code": started["device_code"]}).status_code == 400
