"""A bundle that is a folder has the same limits as a zip file, and unreadable files in it are reported as errors."""

import os
from errno import EIO, ENOSPC
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from evaluator.bundle import InvalidBundle, copying, unpacking
from server.organize.services import bundles
from tests.conftest import Make
from tests.server.organize.conftest import BundleFolder

pytestmark = pytest.mark.usefixtures("make")


def mistakes(path: Path) -> list[tuple[str, str | None]]:
    with pytest.raises(InvalidBundle) as caught, bundles.opened(path):
        pass
    return [(problem.code, problem.file) for problem in caught.value.problems]


@pytest.fixture
def uncopied(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the function that copies files, so that a test fails if any file is copied."""
    monkeypatch.delattr(copying, "_copy_file")


@pytest.mark.usefixtures("uncopied")
def test_a_folder_larger_than_the_limit_is_refused_before_it_is_copied(
    bundle: BundleFolder, settings: Settings
) -> None:
    with bundle.write("phases/main/truth/stray.bin", b"").open("wb") as stray:
        stray.truncate(settings.DECOMPRESSED_MAX_BYTES + 1)
    assert mistakes(bundle.path) == [("too_large", "bundle")]


@pytest.mark.usefixtures("uncopied")
def test_a_folder_with_more_files_than_the_limit_is_refused_before_it_is_copied(
    bundle: BundleFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "MAX_ENTRIES", 4)
    assert mistakes(bundle.path) == [("too_large", "bundle")]


def test_reading_of_a_file_without_an_end_stops_at_the_limit(
    bundle: BundleFolder, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DECOMPRESSED_MAX_BYTES = 2**12
    monkeypatch.setattr(copying, "_read", lambda *about: b"x" * 2**10)
    assert mistakes(bundle.path) == [("too_large", "bundle")]


def test_a_file_that_cannot_be_read_to_its_end_is_named(bundle: BundleFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(descriptor: int, most: int) -> bytes:
        raise OSError(EIO, os.strerror(EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "read", broken)
        found = mistakes(bundle.path)
    assert set(found) == {("unreadable", f"{name}") for name in ("challenge.yaml", *TRUTH)}


TRUTH = ("phases/main/truth/boxes.csv", "phases/main/truth/image_labels.csv")


def test_a_file_that_disappears_before_it_is_copied_is_named(
    bundle: BundleFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(name: str, folder: int) -> int:
        os.unlink(name, dir_fd=folder)
        return copying.UNKNOWN

    bundle.write("rules.md", "Be fair.")
    monkeypatch.setattr(copying, "_kind", lambda name, folder: gone(name, folder) if name == "rules.md" else 0)
    assert mistakes(bundle.path) == [("unreadable", "rules.md")]


@pytest.mark.parametrize("name", [b"\xff.csv", b"x" * 201])
def test_a_name_that_a_zip_may_not_have_is_refused(bundle: BundleFolder, name: bytes) -> None:
    Path(os.fsdecode(os.path.join(os.fsencode(bundle.path), name))).touch()
    ((code, shown),) = mistakes(bundle.path)
    assert (code, shown) == ("unsafe_path", name.decode(errors="backslashreplace").replace("\\xff", "\\udcff")[:200])


def test_a_folder_that_cannot_be_listed_is_a_mistake(bundle: BundleFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def unlisted(folder: Any, **about: Any) -> Any:
        raise PermissionError(13, "Permission denied", 7)
        yield

    monkeypatch.setattr(os, "fwalk", unlisted)
    assert mistakes(bundle.path) == [("unreadable", "bundle")]


def test_the_root_folder_is_refused_as_a_truth(make: Make) -> None:
    make.phase(make.challenge(slug="animals"), slug="main")
    with pytest.raises(CommandError, match=r"too_large|unreadable"):
        call_command("rescore", "animals", "main", truth="/")


def test_a_zip_that_cannot_be_read_to_its_end_is_named(
    bundle: BundleFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*about: Any) -> None:
        raise OSError(EIO, os.strerror(EIO))

    monkeypatch.setattr(unpacking, "_extract", broken)
    assert mistakes(bundle.zipped(tmp_path / "animals.zip")) == [("unreadable", "animals.zip")]


def test_a_full_disk_is_not_reported_as_a_mistake_in_a_zip_file(
    bundle: BundleFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*about: Any) -> None:
        raise OSError(ENOSPC, os.strerror(ENOSPC))

    monkeypatch.setattr(unpacking, "_extract", full)
    with pytest.raises(OSError, match="No space"), bundles.opened(bundle.zipped(tmp_path / "animals.zip")):
        pass
