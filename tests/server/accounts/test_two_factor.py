"""Tests two-factor authentication: logins, replayed and guessed codes, and recovery codes.

Also tests challenges that require two-factor authentication.
"""

from collections.abc import Callable
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from server.accounts import two_factor
from server.accounts.models import User
from server.audit.models import Entry
from server.challenges.models import Challenge
from server.errors import Refused
from tests.conftest import PASSWORD, Make
from tests.server.documented import Api
from tests.server.page import Page

SECRET = "JBSWY3DPEHPK3PXP"
LOGIN, CODE = "/accounts/login", "/accounts/two-factor/login"


def code_now(secret: str = SECRET) -> str:
    return auth.format_hotp_value(auth.hotp_value(secret, next(iter(auth.yield_hotp_counters_from_time()))))


def protect(user: User) -> list[str]:
    """Turn two-factor authentication on, and return the recovery codes."""
    auth.TOTP.activate(user, SECRET)
    User.objects.filter(pk=user.pk).update(has_two_factor=True)
    return RecoveryCodes.activate(user).get_unused_codes()


@pytest.fixture
def protected(make: Make) -> User:
    user = make.user(username="ada")
    protect(user)
    return user


def enter(client: Client, code: str) -> Any:
    client.post(LOGIN, {"login": "ada", "password": PASSWORD})
    return client.post(CODE, {"code": code})


def is_logged_in(client: Client) -> bool:
    return bool(client.get("/accounts/").status_code == 200)


def confirm(client: Client, user: User, address: str) -> Any:
    """Open a page that asks for the password first, enter the password, and return the response."""
    response = client.get(address)
    assert response.status_code == 302
    return client.post(response.url, {"password": PASSWORD}, follow=True)


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Stop the clock that one-time codes depend on. Return a function that sets the time of this clock."""

    def at(now: float) -> None:
        monkeypatch.setattr(auth.time, "time", lambda: now)

    at(1_900_000_000.0)
    return at


def test_a_password_alone_is_not_enough(protected: User, client: Client) -> None:
    response = client.post(LOGIN, {"login": "ada", "password": PASSWORD})
    assert response.url == CODE
    assert not is_logged_in(client)


def test_a_person_can_log_in_with_a_code_from_the_app(protected: User, client: Client, frozen: Any) -> None:
    enter(client, code_now())
    assert is_logged_in(client)


def test_a_code_cannot_be_used_again(protected: User, client: Client, frozen: Any) -> None:
    enter(client, code_now())
    other = Client()
    assert enter(other, code_now()).status_code == 200
    assert enter(other, f" {code_now()[:3]}-{code_now()[3:]}").status_code == 200
    assert not is_logged_in(other)


def test_the_code_of_the_previous_half_minute_is_refused(protected: User, client: Client, frozen: Any) -> None:
    old = code_now()
    frozen(1_900_000_030.0)
    enter(client, old)
    assert not is_logged_in(client)


def test_a_recovery_code_works_only_once(make: Make, client: Client) -> None:
    codes = protect(make.user(username="ada"))
    enter(client, codes[0])
    assert is_logged_in(client)
    other = Client()
    enter(other, codes[0])
    assert not is_logged_in(other)
    enter(other, codes[1])
    assert is_logged_in(other)


def test_the_eleventh_wrong_code_in_a_minute_is_refused(protected: User, client: Client) -> None:
    client.post(LOGIN, {"login": "ada", "password": PASSWORD})
    for _ in range(10):
        assert "Incorrect code" in Page(client.post(CODE, {"code": "000000"})).words
    assert "Incorrect code" not in Page(client.post(CODE, {"code": "000000"})).words


def test_wrong_codes_of_an_account_are_limited_for_a_day_from_any_network(
    protected: User, settings: Settings, frozen: Any
) -> None:
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "second_factor": "3/d/key"}
    statuses = []
    for number in range(4):
        client = Client(REMOTE_ADDR=f"192.0.2.{number}")
        statuses.append(enter(client, "000000").status_code)
    assert statuses == [200, 200, 200, 429]
    assert enter(Client(REMOTE_ADDR="192.0.2.9"), code_now()).status_code == 429


def test_the_secret_is_stored_encrypted(protected: User) -> None:
    stored = Authenticator.objects.get(user=protected, type="totp").data["secret"]
    assert SECRET not in stored
    assert two_factor.TwoFactorAdapter().decrypt(stored) == SECRET


def test_a_secret_that_was_encrypted_with_another_key_is_refused_with_a_reason(
    protected: User, client: Client, settings: Settings
) -> None:
    client.post(LOGIN, {"login": "ada", "password": PASSWORD})
    stored = Authenticator.objects.get(user=protected, type="totp").data["secret"]
    settings.SECRET_KEY = "another key of fifty characters, for this test only"
    with pytest.raises(Refused, match="operator"):
        two_factor.TwoFactorAdapter().decrypt(stored)


OTHER = "another key of fifty characters, for this test only"


def test_after_the_secret_key_was_changed_the_earlier_key_is_needed_until_the_secrets_are_rotated(
    protected: User, settings: Settings, frozen: Any
) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = OTHER, [settings.SECRET_KEY]
    assert enter(Client(), code_now()).status_code == 302
    call_command("rotate_secret_key")
    settings.SECRET_KEY_FALLBACKS = []
    stored = Authenticator.objects.get(user=protected, type="totp").data["secret"]
    assert two_factor.TwoFactorAdapter().decrypt(stored) == SECRET
    assert Entry.objects.filter(action="secret_key.rotated").count() == 1


def test_recovery_codes_are_rotated(protected: User, settings: Settings) -> None:
    codes = RecoveryCodes.activate(protected)
    before = codes.get_unused_codes()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = OTHER, [settings.SECRET_KEY]
    assert two_factor.encrypt_again() == (1, 0)
    settings.SECRET_KEY_FALLBACKS = []
    stored = Authenticator.objects.get(user=protected, type="recovery_codes")
    assert RecoveryCodes(stored).get_unused_codes() == before


def test_rotating_without_the_earlier_key_changes_nothing_and_exits_with_1(protected: User, settings: Settings) -> None:
    before = Authenticator.objects.get(user=protected, type="totp").data
    settings.SECRET_KEY = OTHER
    with pytest.raises(CommandError, match="SECRET_KEY_FALLBACKS"):
        call_command("rotate_secret_key")
    assert Authenticator.objects.get(user=protected, type="totp").data == before


@pytest.mark.member(username="ada")
def test_turning_two_factor_authentication_on_shows_a_code_without_inline_style(
    member: User, client: Client, frozen: Any, django_capture_on_commit_callbacks: Any
) -> None:
    page = confirm(client, member, "/accounts/two-factor/activate")
    content = page.content.decode()
    assert '<svg class="qr"' in content
    assert "style=" not in content
    secret = client.session["mfa.totp.secret"]
    assert secret in content
    with django_capture_on_commit_callbacks(execute=True):
        response = client.post("/accounts/two-factor/activate", {"code": code_now(secret)})
    assert response.url == "/accounts/two-factor/codes"
    member.refresh_from_db()
    assert member.has_two_factor
    assert Entry.objects.filter(action="user.totp_added", actor_id=str(member.pk)).exists()
    assert "10 recovery codes left" in Page(client.get("/accounts/security")).words


@pytest.mark.member(username="ada")
def test_turning_two_factor_authentication_off_requires_a_code_and_not_only_the_password(
    member: User, client: Client, frozen: Any, django_capture_on_commit_callbacks: Any
) -> None:
    protect(member)
    asked = client.get("/accounts/two-factor/deactivate")
    assert asked.url.startswith("/accounts/two-factor/confirm")
    assert client.get("/accounts/again?next=/accounts/").url.startswith("/accounts/two-factor/confirm")
    client.post(asked.url, {"code": code_now()})
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post("/accounts/two-factor/deactivate").status_code == 302
    member.refresh_from_db()
    assert not member.has_two_factor
    assert not Authenticator.objects.filter(user=member).exists()


def test_an_operator_can_turn_two_factor_authentication_off_for_a_person(
    protected: User, make: Make, client: Client
) -> None:
    root = make.user(is_staff=True, is_superuser=True)
    client.force_login(root)
    client.post("/admin/accounts/user/", {"action": "turn_off_two_factor", "_selected_action": protected.pk})
    protected.refresh_from_db()
    assert not protected.has_two_factor
    assert Entry.objects.get(action="user.two_factor_reset").actor_id == str(root.pk)


@pytest.fixture
def guarded(make: Make) -> Challenge:
    """Create a challenge whose organizers need two-factor authentication.

    The organizer ada has turned on two-factor authentication, and the organizer bob has not.
    """
    challenge = make.challenge(slug="c", visibility="private", organizers_need_two_factor=True)
    make.phase(challenge, slug="main")
    ada = make.user(username="ada")
    protect(ada)
    challenge.organizers.add(ada, make.user(username="bob"))
    return challenge


@pytest.mark.parametrize(("name", "status"), [("ada", 200), ("bob", 403)])
def test_an_organizer_without_two_factor_authentication_cannot_act(
    name: str, status: int, guarded: Challenge, api: Api
) -> None:
    user = User.objects.get(username=name)
    assert api.get("challenges/c/phases/main/truths", user=user, scope="organize").status_code == status
    assert (
        api.get("challenges/c/phases/main/leaderboard?split=private", user=user, scope="organize").status_code == status
    )


def test_the_refusal_tells_an_organizer_what_to_do(guarded: Challenge, client: Client, api: Api) -> None:
    bob = User.objects.get(username="bob")
    assert (
        api.get("challenges/c/phases/main/truths", user=bob, scope="organize").json()["code"] == "two_factor_required"
    )
    client.force_login(bob)
    assert client.get("/challenges/c/").status_code == 200
    assert "Turn it on under Account" in Page(client.get("/challenges/c/organizers")).words


def test_an_organizer_without_two_factor_authentication_cannot_compete(guarded: Challenge, client: Client) -> None:
    client.force_login(User.objects.get(username="bob"))
    response = client.post("/challenges/c/join", {"accept_rules": "on"})
    assert response.status_code == 403
    assert not guarded.memberships.exists()


def test_only_an_organizer_who_uses_two_factor_authentication_can_require_it(make: Make, client: Client) -> None:
    challenge = make.challenge(slug="c")
    bob = make.user()
    challenge.organizers.add(bob)
    client.force_login(bob)
    refused = client.post("/challenges/c/organizers", {"required": "yes"})
    assert "Turn on two-factor authentication for your own account first" in Page(refused).words
    protect(bob)
    assert client.post("/challenges/c/organizers", {"required": "yes"}).status_code == 302
    challenge.refresh_from_db()
    assert challenge.organizers_need_two_factor
