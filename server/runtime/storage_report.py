"""Reports what uses storage, files without a database row, rows without a file, and files that cannot be opened."""

import os
import shutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import Storage, default_storage
from django.db.models import Count, Q, Sum

from server.challenges.truth_storage import storages, truth_storage
from server.runtime.backup.files import existing_file_fields
from server.stored_files.copies import in_objects, is_local, title_of
from server.submissions.models import UNSCORED, Submission
from server.submissions.services import object_quarantine, quarantine
from server.submissions.services.quarantine import CHUNK, StoredFolder

HOME_FOLDERS = ("incoming", "cache", "logs", "redis", "metrics")
SHOWN_NAMES = 20


@dataclass(slots=True)
class Amount:
    files: int = 0
    bytes: int = 0

    def add(self, size: int) -> None:
        self.files += 1
        self.bytes += size


@dataclass(slots=True)
class Use:
    """The files of one storage backend.

    place : the folder or the bucket of the storage
    stored : number and size of all files, except those in quarantine
    without_row : files to which no database row refers; the sweeper moves old ones to quarantine
    quarantined : files in quarantine
    missing : names of files that are in the database but not in the storage, at most SHOWN_NAMES of them
    missing_count : number of all such names
    unreadable : names of files that are in the database but cannot be opened, at most SHOWN_NAMES of them
    unreadable_count : number of all such names
    """

    place: str
    stored: Amount = field(default_factory=Amount)
    without_row: Amount = field(default_factory=Amount)
    quarantined: Amount = field(default_factory=Amount)
    missing: list[str] = field(default_factory=list)
    missing_count: int = 0
    unreadable: list[str] = field(default_factory=list)
    unreadable_count: int = 0


def report() -> dict[str, Any]:
    """Return the report as JSON data. Raises StoreUnavailable if the object store does not respond."""
    return {
        "storages": {name: asdict(use_of(storage)) for name, storage in storages().items()},
        "phases": phases(),
        "home": {name: size_of(Path(settings.PODIUM_HOME) / name) for name in HOME_FOLDERS},
        "free_bytes": {str(folder): shutil.disk_usage(folder).free for folder in local_folders()},
    }


def use_of(storage: Storage) -> Use:
    found = Use(title_of(storage))
    wanted = set(names_in_database(storage))
    names = defaultdict(set)
    for name in wanted:
        folder, _, last = name.rpartition("/")
        names[folder].add(last)
    watched = {folder.folder: folder for folder in watched_folders(storage)}
    for folder in {*names, *watched}:
        for listed in in_chunks(storage, folder):
            for size in listed.values():
                found.stored.add(size)
            if folder in watched:
                known = watched[folder].known([*listed])
                for name in listed.keys() - known:
                    found.without_row.add(listed[name])
            names[folder] -= listed.keys()
    missing = {"/".join(filter(None, (folder, name))) for folder, left in names.items() for name in left}
    found.missing, found.missing_count = sorted(missing)[:SHOWN_NAMES], len(missing)
    unreadable = sorted(name for name in wanted - missing if is_unreadable(storage, name))
    found.unreadable, found.unreadable_count = unreadable[:SHOWN_NAMES], len(unreadable)
    for one in quarantined(storage):
        found.quarantined.add(one.bytes)
    return found


def is_unreadable(storage: Storage, name: str) -> bool:
    """Return whether a file exists, but this user may not open it. In an object store, no file is opened.

    There, files have no owners, and each would take a request.
    """
    if not is_local(storage):
        return False
    try:
        storage.open(name).close()
    except FileNotFoundError:  # It was removed in the meantime.
        return False
    except OSError:
        return True
    return False


def names_in_database(storage: Storage) -> Iterator[str]:
    """Yield the names of all files in a storage backend to which database rows refer."""
    is_upload = storage is default_storage
    for model, column in existing_file_fields():
        if (column.storage is default_storage) == is_upload:
            rows = model._default_manager.exclude(**{column.name: ""}).exclude(**{column.name: None})
            yield from rows.values_list(column.name, flat=True).iterator()


def watched_folders(storage: Storage) -> list[StoredFolder]:
    """Return the folders of a storage backend in which every file must have a database row."""
    objects = [folder for _, folder in object_quarantine.stored_folders()] if not is_local(storage) else []
    uploads, truths = objects or quarantine.stored_folders()
    return [uploads if storage is default_storage else truths]


def quarantined(storage: Storage) -> list[quarantine.QuarantinedFile]:
    every: list[quarantine.QuarantinedFile] = (
        [*quarantine.quarantined()] if is_local(storage) else [*object_quarantine.quarantined()]
    )
    is_upload = storage is default_storage
    return [one for one in every if (one.folder.folder == quarantine.UPLOADS) == is_upload]


def in_chunks(storage: Storage, folder: str) -> Iterator[dict[str, int]]:
    """Yield dicts that map the names of the files in a folder of a storage to their sizes in bytes.

    Each dict has at most 1,000 keys. Files in subfolders are not included.
    """
    if not is_local(storage):
        for page in in_objects(storage).listed(folder):
            yield {one.name: one.size for one in page}
        return
    path = Path(storage.path(folder or "."))
    entries = [one for one in path.iterdir() if quarantine.is_stored(one)] if path.is_dir() else []
    for start in range(0, len(entries), CHUNK):
        yield {one.name: size_of(one) for one in entries[start : start + CHUNK]}


def size_of(path: Path) -> int:
    """Return the size of a file, or of all files in a folder. Files that disappear in the meantime do not count."""
    total = 0
    for one in (path, *path.rglob("*")):
        try:
            total += 0 if one.is_dir() else one.stat().st_size
        except OSError:
            continue
    return total


def phases() -> list[dict[str, Any]]:
    """Return the number and total size of the stored uploads to each phase, largest size first."""
    sums = {
        "files": Count("pk"),
        "bytes": Sum("size_bytes"),
        "unscored_files": Count("pk", filter=Q(status__in=UNSCORED)),
        "unscored_bytes": Sum("size_bytes", filter=Q(status__in=UNSCORED), default=0),
    }
    names = ("phase__challenge__slug", "phase__slug")
    rows = Submission.objects.stored().order_by().values(*names).annotate(**sums).order_by("-bytes", *names)
    return [{"phase": "/".join(row.pop(name) for name in names), **row} for row in rows]


def local_folders() -> list[Path]:
    """Return one folder for each disk that the service writes to."""
    folders = [Path(settings.PODIUM_HOME), Path(settings.FILE_UPLOAD_TEMP_DIR)]
    folders += [Path(title_of(one)) for one in (default_storage, truth_storage()) if is_local(one)]
    by_disk = {os.stat(folder).st_dev: folder for folder in reversed(folders) if folder.is_dir()}
    return sorted(by_disk.values())
