"""`manage.py storage` counts files by phase, and finds files without a row and rows without a file, in any storage."""

import errno
import json
import os
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage
from django.core.management import CommandError, call_command
from pytest_django import Settings

from server.challenges.models import Truth
from server.challenges.truth_storage import truth_storage
from server.clock import database_now
from server.submissions.models import Status
from tests.conftest import Make
from tests.object_store import line, store, store_port

__all__ = ["line", "store", "store_port"]

pytestmark = pytest.mark.enable_socket


@pytest.fixture(params=["folders", "objects"])
def storage(
    request: pytest.FixtureRequest,
    settings: Settings,
    own_folders: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> str:
    """Store files in folders, or in an S3-compatible object store."""
    if request.param == "objects":
        request.getfixturevalue("store")
    else:
        settings.TRUTH_ROOT, settings.PODIUM_HOME = tmp_path / "truths", tmp_path
        for field in ("prepared", "source"):
            monkeypatch.setattr(Truth._meta.get_field(field), "storage", truth_storage())
    return str(request.param)


def reported() -> tuple[dict[str, Any], str]:
    """Run `manage.py storage`. Return its JSON report, and its error message, which is empty if there is no error."""
    output, said = StringIO(), ""
    try:
        call_command("storage", "--json", stdout=output)
    except CommandError as error:
        said = str(error)
    return json.loads(output.getvalue()), said


@pytest.mark.usefixtures("storage")
def test_files_are_counted_by_storage_and_phase(make: Make) -> None:
    phase = make.phase(make.challenge(slug="c"), slug="main")
    make.submission(phase, content=b"x" * 100)
    make.submission(phase, content=b"x" * 50, status=Status.REJECTED, finished_at=database_now())
    found, said = reported()
    assert found["storages"]["uploads"]["stored"] == {"files": 2, "bytes": 150}
    assert found["storages"]["truths"]["stored"]["files"] == 2
    assert found["phases"] == [
        {"phase": "c/main", "files": 2, "bytes": 150, "unscored_files": 1, "unscored_bytes": 50},
    ]
    assert [found["storages"][name]["without_row"]["files"] for name in ("uploads", "truths")] == [0, 0]
    assert said == ""


@pytest.mark.usefixtures("storage")
def test_a_file_without_a_row_is_found_and_changes_nothing(make: Make) -> None:
    make.submission(make.phase())
    name = default_storage.save("submissions/unknown", ContentFile(b"x" * 10))
    truth = truth_storage().save("unknown.podium", ContentFile(b"x" * 20))
    found, said = reported()
    assert found["storages"]["uploads"]["without_row"] == {"files": 1, "bytes": 10}
    assert found["storages"]["truths"]["without_row"] == {"files": 1, "bytes": 20}
    assert default_storage.exists(name)
    assert truth_storage().exists(truth)
    assert said == ""


@pytest.mark.usefixtures("storage")
def test_a_missing_file_is_named_and_the_command_exits_with_1(make: Make) -> None:
    phase = make.phase()
    lost = str(make.submission(phase).file.name)
    make.submission(phase)
    default_storage.delete(lost)
    truth_storage().delete(str(phase.truth.source.name))
    found, said = reported()
    assert found["storages"]["uploads"]["missing"] == [lost]
    assert found["storages"]["truths"]["missing_count"] == 1
    assert "2 files that the database refers to are missing" in said


@pytest.mark.usefixtures("storage")
@pytest.mark.parametrize("storage", ["folders"], indirect=True)
def test_a_file_that_cannot_be_opened_is_named_and_the_command_exits_with_1(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    phase = make.phase()
    closed = str(make.submission(phase).file.name)
    make.submission(phase)
    opened = FileSystemStorage._open

    def refuse(self: FileSystemStorage, name: str, mode: str = "rb") -> Any:
        if name == closed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
        return opened(self, name, mode)

    monkeypatch.setattr(FileSystemStorage, "_open", refuse)
    found, said = reported()
    assert found["storages"]["uploads"]["unreadable"] == [closed]
    assert [use["unreadable_count"] for use in found["storages"].values()] == [1, 0]
    assert "1 files that the database refers to cannot be opened" in said


@pytest.mark.usefixtures("storage")
def test_a_file_that_was_removed_by_policy_is_not_missing(make: Make) -> None:
    submission = make.submission(make.phase(), status=Status.REJECTED, finished_at=database_now())
    default_storage.delete(str(submission.file.name))
    type(submission).objects.update(file="")
    assert reported()[1] == ""


@pytest.mark.usefixtures("storage")
def test_the_report_can_be_read_by_a_person(make: Make) -> None:
    make.submission(make.phase(make.challenge(slug="c"), slug="main"), content=b"x" * 2048)
    output = StringIO()
    call_command("storage", stdout=output)
    assert "submissions to c/main" in output.getvalue()
    assert "2 KiB" in output.getvalue()
