"""Reads files in a folder. Symbolic links are not followed, so that no file outside the folder is read."""

import os
import stat
from pathlib import Path, PurePosixPath

FOLDER = os.O_RDONLY | os.O_DIRECTORY
# Without O_NONBLOCK, opening a named pipe would wait until another process opens it for writing.
FILE = os.O_RDONLY | os.O_NONBLOCK


class NotRegular(Exception):
    """Raised if a path contains a symbolic link, or is not a regular file."""


def read_regular(folder: Path, name: str) -> bytes | None:
    """Return the content of a regular file in a folder.

    Parameters
    ----------
    folder : Path
        The path of the folder itself may contain symbolic links.
    name : str
        Path inside the folder, such as ``Sentences/1.txt``. No part of this path may be a symbolic link.

    Returns
    -------
    bytes, or None if there is no such file

    Raises
    ------
    NotRegular
        If the path contains a symbolic link, or the file is not regular. The message continues a sentence that begins
        with the file name.
    OSError
        If the file cannot be read.
    """
    parts = PurePosixPath(name).parts
    descriptor = os.open(folder, FOLDER)
    try:
        for part in parts[:-1]:
            descriptor = _open_in(descriptor, part, FOLDER)
        descriptor = _open_in(descriptor, parts[-1], FILE)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotRegular("is not a regular file")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    finally:
        os.close(descriptor)


def _open_in(folder: int, part: str, flags: int) -> int:
    """Open a file or subfolder and return its descriptor. On success, close the descriptor of the parent folder.

    The type of the file is checked before the file is opened, because opening a device can have side effects.
    O_NOFOLLOW makes opening fail if a symbolic link has replaced the file in the meantime.
    """
    kind = os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISLNK(kind):
        raise NotRegular("is a symbolic link; put the file itself into the folder")
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        raise NotRegular("is not a regular file")
    descriptor = os.open(part, flags | os.O_NOFOLLOW, dir_fd=folder)
    os.close(folder)
    return descriptor
