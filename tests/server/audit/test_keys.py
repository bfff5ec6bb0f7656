"""The audit log detects attackers who can only write to the database, detects restored backups, and names actors."""

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
    """`write(3)`: write and commit three entries."""

    def write(count: int) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            for _ in range(count):
                record(actor=None, action="test.done", subject="thing")

    return write


@pytest.fixture
def write_unkeyed(write: Callable[[int], None], settings: Settings) -> Callable[[int], None]:
    """`write_unkeyed(3)`: write three entries as before the key existed."""

    def write_unkeyed(count: int) -> None:
        key, settings.AUDIT_KEY = settings.AUDIT_KEY, ""
        write(count)
        settings.AUDIT_KEY = key
        external_records.path_of_end().unlink()

    return write_unkeyed


def forge(first: int, **changes: Any) -> None:
    """Rewrite the table from this entry on, as somebody can who has access only to the database."""
    previous = Entry.objects.filter(number=first - 1).values_list("hash", flat=True).first() or ""
    for entry in Entry.objects.filter(number__gte=first).order_by("number"):
        fields = {name: getattr(entry, name) for name in ("number", "at", "action", "subject", "detail")} | changes
        hashed = digest(previous=previous, actor=(entry.actor_id, entry.actor_name), **fields)
        Entry.objects.filter(pk=entry.pk).update(previous=previous, hash=hashed, **changes)
        previous = hashed
    Head.objects.update(hash=previous)


def cut_after(number: int) -> None:
    """Delete the end of the log and correct the head, as an attacker can and as an old backup does."""
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
    def test_a_table_written_again_without_it_is_found(self, write: Callable[[int], None]) -> None:
        write(4)
        forge(1, subject="forged")
        assert "entry 1 was written without the audit key, used since entry 1" in faults()
        assert verified()[0] == 1

    def test_an_end_written_again_without_it_is_found(self, write: Callable[[int], None]) -> None:
        write(4)
        external_records.path_of_end().unlink()  # as on a machine that never wrote an entry
        forge(3, subject="forged")
        assert list(faults()) == [
            f"entry {number} was written without the audit key, used since entry 1" for number in (3, 4)
        ]

    def test_entries_from_before_hold_and_go_on_with_it(
        self, write: Callable[[int], None], write_unkeyed: Callable[[int], None]
    ) -> None:
        write_unkeyed(3)
        assert verified()[0] == 0
        write(2)
        assert list(faults()) == []
        end = external_records.end()
        assert end is not None
        assert (end.number, end.keyed_from) == (5, 4)

    def test_nothing_after_the_first_use_passes_for_older(
        self, write: Callable[[int], None], write_unkeyed: Callable[[int], None]
    ) -> None:
        write_unkeyed(3)
        write(2)
        forge(4)
        assert any("used since entry 4" in fault for fault in faults())

    def test_another_one_verifies_nothing(self, write: Callable[[int], None], settings: Settings) -> None:
        write(2)
        settings.AUDIT_KEY = "another"
        first, second, hint = faults()
        assert (first, second) == ("entry 1 was changed", "entry 2 was changed")
        assert hint.startswith("no entry matches the audit key")

    def test_is_next_to_the_other_keys_and_readable_by_its_owner_only(self) -> None:
        path = Path(os.environ["PODIUM_HOME"]) / "audit_key"
        assert path.stat().st_mode & 0o777 == 0o600
        assert len(path.read_text()) > 40


class TestEnd:
    def test_a_log_cut_off_with_its_end_is_found_and_called_older(self, write: Callable[[int], None]) -> None:
        write(5)
        cut_after(3)
        assert list(faults()) == []
        code, said = verified()
        assert code == 2
        assert "entries 5 to 5 are missing. A backup was restored, or the end" in said

    def test_one_that_went_on_after_a_restored_backup_is_called_older(self, write: Callable[[int], None]) -> None:
        write(5)
        cut_after(3)
        write(4)
        assert verified()[0] == 2

    def test_a_restored_backup_is_recorded_once_and_then_known(self, write: Callable[[int], None], make: Make) -> None:
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

    def test_an_end_that_is_cut_off_after_a_recorded_restore_is_found(self, write: Any) -> None:
        """The later entries have the same numbers as those that were missing in the backup."""
        write(9)
        cut_after(3)
        assert verified("--restored")[0] == 0  # recorded as entry 4
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

    def test_who_changed_an_entry_is_not_excused_by_a_backup(self, write: Callable[[int], None]) -> None:
        write(5)
        cut_after(3)
        Entry.objects.filter(number=2).update(subject="forged")
        assert verified("--restored") == (1, "entry 2 was changed")

    def test_a_forged_record_of_a_backup_excuses_nothing(self, write: Callable[[int], None]) -> None:
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

    def test_a_damaged_note_is_reported(self, write: Callable[[int], None]) -> None:
        write(2)
        external_records.path_of_end().write_text("nonsense")
        assert verified() == (1, f"{external_records.path_of_end()} is damaged")

    def test_one_damaged_byte_of_it_is_found_and_stops_no_deed(self, write: Callable[[int], None]) -> None:
        write(2)
        path = external_records.path_of_end()
        path.write_bytes(b"\xb0" + path.read_bytes()[1:])
        write(1)
        assert Entry.objects.count() == 3
        assert verified() == (1, f"{path} is damaged")

    def test_a_note_that_cannot_be_read_is_found_and_stops_no_deed(self, write: Callable[[int], None]) -> None:
        external_records.path_of_end().mkdir()
        write(2)
        assert Entry.objects.count() == 2
        code, said = verified()
        assert code == 1
        assert "audit_head cannot be read" in said

    @pytest.mark.parametrize("junk", [b"junk\n", b"\xb0\xff", b"0" * 108, b"\n"])
    def test_junk_in_the_notes_of_lost_ends_hides_no_cut(self, write: Callable[[int], None], junk: bytes) -> None:
        write(5)
        cut_after(3)
        external_records.path_of_lost_ends().write_bytes(junk)
        code, said = verified()
        assert (code, said) == (1, f"{external_records.path_of_lost_ends()} is damaged in line 1")
        external_records.path_of_lost_ends().unlink()
        assert verified()[0] == 2

    def test_intact_lines_count_next_to_a_damaged_one(self, write: Callable[[int], None]) -> None:
        write(5)
        cut_after(3)
        write(3)  # the lost end is kept, and the log has become longer since
        with external_records.path_of_lost_ends().open("a") as file:
            file.write("junk\n")
        notes = external_records.notes()
        assert [one.number for one in notes.lost] == [5]
        assert notes.faults == [f"{external_records.path_of_lost_ends()} is damaged in line 2"]

    def test_a_restored_backup_that_is_not_in_effect_is_noticed(self, write: Callable[[int], None]) -> None:
        """SQLite ignores the file of a backup if the `-wal` file of the replaced database is still there."""
        write(5)
        code, said = verified("--restored")
        assert code == 3
        assert "podium.sqlite3-wal" in said

    def test_an_earlier_entry_never_moves_it_back(self, write: Callable[[int], None]) -> None:
        write(3)
        external_records.note(2, "0" * 64)
        end = external_records.end()
        assert end is not None
        assert end.number == 3


class TestActor:
    def test_of_a_command_is_who_runs_it(self, make: Make) -> None:
        make.user(username="ada")
        call_command("token", "ada", stdout=StringIO())
        entry = Entry.objects.get(action="token.issued")
        assert (entry.actor_id, entry.actor_name) == ("", f"shell:{getpass.getuser()}")
        assert entry.detail["user"] == "ada"

    def test_of_a_command_is_whom_it_names(self, make: Make) -> None:
        make.user(username="ada")
        admin = make.user(username="admin")
        call_command("token", "ada", "--as", "Admin", stdout=StringIO())
        assert Entry.objects.get(action="token.issued").actor_id == str(admin.pk)

    def test_of_a_command_has_an_account(self, make: Make) -> None:
        make.user(username="ada")
        with pytest.raises(CommandError, match="no active account named nobody"):
            call_command("token", "ada", "--as", "nobody")
        assert not ApiToken.objects.exists()

    def test_of_the_service_itself_is_nobody(self, db: None) -> None:
        assert record(actor=None, action="test.done", subject="x").actor_name == ""
