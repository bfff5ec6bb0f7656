"""API tokens are shown only once and stored as hashes. They have a scope, expire, and can be revoked."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from server.accounts.models import ApiToken
from server.accounts.services import issue_token, revoke_token
from server.audit.models import Entry
from server.errors import Refused
from tests.conftest import Make

DAY = timedelta(days=1)


@pytest.fixture
def token(make: Make) -> tuple[ApiToken, str]:
    return issue_token(user=make.user(), name="laptop", scope="submit", days=1)


def test_only_the_hash_of_a_secret_is_stored(token: tuple[ApiToken, str]) -> None:
    row, secret = token
    row.refresh_from_db()
    assert row.sha256 == sha256(secret.encode()).hexdigest()
    assert secret not in str(ApiToken.objects.values_list().get())


def test_tokens_are_distinguished_by_their_first_characters(token: tuple[ApiToken, str]) -> None:
    row, secret = token
    assert secret.startswith(row.start)
    assert len(row.start) == 12


def test_a_token_is_usable_until_it_expires(token: tuple[ApiToken, str]) -> None:
    now = datetime.now(UTC)
    assert ApiToken.objects.of_secret(token[1]).usable(now).exists()
    assert not ApiToken.objects.of_secret(token[1]).usable(now + 2 * DAY).exists()


def test_a_revoked_token_is_not_usable(token: tuple[ApiToken, str]) -> None:
    revoke_token(token=token[0], by=token[0].user)
    assert not ApiToken.objects.usable(datetime.now(UTC)).exists()


def test_revoking_twice_changes_nothing(token: tuple[ApiToken, str]) -> None:
    for _ in range(2):
        revoke_token(token=token[0], by=token[0].user)
    assert Entry.objects.filter(action="token.revoked").count() == 1


def test_another_person_cannot_revoke_a_token(token: tuple[ApiToken, str], make: Make) -> None:
    with pytest.raises(Refused) as refusal:
        revoke_token(token=token[0], by=make.user())
    assert refusal.value.code == "not_found"


def test_staff_can_revoke_a_token(token: tuple[ApiToken, str], make: Make) -> None:
    revoke_token(token=token[0], by=make.user(is_staff=True))
    assert not ApiToken.objects.usable(datetime.now(UTC)).exists()


def test_an_inactive_account_has_no_usable_token(token: tuple[ApiToken, str]) -> None:
    token[0].user.is_active = False
    token[0].user.save()
    assert not ApiToken.objects.usable(datetime.now(UTC)).exists()


def test_the_log_records_a_token_without_its_secret(token: tuple[ApiToken, str]) -> None:
    entry = Entry.objects.get(action="token.issued")
    assert entry.actor == token[0].user.username
    assert token[1] not in str(entry.detail)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"name": name} for name in ("", " \t ", "x" * 81, "a\0b", "a\u202eb")),
        *({"days": days} for days in (-1, 0, 366)),
        {"scope": "root"},
    ],
)
def test_wrong_fields_are_refused(make: Make, wrong: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refusal:
        issue_token(**{"user": make.user(), "name": "laptop", "scope": "read", "days": 30, **wrong})
    assert refusal.value.code == "invalid"


class TestCommand:
    def test_the_command_prints_only_a_valid_token(self, make: Make) -> None:
        out = StringIO()
        call_command("token", make.user(username="ada").username, stdout=out)
        row = ApiToken.objects.of_secret(out.getvalue().strip()).get()
        assert (row.user.username, row.scope) == ("ada", "submit")

    def test_the_command_ignores_the_letter_case_of_a_username(self, make: Make) -> None:
        make.user(username="Ada")
        call_command("token", "ada", "--scope", "organize", "--days", "3", stdout=StringIO())
        assert ApiToken.objects.get().scope == "organize"

    def test_the_command_reports_an_unknown_account(self, db: None) -> None:
        with pytest.raises(CommandError, match="nobody"):
            call_command("token", "nobody")

    def test_the_command_reports_the_longest_validity_of_a_token(self, make: Make) -> None:
        with pytest.raises(CommandError, match="365"):
            call_command("token", make.user().username, "--days", "1000")
