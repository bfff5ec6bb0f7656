"""Files without a database row are quarantined, restored if a row refers to them again, and deleted after 30 days."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from server.submissions.models import Submission
from server.submissions.services import quarantine, sweeping
from server.submissions.services.sweeping import sweep
from tests.conftest import Make
from tests.server.submissions.conftest import Storing, aged

DAY_HOURS = 24.0


def aside(path: Path) -> Path:
    """Return the path to which an upload is moved if it is quarantined today."""
    return path.parent.parent / "quarantine" / "submissions" / f"{datetime.now(UTC):%Y-%m-%d}" / path.name


def days_later(monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    """Move the date that the quarantine uses forward by the given number of days."""
    monkeypatch.setattr(quarantine, "today", lambda: (datetime.now(UTC) + timedelta(days=days)).date())


def test_an_old_upload_without_a_row_is_moved_and_kept(upload: Storing) -> None:
    path = upload()
    assert sweep().quarantined == 1
    assert (path.exists(), aside(path).read_bytes()) == (False, b"content")


@pytest.mark.parametrize(("hours", "moved"), [(0.9, 0), (1.1, 1)])
def test_the_age_of_a_file_is_measured_by_the_clock_of_the_file_system(
    upload: Storing, monkeypatch: pytest.MonkeyPatch, hours: float, moved: int
) -> None:
    upload(hours=hours)
    monkeypatch.setattr(sweeping, "database_now", lambda: datetime.now(UTC) + timedelta(hours=12))
    assert sweep().quarantined == moved


def test_an_upload_that_disappears_meanwhile_is_ignored(upload: Storing, monkeypatch: pytest.MonkeyPatch) -> None:
    path = upload()
    known = quarantine.StoredFolder.known

    def refused_now(folder: quarantine.StoredFolder, names: list[str]) -> set[str]:
        path.unlink(missing_ok=True)
        return known(folder, names)

    monkeypatch.setattr(quarantine.StoredFolder, "known", refused_now)
    assert sweep().quarantined == 0


def test_an_old_upload_with_a_row_is_not_moved(truths: Path, make: Make) -> None:
    path = aged(Path(make.submission(make.phase()).file.path), hours=25)
    assert sweep().quarantined == 0
    assert path.exists()


@pytest.mark.parametrize(("hours", "moved"), [(25, 1), (23, 0)])
def test_an_old_truth_without_a_row_is_moved(truths: Path, hours: float, moved: int) -> None:
    (truths / "stray.podium").touch()
    aged(truths / "stray.podium", hours=hours)
    assert sweep().quarantined == moved
    assert len([*truths.glob("quarantine/*/stray.podium")]) == moved


@pytest.mark.parametrize("field", ["prepared", "source"])
def test_an_old_truth_with_a_row_is_not_moved(truths: Path, make: Make, field: str) -> None:
    make.phase().truths.update(**{field: "known"})
    (truths / "known").touch()
    aged(truths / "known", hours=25)
    assert sweep().quarantined == 0


@pytest.mark.parametrize(("known", "hours", "moved"), [(False, 25, 1), (False, 23, 0), (True, 25, 0)])
def test_draws_are_moved_to_quarantine_with_their_truth(
    truths: Path, make: Make, known: bool, hours: float, moved: int
) -> None:
    truth = make.phase().truth
    if not known:
        truth.delete()
    draws = truths / truth.draws.name
    draws.mkdir()
    (draws / "weights").touch()
    aged(draws / "weights", hours=hours)
    aged(draws, hours=hours)
    assert (sweep().quarantined, draws.exists()) == (moved, not moved)


def test_no_file_is_lost_if_an_old_backup_is_restored(truths: Path, make: Make) -> None:
    """An old backup of the database does not contain the rows of newer files, so these files are quarantined.

    The sweeper restores the files when their rows exist again.
    """
    phase = make.phase()
    newer = [make.submission(phase) for _ in range(5)]
    paths = [aged(Path(one.file.path), hours=25) for one in newer]
    rows = list(Submission.objects.all())
    Submission.objects.all().delete()
    assert sweep().quarantined == 5
    assert sweep().removed == 0
    Submission.objects.bulk_create(rows)
    assert sweep().restored == 5
    assert all(path.exists() for path in paths)


@pytest.mark.parametrize(("days", "removed"), [(30, 0), (31, 1)])
def test_no_file_is_deleted_before_its_time_in_quarantine_is_over(
    upload: Storing, days: int, removed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = upload()
    sweep()
    days_later(monkeypatch, days)
    assert sweep().removed == removed
    assert aside(path).exists() != removed
    assert aside(path).parent.exists() != removed


def test_the_time_in_quarantine_is_not_shortened_if_the_sweeper_is_killed_after_the_move(
    upload: Storing, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = upload(hours=100 * DAY_HOURS)
    rename = Path.rename

    def rename_and_end(source: Path, target: Path) -> None:
        rename(source, target)
        raise SystemExit

    with monkeypatch.context() as killed:
        killed.setattr(Path, "rename", rename_and_end)
        with pytest.raises(SystemExit):
            sweep()
    assert sweep().removed == 0
    assert aside(path).read_bytes() == b"content"


def test_the_time_in_quarantine_does_not_depend_on_setting_the_file_time(
    upload: Storing, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = upload(hours=100 * DAY_HOURS)

    def refuse(*words: object, **options: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(quarantine.os, "utime", refuse)
    assert [(one.quarantined, one.removed) for one in (sweep(), sweep())] == [(1, 0), (0, 0)]
    assert aside(path).read_bytes() == b"content"


def test_files_quarantined_by_earlier_versions_are_kept_for_the_full_time(upload: Storing, truths: Path) -> None:
    path = upload(hours=100 * DAY_HOURS)
    before = aside(path).parent.parent / path.name
    before.parent.mkdir(parents=True)
    path.rename(before)
    draws = truths / "quarantine" / "truth.draws"
    draws.mkdir(parents=True)
    (draws / "weights").touch()
    aged(draws, hours=100 * DAY_HOURS)
    assert {one.title for one in quarantine.quarantined()} == {"submissions/stray", "truths/truth.draws"}
    assert (sweep().removed, aside(path).read_bytes()) == (0, b"content")
    assert len([*truths.glob("quarantine/*/truth.draws/weights")]) == 1


@pytest.mark.parametrize(("days", "removed"), [(30, 0), (31, 1)])
def test_a_quarantined_file_is_deleted_if_an_identical_file_has_replaced_it(
    truths: Path, make: Make, days: int, removed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(make.submission(make.phase()).file.path)
    content = path.read_bytes()
    aside(path).parent.mkdir(parents=True)
    aside(path).write_bytes(content)
    days_later(monkeypatch, days)
    assert [(one.restored, one.removed) for one in (sweep(), sweep())] == [(0, removed), (0, 0)]
    assert (aside(path).exists(), path.read_bytes()) == (not removed, content)


def test_draws_are_deleted_when_they_are_due_if_their_truth_has_draws_again(
    truths: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = make.phase().truth.draws.name
    before = truths / "quarantine" / f"{datetime.now(UTC):%Y-%m-%d}" / name
    for draws in (before, truths / name):
        draws.mkdir(parents=True)
    days_later(monkeypatch, 31)
    assert (sweep().removed, before.exists(), (truths / name).exists()) == (1, False, True)


def test_a_quarantined_file_with_a_row_is_kept_if_it_cannot_be_moved_back(
    truths: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(make.submission(make.phase()).file.path)
    aside(path).parent.mkdir(parents=True)
    path.rename(aside(path))
    monkeypatch.setattr(quarantine, "moved", lambda source, target: False)
    days_later(monkeypatch, 31)
    assert (sweep().removed, aside(path).exists()) == (0, True)


def test_a_file_that_cannot_be_moved_does_not_stop_the_sweeper(
    upload: Storing, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    paths = [upload(name) for name in ("first", "second", "third")]
    rename = Path.rename

    def refuse_first(path: Path, target: Path) -> None:
        if path.name == "first":
            raise PermissionError(13, "Permission denied")
        rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse_first)
    assert sweep().quarantined == 2
    assert [path.exists() for path in paths] == [True, False, False]
    assert f"alarm: {paths[0]} cannot be moved" in caplog.text


def test_a_quarantined_file_that_cannot_be_removed_does_not_stop_the_sweeper(
    upload: Storing, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    paths = [upload(name) for name in ("first", "second")]
    sweep()
    unlink = Path.unlink

    def refuse_first(path: Path, **options: bool) -> None:
        if path.name == "first":
            raise PermissionError(13, "Permission denied")
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", refuse_first)
    days_later(monkeypatch, 31)
    assert sweep().removed == 1
    assert [aside(path).exists() for path in paths] == [True, False]
    assert f"alarm: {aside(paths[0])} cannot be removed" in caplog.text


def test_a_file_never_replaces_another_file_with_the_same_name_in_quarantine(upload: Storing) -> None:
    path = upload()
    sweep()
    upload().write_bytes(b"newer")
    aged(path, hours=25)
    assert sweep().quarantined == 0
    assert (aside(path).read_bytes(), path.read_bytes()) == (b"content", b"newer")


def test_the_time_in_quarantine_begins_when_the_file_is_moved(upload: Storing) -> None:
    path = upload(hours=100 * DAY_HOURS)
    sweep()
    assert sweep().removed == 0
    assert aside(path).exists()


def test_a_file_with_a_row_is_never_deleted_from_quarantine(
    upload: Storing, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = upload()
    sweep()
    make.submission(make.phase(), file=f"submissions/{path.name}")
    # The quarantined file cannot be restored while another file has its name.
    path.write_bytes(b"another of the same name")
    days_later(monkeypatch, 100)
    sweep()
    assert (aside(path).read_bytes(), path.read_bytes()) == (b"content", b"another of the same name")
