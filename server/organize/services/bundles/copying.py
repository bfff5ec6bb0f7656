"""Copies a bundle's folder before it is read, so that nothing outside it can be read through a link."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from server.errors import full_disk
from server.organize.services.bundles.mistakes import Mistakes

LINK = "is a link; replace it by the file or folder itself"
SPECIAL = "is neither a file nor a folder; remove it"


def is_clutter(name: str) -> bool:
    """Tell whether a file was left by some other program and is no part of the challenge."""
    parts = PurePosixPath(name).parts
    return "__MACOSX" in parts or any(part.startswith(".") and part != ".." for part in parts)


@contextmanager
def noted(mistakes: Mistakes, file: str) -> Iterator[None]:
    """Note what cannot be read. A disk that is full is not the fault of what is read, and stays an error."""
    try:
        yield
    except OSError as error:
        if full_disk(error):
            raise
        mistakes.add("unreadable", f"cannot be read: {error.strerror}", file=file)


def copy_folder(source: Path, target: Path, mistakes: Mistakes) -> None:
    """Copy the ordinary files of a folder; anything else in it is a mistake.

    The folder itself may be reached by a link. Inside it no link is followed, not even one that replaces a file or a
    folder meanwhile: every name is opened relative to its open folder.
    """

    def unreadable(error: OSError) -> None:
        mistakes.add("unreadable", f"cannot be read: {error.strerror}", file=Path(str(error.filename)).name)

    source, copies = source.resolve(), target.resolve()  # the copies may lie inside the source
    for top, folders, files, descriptor in os.fwalk(source, follow_symlinks=False, onerror=unreadable):
        inside = Path(top).relative_to(source)
        folders[:] = [name for name in folders if not is_clutter(name) and Path(top, name) != copies]
        for name in folders:
            if _is_link(name, descriptor):
                mistakes.add("unsafe_path", LINK, file=(inside / name).as_posix())
            else:
                (target / inside / name).mkdir()
        for name in sorted(name for name in files if not is_clutter(name)):
            _copy_file(name, descriptor, inside, target, mistakes)


def _is_link(name: str, folder: int) -> bool:
    return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _copy_file(name: str, folder: int, inside: Path, target: Path, mistakes: Mistakes) -> None:
    place = (inside / name).as_posix()
    if _is_link(name, folder):
        mistakes.add("unsafe_path", LINK, file=place)
        return
    with noted(mistakes, place):  # opened without blocking, in case it is a pipe
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                mistakes.add("unsafe_path", SPECIAL, file=place)
                return
            with (target / inside / name).open("xb") as copy:
                shutil.copyfileobj(file, copy, 2**20)
