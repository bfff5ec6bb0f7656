"""Tests that the audit log reveals restored backups, and changes by an attacker who can access only the database.

Also tests that each entry names its actor.
"""

import getpass
import os
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from server.accounts.models import ApiToken
from server.audit import external_records
from server.audit.models import Entry, Head
from server.audit.services import digest, record
from server.audit.verification import faults
from tests.conftest import Make


@pytest.fixture(autouse=True)
def own_home(settings: Settings, tmp_path: Path) -> None:
    settings.PODIUM_HOME = tmp_path


@pytest.fixture
def write(db: None, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Callable[[int], None]:
    """Return a function that writes and commits the given number of audit entries: `write(3)`."""

    def write(count: int) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            for _ in range(count):
                record(actor=None, action="test.done", subject="thing")

    return write


@pytest.fixture
def write_unkeyed(write: Callable[[int], None], settings: Settings) -> Callable[[int], None]:
    """Return a function that writes entries without the audit key, as earlier versions did: `write_unkeyed(3)`."""

    def write_unkeyed(count: int) -> None:
        key, settings.AUDIT_KEY = settings.AUDIT_KEY, ""
        write(count)
        settings.AUDIT_KEY = key
        external_records.path_of_end().unlink()

    return write_unkeyed


def forge(first: int, **changes: Any) -> None:
    """Change all audit entries from the given number onwards, and hash them without the audit key.

    An attacker who has access to the database but not to the files can do this.
    """
    previous = Entry.objects.filter(number=first - 1).values_list("hash", flat=True).first() or ""
    for entry in Entry.objects.filter(number__gte=first).order_by("number"):
        fields = {name: getattr(entry, name) for name in ("number", "at", "action", "subject", "detail")} | changes
        hashed = digest(previous=previous, actor=(entry.actor_id, entry.actor_name), **fields)
        Entry.objects.filter(pk=entry.pk).update(previous=previous, hash=hashed, **changes)
        previous = hashed
    Head.objects.update(hash=previous)


def cut_after(number: int) -> None:
    """Delete all audit entries after the given number and update the number and hash of the last entry accordingly.

    An attacker with access to the database can do this. Restoring a backup has the same effect.
    """
    Entry.objects.filter(number__gt=number).delete()
    Head.objects.update(number=number, hash=Entry.objects.get(number=number).hash)


def verified(*words: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("verify_audit", *words, stdout=out)
    except CommandError as error:
        return error.returncode, str(error)
    return 0, out.getvalue()


class TestKey:
    def test_a_table_that_was_rewritten_without_the_key_is_detected(self, write: Callable[[int], None]) -> None:
        write(4)
        forge(1, subject="forged")
        assert "entry 1 was written without the audit key, which was in use from entry 1 on" in faults()
        assert verified()[0] == 1

    def test_an_end_that_was_rewritten_without_the_key_is_detected(self, write: Callable[[int], None]) -> None:
        write(4)
        # Simulate a machine that has never written an entry. It does not have the file that records the end of the
        # audit log.
        external_records.path_of_end().unlink()
        forge(3, subject="forged")
        assert list(faults()) == [
            f"entry {number} was written without the audit key, which was in use from entry 1 on" for number in (3, 4)
        ]

    def test_entries_without_key_are_valid_and_later_ones_use_the_key(
        self, write: Callable[[int], None], write_unkeyed: Callable[[int], None]
    ) -> None:
        write_unkeyed(3)
        assert verified()[0] == 0
        write(2)
        assert list(faults()) == []
        end = external_records.end()
        assert end is not None
        assert (end.number, end.keyed_from) == (5, 4)

    def test_an_unkeyed_entry_after_the_first_keyed_one_is_detected(
        self, write: Callable[[int], None], write_unkeyed: Callable[[int], None]
    ) -> None:
        write_unkeyed(3)
        write(2)
        forge(4)
        assert any("in use from entry 4 on" in fault for fault in faults())

    def test_no_entry_is_valid_with_a_different_key(self, write: Callable[[int], None], settings: Settings) -> None:
        write(2)
        settings.AUDIT_KEY = "another"
        first, second, hint = faults()
        assert (first, second) == ("entry 1 was changed", "entry 2 was changed")
        assert hint.startswith("no entry matches the audit key")

    def test_the_key_file_is_readable_by_its_owner_only(self) -> None:
        path = Path(os.environ["PODIUM_HOME"]) / "audit_key"
        assert path.stat().st_mode & 0o777 == 0o600
        assert len(path.read_text()) > 40


class TestEnd:
    def test_a_shortened_log_is_reported_as_possibly_a_backup(self, write: Callable[[int], None]) -> None:
        write(5)
        cut_after(3)
        assert list(faults()) == []
        code, said = verified()
        assert code == 2
        assert "entries 5 to 5 are missing. A backup was restored, or the end" in said

    def test_a_log_that_continued_after_a_restored_backup_is_reported(self, write: Callable[[int], None]) -> None:
        write(5)
        cut_after(3)
        write(4)
        assert verified()[0] == 2

    def test_a_recorded_restore_is_no_longer_reported(self, write: Callable[[int], None], make: Make) -> None:
        write(5)
        lost = Entry.objects.get(number=5).hash
        cut_after(3)
        user = make.user(username="ada")
        from_command = verified("--restored", "--as", "ada")
        assert from_command[0] == 0
        entry = Entry.objects.latest("number")
        assert (entry.action, entry.actor_id) == ("audit.restored", str(user.pk))
        assert entry.detail == {"first": 5, "last": 5, "entries": [[5, lost]]}
        assert verified()[0] == 0

    def test_a_missing_end_after_a_recorded_restore_is_detected(self, write: Any) -> None:
        """New entries get the numbers of the entries that were missing in the restored backup.

        If new entries are deleted, they must be reported, although the record of the restore contains these numbers.
        """
        write(9)
        cut_after(3)
        assert verified("--restored")[0] == 0  # In the audit log, the restore of a backup is recorded as entry 4.
        write(5)
        assert verified()[0] == 0
        cut_after(6)
        code, said = verified()
        assert code == 2
        assert "entries 9 to 9 are missing" in said
        write(1)
        assert verified()[0] == 2
        assert verified("--restored")[0] == 0
        assert verified()[0] == 0

    def test_recording_a_restore_does_not_hide_a_changed_entry(self, write: Callable[[int], None]) -> None:
        write(5)
        cut_after(3)
        Entry.objects.filter(number=2).update(subject="forged")
        assert verified("--restored") == (1, "entry 2 was changed")

    def test_a_forged_record_of_a_restore_hides_nothing(self, write: Callable[[int], None]) -> None:
        write(5)
        cut_after(3)
        last = Entry.objects.get(number=3)
        Entry.objects.create(
            number=4,
            at=last.at,
            action="audit.restored",
            subject="audit",
            detail={"first": 4, "last": 5},
            previous=last.hash,
            hash="0" * 64,
        )
        forge(4)
        Head.objects.update(number=4)
        assert verified()[0] == 1

    def test_a_damaged_note_of_the_last_entry_is_reported(self, write: Callable[[int], None]) -> None:
        write(2)
        external_records.path_of_end().write_text("nonsense")
        assert verified() == (1, f"{external_records.path_of_end()} is damaged")

    def test_one_damaged_byte_in_the_note_of_the_last_entry_is_reported_and_blocks_no_action(
        self, write: Callable[[int], None]
    ) -> None:
        write(2)
        path = external_records.path_of_end()
        path.write_bytes(b"\xb0" + path.read_bytes()[1:])
        write(1)
        assert Entry.objects.count() == 3
        assert verified() == (1, f"{path} is damaged")

    def test_an_unreadable_note_of_the_last_entry_is_reported_and_blocks_no_action(
        self, write: Callable[[int], None]
    ) -> None:
        external_records.path_of_end().mkdir()
        write(2)
        assert Entry.objects.count() == 2
        code, said = verified()
        assert code == 1
        assert "audit_head cannot be read" in said

    @pytest.mark.parametrize("junk", [b"junk\n", b"\xb0\xff", b"0" * 108, b"\n"])
    def test_invalid_notes_of_lost_entries_do_not_hide_missing_entries(
        self, write: Callable[[int], None], junk: bytes
    ) -> None:
        write(5)
        cut_after(3)
        external_records.path_of_lost_ends().write_bytes(junk)
        code, said = verified()
        assert (code, said) == (1, f"{external_records.path_of_lost_ends()} is damaged in line 1")
        external_records.path_of_lost_ends().unlink()
        assert verified()[0] == 2

    def test_intact_lines_are_read_even_if_another_line_is_damaged(self, write: Callable[[int], None]) -> None:
        write(5)
        cut_after(3)
        # The three new entries get the numbers 4 to 6. The file `audit_lost` still records the loss of the old entry 5.
        write(3)
        with external_records.path_of_lost_ends().open("a") as file:
            file.write("junk\n")
        notes = external_records.notes()
        assert [one.number for one in notes.lost] == [5]
        assert notes.faults == [f"{external_records.path_of_lost_ends()} is damaged in line 2"]

    def test_a_restored_backup_that_is_not_in_effect_is_noticed(self, write: Callable[[int], None]) -> None:
        """SQLite ignores a restored database file if the `-wal` file of the replaced database still exists."""
        write(5)
        code, said = verified("--restored")
        assert code == 3
        assert "podium.sqlite3-wal" in said

    def test_noting_an_earlier_entry_does_not_move_the_end_back(self, write: Callable[[int], None]) -> None:
        write(3)
        external_records.note(2, "0" * 64)
        end = external_records.end()
        assert end is not None
        assert end.number == 3


class TestActor:
    def test_the_actor_of_a_command_is_the_shell_user(self, make: Make) -> None:
        ada = make.user(username="ada")
        call_command("token", "ada", stdout=StringIO())
        entry = Entry.objects.get(action="token.issued")
        assert (entry.actor_id, entry.actor) == ("", f"shell:{getpass.getuser()}")
        assert entry.detail["user"] == ada.pk

    def test_the_actor_of_a_command_can_be_named(self, make: Make) -> None:
        make.user(username="ada")
        admin = make.user(username="admin")
        call_command("token", "ada", "--as", "Admin", stdout=StringIO())
        assert Entry.objects.get(action="token.issued").actor_id == str(admin.pk)

    def test_a_named_actor_must_have_an_account(self, make: Make) -> None:
        make.user(username="ada")
        with pytest.raises(CommandError, match="no active account named nobody"):
            call_command("token", "ada", "--as", "nobody")
        assert not ApiToken.objects.exists()

    def test_the_service_itself_has_no_actor_name(self, db: None) -> None:
        assert record(actor=None, action="test.done", subject="x").actor == ""
