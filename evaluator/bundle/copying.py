"""Copies the folder of a bundle before it is read, so that links cannot give access to files outside the folder."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from evaluator.bundle.limits import BundleLimits
from evaluator.bundle.mistakes import Mistakes

LINK = "is a link; replace it with the file or folder itself"
SPECIAL = "is neither a file nor a folder; remove it"
KEEP_LESS = (
    "keep only the files that its phases need; of Flickr30k Entities, these are the files of the images in split.txt"
)
MAX_ENTRIES = 10_000
MAX_NAME_BYTES = 200
CHUNK_BYTES = 2**20
UNKNOWN = 0

Entries = tuple[Path, list[str], list[str], int]


def is_clutter(name: str) -> bool:
    """Return whether a file was probably created by the operating system or an editor.

    The result is true if the path contains `__MACOSX`, or a name that begins with a dot.
    """
    parts = PurePosixPath(name).parts
    return "__MACOSX" in parts or any(part.startswith(".") and part != ".." for part in parts)


def is_short(name: str) -> bool:
    """Return whether a path is valid UTF-8 and short enough for all file systems."""
    try:
        return len(name.encode()) <= MAX_NAME_BYTES
    except UnicodeEncodeError:
        return False


def copy_folder(source: Path, target: Path, mistakes: Mistakes, limits: BundleLimits) -> None:
    """Copy all regular files in a folder. Links, special files and exceeded size limits are reported as errors.

    The size limits are the same as for zip files. The path of the folder itself may contain links. Inside the folder,
    links are never followed, even if a file is replaced by a link during the copy: every file is opened relative to the
    descriptor of its parent folder.
    """
    # If the target folder is inside the source folder, it must not be copied into itself. Both paths are resolved, so
    # that the target folder is recognized by its path.
    source, target = source.resolve(), target.resolve()
    unreadable: list[OSError] = []
    too_large = _is_too_large(source, target, unreadable, most=limits.decompressed_bytes)
    left = -1 if too_large else limits.decompressed_bytes
    for inside, folders, files, descriptor in () if unreadable or left < 0 else _walk(source, target, unreadable):
        folders[:] = [name for name in folders if _is_allowed(name, descriptor, inside, mistakes)]
        for name in folders:
            (target / inside / name).mkdir()
        for name in (name for name in files if _is_allowed(name, descriptor, inside, mistakes)):
            left -= _copy_file(name, descriptor, inside, target, most=left, mistakes=mistakes)
        # The limit on the total size of the copied files is checked again: a file may have grown since the first check,
        # or may be an endless stream.
        if left < 0:
            break
    if left < 0:
        allowed = f"{limits.decompressed_bytes} bytes, {MAX_ENTRIES} files and folders"
        message = f"exceeds the limits of a bundle ({allowed}); {KEEP_LESS}"
        mistakes.add("too_large", message, file=source.name or str(source))
    for error in unreadable:
        # OSError.filename is an integer if the error occurred on a file descriptor. In that case, the error message
        # shows the name of the copied folder instead.
        name = Path(error.filename).name if isinstance(error.filename, str) else source.name
        mistakes.add("unreadable", f"cannot be read: {error.strerror}", file=name or str(source))


def _walk(source: Path, target: Path, unreadable: list[OSError]) -> Iterator[Entries]:
    """Yield the path, subfolders, files and descriptor of each folder in a tree. Errors are added to `unreadable`."""
    try:
        yield from _walk_readable(source, target, unreadable)
    # If os.fwalk can open a folder but not list it, it raises an exception instead of calling `onerror`.
    except OSError as error:
        unreadable.append(error)


def _walk_readable(source: Path, target: Path, unreadable: list[OSError]) -> Iterator[Entries]:
    for top, folders, files, descriptor in os.fwalk(source, follow_symlinks=False, onerror=unreadable.append):
        folders[:] = [name for name in folders if not is_clutter(name) and Path(top, name) != target]
        yield Path(top).relative_to(source), folders, sorted(name for name in files if not is_clutter(name)), descriptor


def _is_too_large(source: Path, target: Path, unreadable: list[OSError], *, most: int) -> bool:
    """Return whether a folder exceeds the limit on its size or on its number of files and folders. Nothing is copied.

    Counting stops as soon as a limit is exceeded.
    """
    entries = size = 0
    for _, folders, files, descriptor in _walk(source, target, unreadable):
        entries += len(folders) + len(files)
        if entries > MAX_ENTRIES:
            return True
        size += sum(_size(name, descriptor) for name in files)
        if size > most:
            return True
    return False


def _size(name: str, folder: int) -> int:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:  # If the size of a file cannot be determined, the error is reported when the file is copied.
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def _is_allowed(name: str, folder: int, inside: Path, mistakes: Mistakes) -> bool:
    """Return whether a file or folder may be copied. Links, special files and invalid names are reported as errors."""
    path, kind = (inside / name).as_posix(), _kind(name, folder)
    if not is_short(path):
        shown = path.encode(errors="backslashreplace").decode()
        mistakes.add(
            "unsafe_path", "has a path that is too long or not valid UTF-8; rename it", file=shown[:MAX_NAME_BYTES]
        )
    elif kind not in (stat.S_IFREG, stat.S_IFDIR, UNKNOWN):
        mistakes.add("unsafe_path", LINK if kind == stat.S_IFLNK else SPECIAL, file=path)
    else:
        return True
    return False


def _kind(name: str, folder: int) -> int:
    try:
        return stat.S_IFMT(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:  # If the type of a file cannot be determined, the error is reported when the file is opened.
        return UNKNOWN


def _copy_file(name: str, folder: int, inside: Path, target: Path, *, most: int, mistakes: Mistakes) -> int:
    """Copy one file and return its size in bytes. Reading stops once the size exceeds `most` bytes."""
    path, size = (inside / name).as_posix(), 0
    try:  # Without O_NONBLOCK, opening a named pipe would wait until another process opens it for writing.
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError as error:
        mistakes.add("unreadable", f"cannot be read: {error.strerror}", file=path)
        return 0
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            mistakes.add("unsafe_path", SPECIAL, file=path)
            return 0
        with (target / inside / name).open("xb") as copy:
            while size <= most and (chunk := _read(descriptor, path, mistakes)):
                size += copy.write(chunk)
    finally:
        os.close(descriptor)
    return size


def _read(descriptor: int, path: str, mistakes: Mistakes) -> bytes:
    """Return the next bytes of a file. If the file cannot be read, report an error and return empty bytes."""
    try:
        return os.read(descriptor, CHUNK_BYTES)
    except OSError as error:
        mistakes.add("unreadable", f"cannot be read: {error.strerror}", file=path)
        return b""
