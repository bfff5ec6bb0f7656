"""The state folder of the service, PODIUM_HOME: its lock, and a file with the URLs of the running service."""

import fcntl
import json
import os
from pathlib import Path
from typing import IO

from django.conf import settings

from server.runtime.environment import unusable_folder


class NotStarted(Exception):
    """The service cannot be started. The message explains why and what to do."""


def lock_home() -> IO[str]:
    """Lock the folder until the returned file is closed or this process ends.

    Raises NotStarted if it is already locked.
    """
    try:
        lock = (settings.PODIUM_HOME / "up.lock").open("w")
    except OSError as error:
        raise NotStarted(str(unusable_folder("PODIUM_HOME", settings.PODIUM_HOME, error))) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise NotStarted(f"Podium is already running in {settings.PODIUM_HOME}{running_service()}.") from None
    return lock


def running_service() -> str:
    """Return the end of a sentence with the URL and process of the running service, or an empty string if unknown."""
    url, process = (settings.RUNNING.get(name) for name in ("url", "pid"))
    return f": {url} (process {process})" if url else ""


def write_note(*, redis_url: str) -> None:
    """Write the URLs of the service for other commands, atomically and readable only by the owner."""
    note = {"redis_url": redis_url, "url": settings.PODIUM_URL, "pid": os.getpid()}
    new = settings.RUNTIME_FILE.with_suffix(".new")
    new.touch(mode=0o600)
    new.write_text(json.dumps(note))
    new.replace(settings.RUNTIME_FILE)


def remove_note() -> None:
    settings.RUNTIME_FILE.unlink(missing_ok=True)


def subfolder(name: str) -> Path:
    """Return a folder inside the state folder. It is created if it is missing."""
    path: Path = settings.PODIUM_HOME / name
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path
