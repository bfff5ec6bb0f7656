"""Files that no row knows are moved aside, not deleted: an older backup of the rows may lie beside newer files.

They stay in a folder `quarantine` of their storage for QUARANTINE_DAYS, and go back when a row knows them again.
"""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models import Q

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Truth, truth_storage
from server.submissions.models import Submission

FOLDER = "quarantine"
UPLOADS = "submissions"
DRAWS = ".draws"  # a folder beside a truth
# Ages, in seconds by the clock that stamps files, which need not be the database's
UPLOAD_SECONDS = 3600.0  # its row is written within moments
TRUTH_SECONDS = 24 * 3600.0  # it may take long to be prepared
CHUNK = 500  # names in one query


@dataclass(frozen=True, slots=True)
class Shelf:
    """A folder of stored files and what its rows know."""

    root: Path
    folder: str  # within the root, "" for itself
    age_seconds: float

    def known(self, names: list[str]) -> set[str]:
        """Return those of these names that rows know."""
        if self.folder == UPLOADS:
            full = [f"{UPLOADS}/{name}" for name in names]
            return {Path(name).name for name in Submission.objects.filter(file__in=full).values_list("file", flat=True)}
        owners = {name: owner(name) for name in names}
        asked = set(owners.values())
        rows = Truth.objects.filter(Q(prepared__in=asked) | Q(source__in=asked)).values_list("prepared", "source")
        found = {name for row in rows for name in row}
        return {name for name in names if owners[name] in found}

    @property
    def place(self) -> Path:
        return self.root / self.folder

    @property
    def aside(self) -> Path:
        return self.root / FOLDER / self.folder


@dataclass(frozen=True, slots=True)
class Kept:
    """Something in quarantine."""

    shelf: Shelf
    name: str
    bytes: int
    since: datetime
    known: bool  # to a row that is there

    @property
    def title(self) -> str:
        """What people call it by."""
        return f"{self.shelf.folder or 'truths'}/{self.name}"

    @property
    def until(self) -> datetime:
        return self.since + timedelta(days=settings.QUARANTINE_DAYS)


def owner(name: str) -> str:
    """Return the truth that draws belong to; any other file is its own."""
    return f"{name.removesuffix(DRAWS)}.podium" if name.endswith(DRAWS) else name


def shelves() -> list[Shelf]:
    uploads, truths = Path(default_storage.location), Path(truth_storage().location)  # type: ignore[attr-defined]
    return [Shelf(uploads, UPLOADS, UPLOAD_SECONDS), Shelf(truths, "", TRUTH_SECONDS)]


def sweep() -> tuple[int, int, int]:
    """Put right what can be: return how many were moved aside, put back, and deleted because their time was over."""
    moved = [set_aside(shelf, name) for shelf in shelves() for name in strays(shelf)]
    back = [restore(one) for one in kept() if one.known]
    now = datetime.now(UTC)
    over = [delete(one) for one in kept() if one.until < now and not one.known]
    return sum(moved), sum(back), sum(over)


def strays(shelf: Shelf) -> Iterator[str]:
    """Yield the names of files that no row knows, old enough that none will."""
    before = time.time() - shelf.age_seconds
    for names in chunks(shelf.place):
        known = shelf.known(names)
        yield from (name for name in names if name not in known and last_touched(shelf.place / name) < before)


def chunks(folder: Path) -> Iterator[list[str]]:
    stored = [one.name for one in folder.iterdir() if is_stored(one)] if folder.is_dir() else []
    yield from (stored[start : start + CHUNK] for start in range(0, len(stored), CHUNK))


def is_stored(path: Path) -> bool:
    return path.is_file() or path.name.endswith(DRAWS)


def last_touched(path: Path) -> float:
    """Tell by the file's own clock; what vanishes meanwhile was its upload's to remove."""
    with suppress(FileNotFoundError):
        return max(one.stat().st_mtime for one in (path, *path.rglob("*")))
    return time.time()


def set_aside(shelf: Shelf, name: str) -> bool:
    """Move it; its age counts from now."""
    shelf.aside.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileNotFoundError):
        (shelf.place / name).rename(shelf.aside / name)
        os.utime(shelf.aside / name)
        return True
    return False


def kept() -> list[Kept]:
    """Return all that is in quarantine, the oldest first."""
    found = [one for shelf in shelves() for names in chunks(shelf.aside) for one in looked_up(shelf, names)]
    return sorted(found, key=lambda one: (one.since, one.name))


def looked_up(shelf: Shelf, names: list[str]) -> Iterator[Kept]:
    known = shelf.known(names)
    for name in names:
        path = shelf.aside / name
        with suppress(FileNotFoundError):
            size = sum(one.stat().st_size for one in (path, *path.rglob("*")) if one.is_file())
            yield Kept(shelf, name, size, datetime.fromtimestamp(path.stat().st_mtime, UTC), name in known)


def restore(one: Kept) -> bool:
    """Put it back where it was; what lies there meanwhile stays."""
    place = one.shelf.place / one.name
    if place.exists():
        return False
    with suppress(FileNotFoundError):
        (one.shelf.aside / one.name).rename(place)
        os.utime(place)
        return True
    return False


def put_back(one: Kept, *, by: User | None) -> bool:
    """The same because somebody wants it, which is recorded."""
    done = restore(one)
    if done:
        audit.record(actor=by, action="file.restored", subject=f"file {one.title}")
    return done


def delete(one: Kept) -> bool:
    path = one.shelf.aside / one.name
    with suppress(FileNotFoundError):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        return True
    return False
