"""`manage.py backup` names each file that it cannot read, and saves all others."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import Settings

from server.runtime.backup import database, manifest
from server.stored_files.failures import StoreUnavailable
from server.stored_files.objects import ObjectStorage
from server.stored_files.reading import StoredObject
from tests.conftest import Make
from tests.object_store import Line, line, store, store_port

__all__ = ["line", "store", "store_port"]


@pytest.fixture(autouse=True)
def own_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the copy of the database with an empty file.

    The database of the tests cannot be copied: it may be in memory, and it has an open transaction.
    """

    @contextmanager
    def snapshot(folder: Path) -> Iterator[database.Query]:
        (folder / database.FILES[connection.vendor]).touch()
        with connection.cursor() as cursor:
            yield lambda sql: cursor.execute(sql) and cursor.fetchall()

    monkeypatch.setattr(database, "snapshot", snapshot)


def backed_up(out: Path) -> tuple[set[str], str]:
    """Return the files of a backup, and the error message of the command."""
    with pytest.raises(CommandError) as refused:
        call_command("backup", str(out))
    assert refused.value.returncode == 1
    found = manifest.read(out)
    assert set(manifest.faults(out, found)) == {""}
    saved = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert saved == {*found.files, manifest.NAME}
    return saved, str(refused.value)


@pytest.mark.parametrize("fault", [errno.EISDIR, errno.EIO])
def test_an_upload_that_cannot_be_read_is_named_and_the_others_are_saved(
    fault: int, make: Make, tmp_path: Path
) -> None:
    phase = make.phase()
    unreadable, intact = (str(make.submission(phase).file.name) for _ in range(2))
    path = Path(default_storage.path(unreadable))
    path.unlink()
    if fault == errno.EISDIR:  # A folder cannot be opened as a file.
        path.mkdir()
    else:  # It can be opened, but reading it fails.
        path.symlink_to("/proc/self/mem")
    saved, said = backed_up(tmp_path / "backup")
    assert f"uploads/{intact}" in saved
    assert f"uploads/{unreadable}" not in saved
    reason = "Is a directory" if fault == errno.EISDIR else "Input/output error"
    assert said == f"The backup is incomplete:\nuploads/{unreadable} cannot be read ({reason})."


def test_a_record_of_the_audit_log_that_cannot_be_read_is_named_and_the_others_are_saved(
    make: Make, tmp_path: Path, settings: Settings
) -> None:
    settings.PODIUM_HOME = tmp_path
    name = str(make.submission(make.phase()).file.name)
    (tmp_path / "audit_head").symlink_to("/proc/self/mem")
    (tmp_path / "audit_lost").write_text("a line\n")
    saved, said = backed_up(tmp_path / "backup")
    assert {f"uploads/{name}", "records/audit_lost"} <= saved
    assert said == f"The backup is incomplete:\n{tmp_path / 'audit_head'} cannot be read (Input/output error)."


@pytest.mark.enable_socket
@pytest.mark.usefixtures("store")
def test_an_object_that_the_object_store_refuses_is_named_and_the_others_are_saved(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    phase = make.phase()
    refused, intact = (str(make.submission(phase).file.name) for _ in range(2))
    head = ObjectStorage.head

    def refuse(self: ObjectStorage, name: str) -> StoredObject:
        if name == refused:
            raise StoreUnavailable("the object storage refused a request (AccessDenied)")
        return head(self, name)

    monkeypatch.setattr(ObjectStorage, "head", refuse)
    saved, said = backed_up(tmp_path / "backup")
    assert f"uploads/{intact}" in saved
    assert said.startswith(f"The backup is incomplete:\nuploads/{refused} cannot be read (the object storage refused")


@pytest.mark.enable_socket
@pytest.mark.usefixtures("store")
def test_no_backup_is_written_while_the_object_store_does_not_respond(make: Make, tmp_path: Path, line: Line) -> None:
    make.submission(make.phase())
    line.down = True
    with pytest.raises(CommandError, match="cannot be written: the object storage does not respond"):
        call_command("backup", str(tmp_path / "backup"))
    assert not [*tmp_path.glob("backup*")]
