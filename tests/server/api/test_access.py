"""Tests authentication by token and by session, scopes, and rate limits."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings
from redis.exceptions import ConnectionError as RedisConnectionError

from server.accounts.models import ApiToken, User
from server.api import throttling
from server.challenges.models import Phase
from tests.conftest import InlineQueue, Make
from tests.server.documented import Api

NOW = datetime.now(UTC)
MINE = "challenges/detection/phases/main/submissions"
JOIN = "/api/v1/challenges/detection/join"


pytestmark = pytest.mark.phase(challenge={"slug": "detection"}, slug="main")


@pytest.fixture
def user(make: Make, phase: Phase) -> User:
    user = make.user()
    make.team(phase.challenge, user)
    return user


class TestToken:
    @pytest.mark.parametrize(
        "header", ["Bearer wrong", "Bearer", "Bearer ", "bearer podium_x", "Bearer \u00e9", "Bearer a b"]
    )
    def test_a_bad_token_is_401_even_on_public_routes(self, api: Api, db: None, header: str) -> None:
        answer = api.get("challenges", headers={"Authorization": header})
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="podium"'

    @pytest.mark.parametrize(
        "change", [{"revoked_at": NOW}, {"expires_at": NOW - timedelta(seconds=1)}], ids=["revoked", "expired"]
    )
    def test_a_revoked_or_expired_token_is_401(self, api: Api, user: User, change: dict[str, Any]) -> None:
        api.secret(user)
        ApiToken.objects.update(**change)
        assert api.get(MINE, user=user).status_code == 401

    def test_the_token_of_a_deactivated_account_is_401(self, api: Api, user: User) -> None:
        api.secret(user)
        type(user).objects.update(is_active=False)
        assert api.get(MINE, user=user).status_code == 401

    def test_a_request_without_token_is_401(self, api: Api, phase: Phase) -> None:
        answer = api.get(MINE)
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="podium"')
        assert answer.json()["code"] == "unauthenticated"

    @pytest.mark.parametrize(("scope", "status"), [("read", 403), ("submit", 200), ("organize", 200)])
    def test_writing_requires_the_scope_submit(self, api: Api, user: User, scope: str, status: int) -> None:
        answer = api.post("challenges/detection/join", {"accept_rules": True}, user=user, scope=scope)
        assert answer.status_code == status

    def test_reading_requires_the_scope_read(self, api: Api, user: User) -> None:
        assert api.get(MINE, user=user, scope="read").status_code == 200

    def test_the_scheme_bearer_is_not_case_sensitive(self, api: Api, user: User) -> None:
        assert api.get(MINE, headers={"Authorization": f"bEARER {api.secret(user)}"}).status_code == 200

    def test_the_last_use_is_saved_at_most_once_an_hour(self, api: Api, user: User) -> None:
        api.get(MINE, user=user)
        first = ApiToken.objects.get().last_used_at
        api.get(MINE, user=user)
        assert ApiToken.objects.get().last_used_at == first
        ApiToken.objects.update(last_used_at=NOW - timedelta(minutes=61))
        api.get(MINE, user=user)
        assert (used := ApiToken.objects.get().last_used_at) is not None
        assert used > NOW - timedelta(minutes=1)


class TestSession:
    @pytest.fixture
    def browser(self, user: User) -> Client:
        browser = Client(enforce_csrf_checks=True)
        browser.force_login(user)
        return browser

    def test_a_session_can_read(self, browser: Client) -> None:
        assert browser.get(f"/api/v1/{MINE}").status_code == 200

    def test_a_session_without_csrf_token_cannot_write(self, browser: Client) -> None:
        answer = browser.post(JOIN, {"accept_rules": True}, content_type="application/json")
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")

    def test_a_session_with_csrf_token_can_write(self, browser: Client) -> None:
        browser.cookies["csrftoken"] = "a" * 32
        answer = browser.post(
            JOIN, {"accept_rules": True}, content_type="application/json", headers={"X-CSRFToken": "a" * 32}
        )
        assert answer.status_code == 200


class TestLimits:
    @pytest.fixture(autouse=True)
    def in_one_minute(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Stop the clock that is used for rate limits, so that all requests of a test are in the same minute."""
        monkeypatch.setattr(throttling, "time", lambda: 960_000_030.0)

    def test_anonymous_requests_are_limited_per_minute(self, api: Api, phase: Phase, settings: Settings) -> None:
        settings.API_ANONYMOUS_REQUESTS_PER_MINUTE = 2
        assert [api.get("challenges").status_code for _ in range(3)] == [200, 200, 429]

    def test_the_refusal_has_a_retry_after_header(self, api: Api, phase: Phase, settings: Settings) -> None:
        settings.API_ANONYMOUS_REQUESTS_PER_MINUTE = 0
        answer = api.get("challenges")
        assert answer.json()["code"] == "rate_limited"
        assert answer.headers["Retry-After"] == "30"

    def test_behind_a_proxy_the_client_is_the_address_that_the_proxy_saw(
        self, api: Api, phase: Phase, settings: Settings
    ) -> None:
        settings.PROXIES, settings.API_ANONYMOUS_REQUESTS_PER_MINUTE = 1, 1
        claims = [{"X-Forwarded-For": f"{claim}, 203.0.113.{last}"} for claim, last in (("a", 1), ("b", 1), ("b", 2))]
        assert [api.get("challenges", headers=claim).status_code for claim in claims] == [200, 429, 200]

    def test_each_user_has_a_limit_of_their_own(self, api: Api, user: User, make: Make, settings: Settings) -> None:
        settings.API_REQUESTS_PER_MINUTE = 1
        assert [api.get("challenges", user=user).status_code for _ in range(2)] == [200, 429]
        assert api.get("challenges", user=make.user()).status_code == 200

    def test_without_a_proxy_forwarded_headers_are_ignored(self, api: Api, phase: Phase, settings: Settings) -> None:
        settings.API_ANONYMOUS_REQUESTS_PER_MINUTE = 1
        claims = [{"X-Forwarded-For": f"10.0.0.{number}"} for number in range(2)]
        assert [api.get("challenges", headers=claim).status_code for claim in claims] == [200, 429]

    def test_own_submissions_and_uploads_are_not_limited(
        self, api: Api, user: User, make: Make, phase: Phase, settings: Settings, inline_queue: InlineQueue
    ) -> None:
        settings.API_REQUESTS_PER_MINUTE = 0
        submission = make.submission(phase, user.memberships.get().team)
        for path in (MINE, f"submissions/{submission.pk}"):
            assert api.get(path, user=user).status_code == 200
        assert api.upload(MINE, file=b"x", user=user).status_code == 201

    def test_changes_to_a_submission_are_limited(
        self, api: Api, user: User, make: Make, phase: Phase, settings: Settings
    ) -> None:
        settings.API_REQUESTS_PER_MINUTE = 0
        submission = make.submission(phase, user.memberships.get().team)
        answer = api.patch(f"submissions/{submission.pk}", {"note": "x"}, user=user)
        assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")

    def test_without_the_cache_nothing_is_limited(
        self, api: Api, phase: Phase, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def down(*args: Any, **kwargs: Any) -> None:
            raise RedisConnectionError

        settings.API_ANONYMOUS_REQUESTS_PER_MINUTE = 0
        monkeypatch.setattr(throttling.cache, "add", down)
        assert api.get("challenges").status_code == 200
