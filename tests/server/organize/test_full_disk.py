"""If the disk is full, commands for organizers fail with an error message, and no incomplete file remains."""

import errno
import shutil
import sqlite3
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from evaluator.bundle import copying
from server.audit import services as audit
from server.challenges.models import Challenge, Phase, Truth
from server.organize import podium
from server.organize.services import preparing, rescoring, truths
from server.organize.services.new_files import NewFiles
from server.organize.services.opaque_ids import write_opaque_ids
from tests.server.organize.test_opaque_ids import captions

__all__ = ["captions"]  # pytest finds this imported fixture by name.

pytestmark = pytest.mark.usefixtures("make", "inline_queue")


@pytest.fixture(autouse=True)
def own_truths(settings: Any, tmp_path: Path) -> None:
    settings.TRUTH_ROOT = tmp_path / "truths"


def full(*words: Any, **about: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


def full_database(**about: Any) -> Any:
    cause = sqlite3.OperationalError("database or disk is full")
    cause.sqlite_errorcode = sqlite3.SQLITE_FULL
    raise OperationalError(*cause.args) from cause


def full_after(count: int, store: Any) -> Any:
    """Return a function that calls `store` the first `count` times, and then fails as if the disk were full."""
    calls: list[None] = []

    def stores(*words: Any, **about: Any) -> Any:
        calls.append(None)
        return store(*words, **about) if len(calls) <= count else full()

    return stores


def files(settings: Any) -> list[Path]:
    roots = map(Path, (settings.TRUTH_ROOT, settings.MEDIA_ROOT, settings.FILE_UPLOAD_TEMP_DIR))
    return [path for root in roots for path in root.rglob("*") if path.is_file()]


def ends_without_space(*words: Any, **options: Any) -> None:
    with pytest.raises(CommandError) as caught:
        call_command(*words, **options)
    assert "no space left" in str(caught.value)
    assert caught.value.returncode == 1


PLACES = {
    "copying": (copying, "_copy_file", lambda _: full),
    "preparing": (podium, "answer", lambda _: full),
    "packing": (preparing, "pack", lambda _: full),
    "first file": (NewFiles, "store", lambda store: full_after(0, store)),
    "second file": (NewFiles, "store", lambda store: full_after(1, store)),
    "database": (audit, "record", lambda _: full_database),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_failed_import_leaves_no_files(
    place: str, bundle: Any, quick_podium: Any, monkeypatch: pytest.MonkeyPatch, settings: Any, capsys: Any
) -> None:
    owner, name, replaced = PLACES[place]
    monkeypatch.setattr(owner, name, replaced(getattr(owner, name)))
    ends_without_space("import_challenge", bundle.path)
    assert not Challenge.objects.exists()
    assert files(settings) == []
    assert capsys.readouterr().out == ""


def test_a_program_that_fails_because_of_a_full_disk_is_not_reported_as_a_crash(
    bundle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = SimpleNamespace(returncode=74, stdout="", stderr="podium: there is no space left on the disk")
    monkeypatch.setattr(podium, "run_in", lambda *words: ended)
    ends_without_space("import_challenge", bundle.path)


def test_a_failed_import_leaves_an_existing_challenge_unchanged(
    bundle: Any, run: Any, quick_podium: Any, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    run()
    before = {path: path.read_bytes() for path in files(settings)}
    bundle.write("phases/main/truth/images.csv", "ImageID\na\nb\n")
    monkeypatch.setattr(NewFiles, "store", full_after(1, NewFiles.store))
    ends_without_space("import_challenge", bundle.path)
    assert {path: path.read_bytes() for path in files(settings)} == before
    assert Truth.objects.get().active


def test_a_failed_truth_for_a_rescoring_leaves_no_files(
    bundle: Any, run: Any, quick_podium: Any, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    run()
    before = set(files(settings))
    bundle.write("phases/main/truth/images.csv", "ImageID\na\nb\n")
    monkeypatch.setattr(NewFiles, "store", full_after(1, NewFiles.store))
    ends_without_space("rescore", "animals", "main", truth=str(bundle.path / "phases/main/truth"))
    assert set(files(settings)) == before
    assert Truth.objects.count() == 1


def test_a_full_disk_is_not_reported_as_a_damaged_truth(
    bundle: Any, run: Any, quick_podium: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error message for a damaged ground truth suggests adding it again, which does not help on a full disk."""
    run()
    Truth.objects.update(prepared_with=None)
    monkeypatch.setattr(truths, "prepare", full)
    with pytest.raises(OSError, match="No space left"):
        rescoring.start(phase=Phase.objects.get(), by=None)


def test_a_prepared_file_is_replaced_completely_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, source = tmp_path / "truths" / "truth.podium", tmp_path / "new"
    target.parent.mkdir()
    target.write_bytes(b"old")
    monkeypatch.setattr(shutil, "copyfile", partial_copy)
    with pytest.raises(OSError, match="No space left"):
        truths.replace_file(target, source)
    assert [path.read_bytes() for path in target.parent.iterdir()] == [b"old"]


def partial_copy(source: Path, target: Path) -> None:
    target.write_bytes(b"half")
    full()


def test_writing_new_caption_ids_leaves_no_partial_file_in_the_bundle(
    captions: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the error, the bundle is unchanged, so the import can be repeated when the disk has space again."""
    before = {path: path.read_bytes() for path in captions.path.rglob("*") if path.is_file()}
    write = Path.write_bytes

    def half(path: Path, content: bytes) -> int:
        write(path, content[: len(content) // 2])
        return int(full()) if "gallery.json" in path.name else write(path, content)

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match="No space left"):
        list(write_opaque_ids(captions.path))
    assert {path: path.read_bytes() for path in captions.path.rglob("*") if path.is_file()} == before
    monkeypatch.undo()
    list(write_opaque_ids(captions.path))
    changed = {path.name for path, content in before.items() if path.read_bytes() != content}
    assert changed == {"gallery.json", "perfect.json"}
