"""`manage.py backup` and `manage.py restore` first check whether they can succeed. If not, they change nothing."""

import errno
import io
import json
import os
import shutil
import sqlite3
from contextlib import closing, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from pytest_django import Settings

from server.runtime import joining, shared_keys
from server.runtime.backup import database, files, manifest
from server.runtime.backup.manifest import Manifest, Stored, Unusable
from server.runtime.management.commands import restore
from server.runtime.management.commands.restore import refuse_damaged, refuse_unusable
from tests.flows.running import Running
from tests.flows.taking_part import make_bundle

MADE_AT = "2026-11-23T15:00:00+00:00"
CONTENT = b"ImageId,PredictionString\n"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Return the folder of a backup that contains one uploaded file."""
    (tmp_path / "uploads").mkdir()
    (tmp_path / "uploads" / "one").write_bytes(CONTENT)
    stored = manifest.checksum(tmp_path / "uploads" / "one")
    Manifest(MADE_AT, "sqlite", [], "", shared_keys.fingerprints(), {"uploads/one": stored}).write(tmp_path)
    return tmp_path


def test_a_sound_backup_is_accepted(written: Path) -> None:
    refuse_damaged(written, manifest.read(written))


@pytest.mark.parametrize("content", [b"", CONTENT[:-1], CONTENT.upper(), None])
def test_a_damaged_or_missing_file_is_named(written: Path, content: bytes | None) -> None:
    path = written / "uploads" / "one"
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(Unusable, match="nothing was restored:\nuploads/one"):
        refuse_damaged(written, manifest.read(written))


@pytest.mark.parametrize("path", [manifest.NAME, "uploads/one"])
def test_a_file_that_this_user_may_not_read_is_not_called_damaged(
    written: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = io.open

    def refuse(file: Any, *words: Any, **more: Any) -> Any:
        if Path(file) == written / path:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
        return opened(file, *words, **more)

    monkeypatch.setattr(io, "open", refuse)
    with pytest.raises(Unusable, match=rf"{path} cannot be read \(Permission denied\)\. Run `chown -R \d+ {written}`"):
        refuse_damaged(written, manifest.read(written))


@pytest.mark.parametrize("path", ["uploads/../../outside", "/etc/hostname"])
def test_a_path_that_leads_out_of_the_backup_is_refused(written: Path, path: str) -> None:
    found = manifest.read(written)
    found.files[path] = Stored(0, "")
    with pytest.raises(Unusable, match="points outside the backup"):
        refuse_damaged(written, found)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 1, "files": {"a": 1}}', '{"format": 2}', "\xff"])
def test_a_damaged_manifest_is_refused(written: Path, content: str) -> None:
    (written / manifest.NAME).write_bytes(content.encode("latin-1"))
    with pytest.raises(Unusable):
        manifest.read(written)


def test_a_folder_without_manifest_is_no_complete_backup(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="not a complete backup"):
        manifest.read(tmp_path)


@pytest.mark.django_db
def test_other_secret_keys_are_refused_unless_this_is_accepted() -> None:
    backup = Manifest(MADE_AT, files.connection.vendor, [], "", shared_keys.fingerprints() | {"AUDIT_KEY": "0" * 16})
    with pytest.raises(Unusable, match="audit_key"):
        refuse_unusable(backup, other_keys=False)
    refuse_unusable(backup, other_keys=True)


def test_a_backup_from_before_the_secret_key_was_changed_is_accepted_while_the_earlier_key_is_known(
    settings: Settings,
) -> None:
    backup = Manifest(MADE_AT, files.connection.vendor, [], "", shared_keys.fingerprints())
    earlier, settings.SECRET_KEY = settings.SECRET_KEY, "a new key of more than thirty-two characters"
    with pytest.raises(Unusable, match=r"secret_key.*add the old one to SECRET_KEY_FALLBACKS"):
        refuse_unusable(backup, other_keys=False)
    assert not restore.has_earlier_secret_key(backup)
    settings.SECRET_KEY_FALLBACKS = [earlier]
    refuse_unusable(backup, other_keys=False)
    assert restore.has_earlier_secret_key(backup)
    backup.keys = shared_keys.fingerprints()
    assert not restore.has_earlier_secret_key(backup)


def test_a_fingerprint_does_not_contain_the_key(settings: Settings) -> None:
    for name, fingerprint in shared_keys.fingerprints().items():
        assert len(fingerprint) == 16
        assert fingerprint not in str(getattr(settings, name))


@pytest.mark.django_db
@pytest.mark.parametrize("app", ["teams", "an_app_that_only_the_later_version_has"])
def test_a_backup_of_a_later_version_is_refused(app: str) -> None:
    backup = Manifest(MADE_AT, files.connection.vendor, [f"{app}.9999_later"], "", shared_keys.fingerprints())
    with pytest.raises(Unusable, match=f"later version of Podium, which has the migration {app}"):
        refuse_unusable(backup, other_keys=False)


@pytest.mark.django_db
def test_a_backup_of_another_kind_of_database_is_refused() -> None:
    with pytest.raises(Unusable, match="The backup is from oracle"):
        refuse_unusable(Manifest(MADE_AT, "oracle", [], "", {}), other_keys=False)


@pytest.mark.django_db
def test_a_storage_of_another_installation_is_refused() -> None:
    default_storage.save(joining.FILE, ContentFile(b"another"))
    backup = Manifest(MADE_AT, files.connection.vendor, [], "this one", shared_keys.fingerprints())
    with pytest.raises(Unusable, match="another installation"):
        refuse_unusable(backup, other_keys=False)
    default_storage.delete(joining.FILE)


@pytest.mark.parametrize(("present", "is_new"), [(None, True), (CONTENT, False), (b"another", True), (b"", True)])
def test_a_stored_file_is_replaced_only_if_it_differs(written: Path, present: bytes | None, is_new: bool) -> None:
    if present is not None:
        default_storage.save("one", ContentFile(present))
    stored = manifest.read(written).files["uploads/one"]
    assert files.put_back("uploads/one", stored, written) is is_new
    with default_storage.open("one") as file:
        assert file.read() == CONTENT
    default_storage.delete("one")


@pytest.mark.parametrize("present", ["", "newer\n"])
def test_newer_records_of_the_audit_log_are_kept(tmp_path: Path, settings: Settings, present: str) -> None:
    settings.PODIUM_HOME = tmp_path / "home"
    (tmp_path / "home").mkdir()
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "audit_head").write_text("older\n")
    (tmp_path / "home" / "audit_head").write_text(present)
    assert files.put_back("records/audit_head", Stored(6, ""), tmp_path) is not bool(present)
    assert (tmp_path / "home" / "audit_head").read_text() == (present or "older\n")


@pytest.mark.parametrize(
    ("here", "is_refused"),
    [
        ("", False),  # nothing has been recorded on this machine
        ("a1 b2 c3", False),  # later entries of the same installation
        ("a1 d2", False),  # the same installation, after an earlier restore
        ("e4", False),  # another host of the installation, or a log whose beginning is missing
        ("d1 e2", True),
    ],
)
def test_audit_records_of_another_installation_are_refused(
    tmp_path: Path, settings: Settings, here: str, is_refused: bool
) -> None:
    settings.PODIUM_HOME = tmp_path / "home"
    record_entries(tmp_path / "home", here.split())
    record_entries(tmp_path / "backup" / "records", ["a1", "b2"])
    with pytest.raises(Unusable, match="remove the key podium:installation") if is_refused else nullcontext():
        files.refuse_other_records(tmp_path / "backup")


def test_the_advice_for_a_new_installation_names_everything_that_has_to_be_empty() -> None:
    for name in ("uploads", "truths", *files.AUDIT_RECORDS, "logs", joining.BROKER_KEY, "PostgreSQL database"):
        assert name in files.MOVE_AWAY


def record_entries(home: Path, entries: list[str]) -> None:
    """Record entries of an audit log in a folder, as external_records.py does. `a1` is entry 1 with the hash `aaa…`."""
    (home / "logs").mkdir(parents=True)
    found = [(int(one[1]), one[0] * 64) for one in entries]
    lines = [f"2026-11-24 10:00:00,000 INFO server.audit.services entry {n} {hashed}\n" for n, hashed in found]
    (home / "logs" / "audit.log").write_text("".join(lines[:-1]))
    (home / "audit_head").write_text("".join(f"{n:020d} {hashed} {1:020d}\n" for n, hashed in found[-1:]))


def test_a_database_is_replaced_only_after_the_restored_one_was_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database_file, copy = tmp_path / "podium.sqlite3", tmp_path / "copy"
    database_file.write_bytes(b"old")
    copy.write_bytes(b"restored")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full_disk)
        with pytest.raises(Unusable, match=r"No space left on device.*podium\.sqlite3 was not changed"):
            database.replace_sqlite(database_file, copy)
    assert files_below(tmp_path) == {"podium.sqlite3": b"old", "copy": b"restored"}
    replaced = database.replace_sqlite(database_file, copy)
    assert replaced is not None
    assert (database_file.read_bytes(), (replaced / database_file.name).read_bytes()) == (b"restored", b"old")


def test_a_database_that_cannot_be_copied_is_reported_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "connection", SimpleNamespace(vendor="sqlite"))
    monkeypatch.setattr(database, "sqlite_path", lambda: tmp_path / "missing")
    with pytest.raises(Unusable, match=r"cannot be copied .*unable to open"), database.snapshot(tmp_path):
        pass


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.django_db
def test_a_full_disk_is_named_when_files_are_restored(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restore.Command, "restore", full_disk)
    monkeypatch.setattr(database, "refuse_unless_replaceable", lambda: None)
    monkeypatch.setattr(restore, "refuse_unusable", lambda *_, **__: None)
    with pytest.raises(CommandError, match="not restored completely: No space left on device"):
        call_command("restore", str(written))


@pytest.mark.processes
@pytest.mark.enable_socket
def test_a_restored_folder_has_the_challenge_and_its_files(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "empty").mkdir()
    original, empty = Running(tmp_path / "home"), Running(tmp_path / "empty")
    bundle = make_bundle(tmp_path / "bundle", images=5)
    run(original, "migrate")
    run(original, "import_challenge", str(bundle))
    run(original, "backup", str(tmp_path / "backup"))
    refused = empty.run("manage.py", "restore", str(tmp_path / "backup"))
    assert (refused.returncode, "audit_key" in refused.stderr) == (1, True), refused.stderr
    assert (tmp_path / "backup").stat().st_mode & 0o077 == 0
    for name in ("secret_key", "audit_key", "signing_key"):
        key = (original.home / name).read_bytes()
        assert not [path for path, content in files_below(tmp_path / "backup").items() if key in content]
        shutil.copy(original.home / name, empty.home)
    run(empty, "restore", str(tmp_path / "backup"))
    run(empty, "verify_audit")
    with closing(sqlite3.connect(empty.home / "podium.sqlite3")) as database:
        assert database.execute("SELECT slug FROM challenges_challenge").fetchall() == [("flows",)]
    for folder in ("uploads", "truths"):
        restored, before = (files_below(service.home / folder) for service in (empty, original))
        key = restored.pop(joining.FILE)
        assert len(key) == 32
        before.pop(joining.FILE, None)
        assert restored == before
    assert json.loads((tmp_path / "backup" / manifest.NAME).read_text())["vendor"] == "sqlite"


def run(service: Running, *words: str) -> None:
    done = service.run("manage.py", *words)
    assert done.returncode == 0, done.stdout + done.stderr


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
