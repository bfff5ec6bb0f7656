"""A process whose secret keys differ from those of the installation does not start, and `doctor` reports it."""

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class
from pytest_django import Settings

from server.accounts.models import User
from server.audit.models import Entry
from server.organize.services import signing_keys
from server.runtime import doctor, shared_keys
from server.runtime.joining import WRONG_CONFIGURATION, WrongInstallation
from server.runtime.models import SharedKey

pytestmark = pytest.mark.django_db

OTHER = "another key, with more than 32 characters"


def test_the_first_web_part_stores_fingerprints_and_no_keys(settings: Settings) -> None:
    shared_keys.check(first=False)
    assert not SharedKey.objects.exists()
    shared_keys.check(first=True)
    stored = dict(SharedKey.objects.values_list("name", "fingerprint"))
    assert stored == shared_keys.fingerprints()
    assert not {settings.SECRET_KEY, settings.AUDIT_KEY, settings.SIGNING_KEY} & set(stored.values())
    shared_keys.check(first=True)


@pytest.mark.parametrize("name", shared_keys.KEYS)
@pytest.mark.parametrize("first", [True, False])
def test_another_key_is_refused_by_name_and_without_its_value(name: str, first: bool, settings: Settings) -> None:
    shared_keys.check(first=True)
    setattr(settings, name, OTHER)
    with pytest.raises(WrongInstallation) as refused:
        shared_keys.check(first=first)
    assert refused.value.returncode == WRONG_CONFIGURATION
    assert name in str(refused.value)
    assert "shared_keys --accept" in str(refused.value)
    assert ("SECRET_KEY_FALLBACKS" in str(refused.value)) == (name == "SECRET_KEY")
    assert OTHER not in str(refused.value)
    assert doctor.check_keys().level == doctor.ERROR


@pytest.mark.parametrize(
    "words", [("createsuperuser", "--noinput", "--username=ada", "--email=ada@example.org"), ("verify_audit",)]
)
def test_a_command_with_another_audit_key_is_refused_before_it_writes_an_entry(
    words: tuple[str, ...], settings: Settings
) -> None:
    shared_keys.check(first=True)
    settings.AUDIT_KEY = OTHER
    with pytest.raises(CommandError, match="AUDIT_KEY") as refused:
        call_command(*words)
    assert refused.value.returncode == WRONG_CONFIGURATION
    assert not Entry.objects.exists()
    assert not User.objects.exists()


def test_a_command_with_another_signing_key_is_not_refused(settings: Settings) -> None:
    """The command `signing_key --replace` runs with the new key."""
    shared_keys.check(first=True)
    settings.SIGNING_KEY = OTHER
    call_command("signing_key")


def test_only_commands_that_handle_other_keys_accept_them() -> None:
    ours = {name: app for name, app in get_commands().items() if str(app).startswith("server.")}
    commands = {name: load_command_class(app, name) for name, app in ours.items()}
    accepting = {name for name, one in commands.items() if getattr(one, "accepts_other_keys", False)}
    assert accepting == {"shared_keys", "backup"}


def test_a_key_of_an_earlier_version_is_stored_when_a_web_part_starts() -> None:
    shared_keys.check(first=True)
    SharedKey.objects.filter(name="AUDIT_KEY").delete()
    assert doctor.check_keys().level == doctor.OK
    shared_keys.check(first=True)
    assert SharedKey.objects.count() == len(shared_keys.KEYS)


def test_an_earlier_secret_key_is_known_while_it_is_being_changed(settings: Settings) -> None:
    shared_keys.check(first=True)
    earlier, settings.SECRET_KEY = settings.SECRET_KEY, OTHER
    settings.SECRET_KEY_FALLBACKS = [earlier]
    shared_keys.check(first=False)
    shared_keys.check(first=True)
    settings.SECRET_KEY_FALLBACKS = []
    shared_keys.check(first=False)
    settings.SECRET_KEY = earlier
    with pytest.raises(WrongInstallation, match="SECRET_KEY"):
        shared_keys.check(first=False)


def test_replaced_keys_can_be_accepted_by_a_command(settings: Settings) -> None:
    shared_keys.check(first=True)
    signing_keys.trusted_key()
    call_command("shared_keys")
    settings.AUDIT_KEY = settings.SIGNING_KEY = OTHER
    with pytest.raises(CommandError, match="AUDIT_KEY"):
        call_command("shared_keys")
    call_command("shared_keys", accept=True)
    shared_keys.check(first=False)
    assert not signing_keys.is_replaced()
    assert Entry.objects.get(action="shared_keys.accepted").subject == "AUDIT_KEY, SIGNING_KEY"
    call_command("shared_keys", accept=True)
    assert Entry.objects.filter(action="shared_keys.accepted").count() == 1
