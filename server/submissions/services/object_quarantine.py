"""Moves files without a database row to quarantine if the files are in an object store.

The rules and the names of quarantined files are the same as for folders on disk; see `quarantine.py`. A file is copied
inside the storage and then deleted. If the process dies in between, both copies remain, and the next run completes the
move.
"""

import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from django.core.files.storage import default_storage

from server import metrics
from server.challenges.truth_storage import truth_storage
from server.stored_files.copies import in_objects
from server.stored_files.failures import StoreUnavailable
from server.submissions.services import quarantine
from server.submissions.services.quarantine import FOLDER, QuarantinedFile, StoredFolder

if TYPE_CHECKING:
    from server.stored_files.objects import ObjectStorage

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class QuarantinedObject(QuarantinedFile):
    """A file in quarantine in an object store."""

    storage: "ObjectStorage"

    @property
    def key(self) -> str:
        return joined(FOLDER, self.folder.folder, self.since.isoformat(), self.name)

    @property
    def target(self) -> str:
        return joined(self.folder.folder, self.name)

    @property
    def is_needed(self) -> bool:
        if not self.known:
            return False
        with suppress(FileNotFoundError):
            return self.storage.head(self.target).sha256 != self.storage.head(self.key).sha256
        return True

    def restore(self) -> bool:
        return not self.storage.exists(self.target) and moved(self.storage, self.key, self.target)


def joined(*parts: str) -> str:
    return "/".join(filter(None, parts))


def stored_folders() -> list[tuple["ObjectStorage", StoredFolder]]:
    return [
        (in_objects(default_storage), StoredFolder(Path(), quarantine.UPLOADS, quarantine.UPLOAD_SECONDS)),
        (in_objects(truth_storage()), StoredFolder(Path(), "", quarantine.TRUTH_SECONDS)),
    ]


def sweep() -> tuple[int, int, int]:
    """Quarantine unreferenced files, restore files that are needed again, and delete expired ones.

    Return the numbers of quarantined, restored and deleted files. If the storage does not respond, nothing is done.
    """
    try:
        isolated = 0
        for storage, folder, name in unknown_names():
            isolated += isolate(storage, folder, name)
        restored = [one.restore() for one in quarantined() if one.known]
        expired = [one for one in quarantined() if one.until < quarantine.today() and not one.is_needed]
        for one in expired:
            one.storage.delete(one.key)
    except StoreUnavailable as error:
        metrics.file_sweep_errors.inc()
        log.error("alarm: files without rows were not looked for: %s", error.strerror)
        return 0, 0, 0
    return isolated, sum(restored), len(expired)


def unknown_names() -> Iterator[tuple["ObjectStorage", StoredFolder, str]]:
    """Yield the files without a database row, except young files, whose rows may not have been written yet."""
    for storage, folder in stored_folders():
        before = datetime.now(UTC) - timedelta(seconds=folder.age_seconds)
        for found in storage.listed(folder.folder):
            old = [one.name for one in found if one.modified_at < before]
            known = folder.known(old)
            yield from ((storage, folder, name) for name in old if name not in known)


def isolate(storage: "ObjectStorage", folder: StoredFolder, name: str) -> bool:
    day = quarantine.today().isoformat()
    return moved(storage, joined(folder.folder, name), joined(FOLDER, folder.folder, day, name))


def moved(storage: "ObjectStorage", source: str, target: str) -> bool:
    """Rename a file. Return False if it is gone, for example because another sweeper has moved it."""
    try:
        storage.move(source, target)
    except FileNotFoundError:
        return False
    return True


def quarantined() -> list[QuarantinedObject]:
    """Return all files in quarantine, oldest first."""
    found = [one for storage, folder in stored_folders() for one in described(storage, folder)]
    return sorted(found, key=lambda one: (one.since, one.name))


def described(storage: "ObjectStorage", folder: StoredFolder) -> Iterator[QuarantinedObject]:
    root = joined(FOLDER, folder.folder)
    for day in storage.folders(root):
        with suppress(ValueError):
            since = date.fromisoformat(day)
            for found in storage.listed(joined(root, day)):
                known = folder.known([one.name for one in found])
                for one in found:
                    yield QuarantinedObject(folder, one.name, one.size, since, one.name in known, storage)
