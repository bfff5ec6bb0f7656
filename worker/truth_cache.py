"""Keeps copies of prepared ground truths on this machine if the stored files are in an object store.

Each copy is in a folder whose name is the sha256 of the copy. All processes of a worker share the copies. If the copies
need more than TRUTH_CACHE_BYTES, the least recently used ones are removed.

The time of the last use is stored as the modification time of the folder. The modification time of the copy must not
change, because the scorer refuses a file that changes in any way while it is read.
"""

import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from hashlib import file_digest, sha256
from io import FileIO
from pathlib import Path
from secrets import token_hex

from django.conf import settings

from evaluator.problems import DamagedTruth
from server import metrics
from server.challenges.models import Truth
from server.stored_files.copies import CHUNK_BYTES, in_objects, is_local
from server.stored_files.reading import StoredObject

log = logging.getLogger(__name__)

COPY = "truth.podium"


def folder() -> Path:
    path = Path(settings.PODIUM_HOME) / "cache" / "truths"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Run the ``with`` block as soon as no other process on this machine is in a block with the same name."""
    with (folder().parent / f"{name}.lock").open("w") as file:
        flock(file, LOCK_EX)
        yield


@contextmanager
def local_truth(truth: Truth) -> Iterator[Path]:
    """Yield the path of the prepared file of a ground truth: the stored file, or a copy of it in the cache.

    The copy is not removed while the block runs. Raises OSError if the storage cannot be used, and DamagedTruth if the
    sha256 of the stored file differs from the one that was recorded when the file was stored.
    """
    if is_local(truth.prepared.storage):
        yield Path(truth.prepared.path)
        return
    found = in_objects(truth.prepared.storage).head(str(truth.prepared.name))
    copy = copy_of(found)
    with closing(held(copy) or downloaded(truth, found)):
        yield copy


def draws_folder(truth: Truth) -> Path:
    """Return the folder for the bootstrap draws of a ground truth: next to its stored file, or in the cache."""
    if is_local(truth.prepared.storage):
        return truth.draws
    path = folder() / f"{truth.sha256}.draws"
    path.mkdir(mode=0o700, exist_ok=True)
    os.utime(path)
    return path


@contextmanager
def restoring(truth: Truth) -> Iterator[None]:
    """Run the ``with`` block, which restores a ground truth, as soon as no other process restores it.

    If the files are in a folder, the stored source is locked, so that machines that share the folder also wait for each
    other. Workers that use an object store wait only for processes on their own machine. Before the block runs, they
    remove their copy of the ground truth if it is damaged.
    """
    if is_local(truth.source.storage):
        with Path(truth.source.path).open("rb") as source:
            flock(source, LOCK_EX)
            yield
        return
    with alone("restore"):
        discard_damaged(in_objects(truth.prepared.storage).head(str(truth.prepared.name)))
        yield


def discard_damaged(found: StoredObject) -> None:
    """Remove the copy of a stored object if the copy is damaged. First wait until no process reads the copy."""
    copy = copy_of(found)
    with suppress(FileNotFoundError), FileIO(copy) as file:
        if file_digest(file, "sha256").hexdigest() != found.sha256:
            flock(file, LOCK_EX)
            copy.unlink()


def copy_of(found: StoredObject) -> Path:
    """Return the path of the copy of a stored object. The object's sha256 determines the path.

    If another program has stored the object, its metadata contain no sha256, and its ETag is used instead.
    """
    return folder() / (found.sha256 or sha256(found.etag.encode()).hexdigest()) / COPY


def held(copy: Path) -> FileIO | None:
    """Open a copy and lock it, so that no process removes it. Return None if there is no such copy."""
    with suppress(FileNotFoundError):
        file = FileIO(copy)
        flock(file, LOCK_SH)
        if os.fstat(file.fileno()).st_nlink:
            os.utime(copy.parent)
            metrics.truth_copies.labels("found").inc()
            return file
        file.close()
    return None


def downloaded(truth: Truth, found: StoredObject) -> FileIO:
    """Download the prepared file of a ground truth into the cache, verify it, and return the locked copy."""
    copy = copy_of(found)
    with alone("download"):
        if file := held(copy):  # Another process has downloaded the ground truth in the meantime.
            return file
        make_room(found.size)
        partial = folder() / f"{token_hex(16)}.partial"
        try:
            write(truth, found, partial)
            copy.parent.mkdir(mode=0o700, exist_ok=True)
            partial.rename(copy)
        finally:
            partial.unlink(missing_ok=True)
        metrics.truth_copies.labels("downloaded").inc()
        log.info("ground truth downloaded", extra={"truth": truth.pk, "bytes": found.size})
        file = FileIO(copy)
        flock(file, LOCK_SH)
        return file


def write(truth: Truth, found: StoredObject, target: Path) -> None:
    """Download a prepared file. Raises DamagedTruth if its size or sha256 differs from the object's metadata."""
    digest = sha256()
    with truth.prepared.storage.open(str(truth.prepared.name)) as stored, target.open("xb") as copy:
        target.chmod(0o600)
        while chunk := stored.read(CHUNK_BYTES):
            digest.update(chunk)
            copy.write(chunk)
        size = copy.tell()
    if size != found.size or found.sha256 not in ("", digest.hexdigest()):
        raise DamagedTruth(Path(str(truth.prepared.name)).name, "is damaged in the object storage")


def make_room(size: int) -> None:
    """Remove copies and bootstrap draws, least recently used first, until ``size`` more bytes fit into the cache.

    Copies that a process is reading are kept. Therefore, the cache may temporarily exceed its limit.
    """
    entries = sorted(folder().iterdir(), key=lambda path: path.stat().st_mtime)
    used = sum(map(size_of, entries))
    for path in entries:
        if used + size <= settings.TRUTH_CACHE_BYTES:
            return
        freed = size_of(path)
        if removed(path):
            used -= freed
            metrics.truth_copies.labels("removed").inc()


def size_of(path: Path) -> int:
    return sum(one.stat().st_size for one in (path, *path.rglob("*")) if one.is_file())


def removed(path: Path) -> bool:
    """Remove a folder with a copy or with bootstrap draws, and return True.

    If a process is reading the copy, keep the folder and return False. A path that is not a folder is an interrupted
    download, which is also removed.
    """
    if not path.is_dir():
        path.unlink()
        return True
    with ExitStack() as opened:
        if (path / COPY).exists():
            try:
                flock(opened.enter_context(FileIO(path / COPY)), LOCK_EX | LOCK_NB)
            except BlockingIOError:
                return False
        shutil.rmtree(path, ignore_errors=True)
    return True
