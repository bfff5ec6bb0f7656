"""Moves stored files without a database row to quarantine.

Such files may still be needed if an old backup was restored.

Files stay in the folder `quarantine` of their storage for QUARANTINE_DAYS, in a folder for each day. Therefore a single
rename both moves a file and records the day. A file is restored when a row refers to it again. If an identical file has
been stored under the same name by then, the file in quarantine is deleted after QUARANTINE_DAYS, like all other files.
"""

import logging
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from filecmp import cmp
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models import Q

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Truth
from server.challenges.truth_storage import truth_storage
from server.submissions.models import Submission

log = logging.getLogger(__name__)

FOLDER = "quarantine"
UPLOADS = "submissions"
DRAWS = ".draws"  # suffix of the folder with a ground truth's bootstrap draws, next to its prepared file
# A file without a database row is moved to quarantine only if it is older than this number of seconds. Ages are
# measured by the file system's clock, which may differ from the database's.
UPLOAD_SECONDS = 3600.0  # One hour for an uploaded file, because its database row is written soon after the file.
# One day for a ground truth, because preparing it may take long, and its database row is written afterwards.
TRUTH_SECONDS = 24 * 3600.0
CHUNK = 500  # maximum number of file names in one database query


@dataclass(frozen=True, slots=True)
class StoredFolder:
    """A folder whose files belong to database rows. Files without a row are moved to quarantine."""

    root: Path
    folder: str  # path of the folder relative to `root`; an empty string means `root` itself
    age_seconds: float

    def known(self, names: list[str]) -> set[str]:
        """Return the given file names to which a database row refers."""
        if self.folder == UPLOADS:
            full = [f"{UPLOADS}/{name}" for name in names]
            return {Path(name).name for name in Submission.objects.filter(file__in=full).values_list("file", flat=True)}
        owners = {name: owner(name) for name in names}
        asked = set(owners.values())
        rows = Truth.objects.filter(Q(prepared__in=asked) | Q(source__in=asked)).values_list("prepared", "source")
        found = {name for row in rows for name in row}
        return {name for name in names if owners[name] in found}

    @property
    def path(self) -> Path:
        return self.root / self.folder

    @property
    def quarantine(self) -> Path:
        return self.root / FOLDER / self.folder


@dataclass(frozen=True, slots=True)
class QuarantinedFile:
    """A file or folder in quarantine, where files without a database row are kept for QUARANTINE_DAYS."""

    folder: StoredFolder
    name: str
    bytes: int
    since: date  # day (UTC) on which the file was moved to quarantine
    known: bool  # whether a database row now refers to the file

    @property
    def title(self) -> str:
        """The name by which operators refer to the file or folder in quarantine."""
        return f"{self.folder.folder or 'truths'}/{self.name}"

    @property
    def path(self) -> Path:
        return self.folder.quarantine / self.since.isoformat() / self.name

    @property
    def is_needed(self) -> bool:
        """Whether a database row refers to the file or folder, and no identical file is stored under its name.

        If so, it must be restored. Folders of bootstrap draws are not compared, because they can be generated again
        from the ground truth.
        """
        place = self.folder.path / self.name
        with suppress(OSError):
            return self.known and not (place.is_dir() or (place.exists() and cmp(place, self.path, shallow=False)))
        return True

    @property
    def until(self) -> date:
        """The last day on which the file is kept in quarantine, QUARANTINE_DAYS after it was moved there."""
        return self.since + timedelta(days=settings.QUARANTINE_DAYS)

    def restore(self) -> bool:
        """Move the file back. Return False if it is gone, or if there is another file with its name."""
        # Set the modification time of the restored file to the current time. Otherwise, the sweeper could immediately
        # move the file to quarantine again if no row refers to it.
        with suppress(OSError):
            os.utime(self.path)
        return moved(self.path, self.folder.path / self.name)


def owner(name: str) -> str:
    """Return the name of the ground truth file to which a folder of bootstrap draws belongs.

    The name of any other file or folder is returned unchanged.
    """
    return f"{name.removesuffix(DRAWS)}.podium" if name.endswith(DRAWS) else name


def stored_folders() -> list[StoredFolder]:
    uploads, truths = Path(default_storage.location), Path(truth_storage().location)  # type: ignore[attr-defined]
    return [StoredFolder(uploads, UPLOADS, UPLOAD_SECONDS), StoredFolder(truths, "", TRUTH_SECONDS)]


def today() -> date:
    return datetime.now(UTC).date()


def sweep() -> tuple[int, int, int]:
    """Quarantine unreferenced files, restore files that are needed again, and delete expired ones.

    Return the numbers of quarantined, restored and deleted files.
    """
    isolated = [isolate(folder, name) for folder in stored_folders() for name in unknown_names(folder)]
    restored = [one.restore() for one in quarantined() if one.known]
    deleted = [removed(one.path) for one in quarantined() if one.until < today() and not one.is_needed]
    remove_empty_days()
    return sum(isolated), sum(restored), sum(deleted)


def unknown_names(folder: StoredFolder) -> Iterator[str]:
    """Yield the names of files without a database row, except young files, whose rows may not have been written yet."""
    before = time.time() - folder.age_seconds
    for names in chunks(folder.path):
        known = folder.known(names)
        yield from (name for name in names if name not in known and last_changed(folder.path / name) < before)


def chunks(folder: Path) -> Iterator[list[str]]:
    stored = [one.name for one in folder.iterdir() if is_stored(one)] if folder.is_dir() else []
    yield from (stored[start : start + CHUNK] for start in range(0, len(stored), CHUNK))


def is_stored(path: Path) -> bool:
    return path.is_file() or path.name.endswith(DRAWS)


def last_changed(path: Path) -> float:
    """Return the modification time of a file, or the newest one in a folder.

    For an unreadable file, return the current time, so that the file is not moved to quarantine.
    """
    with suppress(OSError):
        return max(one.stat().st_mtime for one in (path, *path.rglob("*")))
    return time.time()


def isolate(folder: StoredFolder, name: str) -> bool:
    """Move a file from a folder with stored files to the current day's folder in quarantine."""
    return moved(folder.path / name, folder.quarantine / today().isoformat() / name)


def moved(source: Path, target: Path) -> bool:
    """Rename a file or folder. Return False if it is gone, cannot be moved, or would replace another one."""
    if target.exists():
        return False
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        source.rename(target)
    except FileNotFoundError:
        return False
    # An error with one file is only logged, because the sweeper must continue with the other files.
    except OSError as error:
        log.error("alarm: %s cannot be moved to %s: %s", source, target, error.strerror)
        return False
    return True


def date_undated(folder: StoredFolder) -> None:
    """Move quarantined files that are not in a daily folder to today's folder.

    Earlier versions had no daily folders. The modification time of a file is not necessarily the time at which it was
    quarantined, because setting it may have failed.
    """
    for names in chunks(folder.quarantine):
        for name in names:
            moved(folder.quarantine / name, folder.quarantine / today().isoformat() / name)


def days(folder: StoredFolder) -> Iterator[date]:
    """Yield the days on which files of this folder were moved to quarantine, oldest first."""
    for path in sorted(folder.quarantine.iterdir()) if folder.quarantine.is_dir() else []:
        with suppress(ValueError):
            yield date.fromisoformat(path.name)


def quarantined() -> list[QuarantinedFile]:
    """Return all files and folders in quarantine, oldest first."""
    for folder in stored_folders():
        date_undated(folder)
    found = [
        one
        for folder in stored_folders()
        for day in days(folder)
        for names in chunks(folder.quarantine / day.isoformat())
        for one in described(folder, day, names)
    ]
    return sorted(found, key=lambda one: (one.since, one.name))


def described(folder: StoredFolder, day: date, names: list[str]) -> Iterator[QuarantinedFile]:
    known = folder.known(names)
    for name in names:
        path = folder.quarantine / day.isoformat() / name
        with suppress(OSError):
            size = sum(one.stat().st_size for one in (path, *path.rglob("*")) if one.is_file())
            yield QuarantinedFile(folder, name, size, day, name in known)


def restore_by(one: QuarantinedFile, *, by: User | None) -> bool:
    """Move a file back at a user's request, and record who requested it."""
    restored = one.restore()
    if restored:
        audit.record(actor=by, action="file.restored", subject=f"file {one.title}")
    return restored


def removed(path: Path) -> bool:
    """Remove a file or folder. Return False if it is gone or cannot be removed."""
    try:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        log.error("alarm: %s cannot be removed: %s", path, error.strerror)
        return False
    return True


def remove_empty_days() -> None:
    for folder in stored_folders():
        for day in days(folder):
            # A day's folder that still contains files cannot be removed, so the error is ignored.
            with suppress(OSError):
                (folder.quarantine / day.isoformat()).rmdir()
