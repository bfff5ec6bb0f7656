"""Reads the files of a folder without following links, so that nothing outside the folder is read."""

import os
import stat
from pathlib import Path, PurePosixPath

FOLDER = os.O_RDONLY | os.O_DIRECTORY
FILE = os.O_RDONLY | os.O_NONBLOCK  # a pipe must not block


class NotRegular(Exception):
    """A path inside a folder leads over a link, or to something that is not an ordinary file."""


def read_regular(folder: Path, name: str) -> bytes | None:
    """Return the content of an ordinary file inside a folder.

    Parameters
    ----------
    folder : Path
        May itself be reached by a link.
    name : str
        Path inside the folder, such as ``Sentences/1.txt``. No part of it may be a link.

    Returns
    -------
    bytes, or None where there is no such file

    Raises
    ------
    NotRegular
        The message completes the sentence "<name> …".
    OSError
        Where the file cannot be read.
    """
    parts = PurePosixPath(name).parts
    descriptor = os.open(folder, FOLDER)
    try:
        for part in parts[:-1]:
            descriptor = _stepped(descriptor, part, FOLDER)
        descriptor = _stepped(descriptor, parts[-1], FILE)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotRegular("is not an ordinary file")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    finally:
        os.close(descriptor)


def _stepped(folder: int, part: str, flags: int) -> int:
    """Return the descriptor of a name in a folder, which is closed if that succeeds.

    The name is looked at before it is opened, because opening a device can have effects; O_NOFOLLOW refuses a link that
    replaces it in between.
    """
    kind = os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISLNK(kind):
        raise NotRegular("is a link; put the file itself into the folder")
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        raise NotRegular("is not an ordinary file")
    descriptor = os.open(part, flags | os.O_NOFOLLOW, dir_fd=folder)
    os.close(folder)
    return descriptor
