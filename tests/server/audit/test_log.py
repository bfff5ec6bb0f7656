"""Tests that changed rows, missing rows and a truncated end of the audit log are detected."""

import gzip
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import transaction
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from server.audit import verification
from server.audit.external_records import LogFile
from server.audit.models import Entry, Head
from server.audit.services import digest, record
from server.audit.verification import faults
from tests.conftest import Make


@pytest.fixture(autouse=True)
def own_home(settings: Settings, tmp_path: Path) -> None:
    """Use a temporary folder as PODIUM_HOME, which contains the file that records the last entry of the log."""
    settings.PODIUM_HOME = tmp_path


@pytest.fixture
def log(db: None) -> list[Entry]:
    return [record(actor=None, action="test.done", subject=f"thing {number}") for number in range(1, 5)]


def test_an_unchanged_log_is_valid(log: list[Entry]) -> None:
    assert list(faults()) == []


def test_an_empty_log_is_valid(db: None) -> None:
    assert list(faults()) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [("action", "other"), ("subject", "x"), ("actor_name", "eve"), ("actor_id", "7"), ("detail", {"a": 1})],
)
def test_a_changed_entry_is_found(log: list[Entry], field: str, value: Any) -> None:
    Entry.objects.filter(number=2).update(**{field: value})
    assert list(faults()) == ["entry 2 was changed"]


def test_a_removed_entry_is_found(log: list[Entry]) -> None:
    Entry.objects.filter(number=2).delete()
    assert "entry 2 is missing" in list(faults())


def test_missing_last_entries_are_found(log: list[Entry]) -> None:
    Entry.objects.filter(number=4).delete()
    assert list(faults()) == ["the log ends at entry 3, but 4 entries were written"]


def test_an_emptied_log_is_found(log: list[Entry]) -> None:
    Entry.objects.all().delete()
    assert list(faults()) == ["the log ends at entry 0, but 4 entries were written"]


def test_an_entry_changed_with_a_matching_hash_breaks_the_chain(log: list[Entry]) -> None:
    Entry.objects.filter(number=2).update(hash="0" * 64)
    assert "entry 3 does not follow entry 2" in list(faults())


def test_two_swapped_entries_are_detected(log: list[Entry]) -> None:
    Entry.objects.filter(number=2).update(number=9)
    Entry.objects.filter(number=3).update(number=2)
    Entry.objects.filter(number=9).update(number=3)
    assert {"entry 2 was changed", "entry 3 was changed"} <= set(faults())


def test_an_inserted_entry_is_detected(log: list[Entry]) -> None:
    last = Entry.objects.get(number=4)
    Entry.objects.create(number=5, at=last.at, action="test.forged", subject="x", previous=last.hash, hash="f" * 64)
    assert "entry 5 was changed" in list(faults())


class TestWitness:
    """Tests that log files reveal whether somebody with access to the database has shortened the audit log."""

    @pytest.fixture
    def log_before(
        self,
        log: list[Entry],
        tmp_path: Path,
        caplog: pytest.LogCaptureFixture,
        django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    ) -> Path:
        """Write four more audit entries, and return the log file of the web process that has logged them."""
        with caplog.at_level(logging.INFO, "server.audit"), django_capture_on_commit_callbacks(execute=True):
            for number in range(5, 9):
                record(actor=None, action="test.done", subject=f"thing {number}")
        line = logging.Formatter(settings.LOGGING["formatters"]["line"]["format"])
        file = tmp_path / "web.log"
        file.write_text("started\n" + "".join(f"{line.format(one)}\n" for one in caplog.records))
        return file

    def verify(self, log_before: Path) -> str:
        out = StringIO()
        call_command("verify_audit", str(log_before), stdout=out)
        return out.getvalue()

    def test_entries_that_are_also_in_a_log_file_are_counted(self, log_before: Path) -> None:
        assert self.verify(log_before).startswith("8 entries, none of them missing; 4 are also in the log files\n")

    def test_entries_that_are_in_no_log_file_are_counted(self, log_before: Path) -> None:
        assert "4 entries, starting with entry 1, are not in any log file" in self.verify(log_before)

    def test_a_rotated_and_compressed_log_file_is_read(self, log_before: Path, tmp_path: Path) -> None:
        (tmp_path / "logs").mkdir()
        with gzip.open(tmp_path / "logs" / "web.log.2.gz", "wt") as packed:
            packed.write(log_before.read_text())
        out = StringIO()
        call_command("verify_audit", stdout=out)
        assert "4 are also in the log files" in out.getvalue()

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("audit.log.2.gz", b"\x00\xb0random"),
            ("audit.log.2.gz", gzip.compress(bytes(10_000), mtime=0)[:-9]),
            ("audit.log.2.gz", gzip.compress(bytes(10_000), mtime=0)[:15] + b"\xff" * 20),
        ],
        # Without these ids, pytest would put all of the bytes into the names of the test cases.
        ids=["not gzip", "cut off", "damaged"],
    )
    def test_a_log_file_that_cannot_be_read_is_named_and_not_reported_as_a_forgery(
        self, log_before: Path, tmp_path: Path, name: str, content: bytes
    ) -> None:
        (tmp_path / "logs").mkdir()
        log_before.rename(tmp_path / "logs" / "web.log")
        (tmp_path / "logs" / name).write_bytes(content)
        out = StringIO()
        with pytest.raises(CommandError, match=r"audit\.log\.2\.gz cannot be read to the end") as failure:
            call_command("verify_audit", stdout=out)
        assert failure.value.returncode == 3
        assert "8 entries, none of them missing; 4 are also in the log files" in out.getvalue()

    def test_a_log_file_of_random_bytes_contains_no_entries(self, log_before: Path, tmp_path: Path) -> None:
        (tmp_path / "noise.log").write_bytes(bytes(range(256)) * 100)
        assert self.verify(tmp_path / "noise.log").startswith("8 entries, none of them missing; 0 are also")

    def test_a_missing_log_file_is_named(self, log: list[Entry], tmp_path: Path) -> None:
        with pytest.raises(CommandError, match="No such file") as failure:
            call_command("verify_audit", str(tmp_path / "gone.log"))
        assert failure.value.returncode == 3

    def test_a_folder_among_the_log_files_is_ignored(self, log: list[Entry], tmp_path: Path) -> None:
        (tmp_path / "logs" / "old.logs").mkdir(parents=True)
        call_command("verify_audit", stdout=StringIO())

    def test_a_log_that_was_shortened_together_with_its_end_is_detected(self, log_before: Path) -> None:
        Entry.objects.filter(number__gt=6).delete()
        last = Entry.objects.get(number=6)
        Head.objects.update(number=last.number, hash=last.hash)
        assert list(faults()) == []
        with pytest.raises(CommandError, match=r"entries 7 to 8 are missing") as failure:
            self.verify(log_before)
        assert failure.value.returncode == 2

    def test_a_log_that_was_hashed_again_is_detected(self, log_before: Path) -> None:
        previous = Entry.objects.get(number=6).hash
        for entry in Entry.objects.filter(number__gt=6).order_by("number"):
            entry.subject, entry.previous = "forged", previous
            fields = {name: getattr(entry, name) for name in ("number", "at", "action", "subject", "detail")}
            entry.hash = previous = digest(previous=previous, actor=("", ""), **fields)
            entry.save()
        Head.objects.update(hash=previous)
        with pytest.raises(CommandError, match="entry 7 differs") as failure:
            self.verify(log_before)
        assert failure.value.returncode == 1

    def test_log_files_of_the_service_are_read_by_default(
        self, log_before: Path, settings: Settings, tmp_path: Path
    ) -> None:
        settings.PODIUM_HOME = tmp_path
        (tmp_path / "logs").mkdir()
        log_before.rename(tmp_path / "logs" / "web.log")
        out = StringIO()
        call_command("verify_audit", stdout=out)
        assert "4 are also in the log files" in out.getvalue()

    def test_log_files_receive_only_committed_entries(self, log: list[Entry], caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO, "server.audit"):
            record(actor=None, action="test.done", subject="thing")
        assert caplog.records == []


def test_an_entry_that_is_rolled_back_leaves_no_gap(db: None) -> None:
    class Stop(Exception):
        pass

    def interrupted() -> None:
        with transaction.atomic():
            record(actor=None, action="test.undone", subject="thing")
            raise Stop

    with pytest.raises(Stop):
        interrupted()
    record(actor=None, action="test.done", subject="thing")
    assert list(Entry.objects.values_list("number", "action")) == [(1, "test.done")]
    assert list(faults()) == []


class TestLogFile:
    """Tests of the file `audit.log`, which contains every entry of the audit log."""

    @pytest.fixture
    def log_file(self, tmp_path: Path) -> Iterator[Path]:
        handler = LogFile(tmp_path / "logs" / "audit.log", delay=True)
        logger = logging.getLogger("server.audit.services")
        logger.addHandler(handler)
        yield tmp_path / "logs" / "audit.log"
        logger.removeHandler(handler)
        handler.close()

    def write(self, commit: Any) -> list[Any]:
        """Write an audit entry and register an `on_commit` callback. Return ["done"] if the callback ran, else []."""
        later: list[str] = []
        with commit(execute=True):
            record(actor=None, action="test.done", subject="thing")
            transaction.on_commit(lambda: later.append("done"))
        return later

    def test_the_log_file_is_created_again_if_its_folder_was_moved(
        self, db: None, log_file: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
    ) -> None:
        for _ in range(2):
            assert self.write(django_capture_on_commit_callbacks) == ["done"]
            assert log_file.exists()
            log_file.parent.rename(log_file.parent.with_name(f"moved-{Entry.objects.count()}"))

    @pytest.mark.django_db(transaction=True)
    def test_a_log_file_that_cannot_be_opened_blocks_no_action(self, log_file: Path) -> None:
        log_file.mkdir(parents=True)
        later: list[str] = []
        with transaction.atomic():
            record(actor=None, action="test.done", subject="thing")
            transaction.on_commit(lambda: later.append("done"))
        assert later == ["done"]
        assert Entry.objects.count() == 1


def test_a_damaged_database_file_is_not_reported_as_a_forgery(
    log: list[Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "connection", Malformed())
    with pytest.raises(CommandError, match="the database file is damaged: row 3 missing from index") as failure:
        call_command("verify_audit")
    assert failure.value.returncode == 3


class Malformed:
    """A fake connection to a damaged SQLite database, in which an index does not contain every row."""

    vendor = "sqlite"

    @contextmanager
    def cursor(self) -> Iterator[Any]:
        yield SimpleNamespace(execute=lambda sql: None, fetchall=lambda: [("row 3 missing from index x",)])


def test_the_actor_of_a_deleted_account_is_only_a_number(make: Make) -> None:
    user = make.user(username="ada")
    number, entry = user.pk, record(actor=user, action="test.done", subject="thing")
    assert (entry.actor, entry.actor_name) == ("ada", "")
    user.delete()
    assert entry.actor == f"deleted account {number}"


class TestCommand:
    def test_the_command_reports_that_no_entry_is_missing(self, log: list[Entry]) -> None:
        out = StringIO()
        call_command("verify_audit", stdout=out)
        assert out.getvalue() == "4 entries, none of them missing; 0 are also in the log files\n"

    def test_the_command_fails_and_lists_every_fault(self, log: list[Entry]) -> None:
        Entry.objects.filter(number__in=(1, 3)).update(subject="x")
        with pytest.raises(CommandError) as failure:
            call_command("verify_audit")
        assert str(failure.value) == "entry 1 was changed\nentry 3 was changed"

    def test_a_removed_head_is_reported(self, log: list[Entry]) -> None:
        Head.objects.all().delete()
        with pytest.raises(CommandError):
            call_command("verify_audit")
