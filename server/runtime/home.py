"""The state folder of a running service: one service at a time, and a note where it can be reached."""

import fcntl
import json
import os
from pathlib import Path
from typing import IO

from django.conf import settings

from server.runtime.environment import unusable_folder


class NotStarted(Exception):
    """The service cannot be started as things are; the message says why and what to do."""


def occupy() -> IO[str]:
    """Take the folder until the returned file is closed, or this process ends in whatever way."""
    try:
        lock = (settings.PODIUM_HOME / "up.lock").open("w")
    except OSError as error:
        raise NotStarted(str(unusable_folder("PODIUM_HOME", settings.PODIUM_HOME, error))) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise NotStarted(f"Podium is running already in {settings.PODIUM_HOME}{whereabouts()}.") from None
    return lock


def whereabouts() -> str:
    url, process = (settings.RUNNING.get(name) for name in ("url", "pid"))
    return f": {url} (process {process})" if url else ""


def announce(*, redis_url: str) -> None:
    """Write where things are, for the commands beside the service; all of it at once, readable by its owner only."""
    note = {"redis_url": redis_url, "url": settings.PODIUM_URL, "pid": os.getpid()}
    beside = settings.RUNTIME_FILE.with_suffix(".new")
    beside.touch(mode=0o600)
    beside.write_text(json.dumps(note))
    beside.replace(settings.RUNTIME_FILE)


def withdraw() -> None:
    settings.RUNTIME_FILE.unlink(missing_ok=True)


def folder(name: str) -> Path:
    path: Path = settings.PODIUM_HOME / name
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path
