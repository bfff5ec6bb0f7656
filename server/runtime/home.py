"""The service's state folder, PODIUM_HOME: its lock, and a file with the URLs of the running service."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from socket import gethostname

from django.conf import settings

from server.runtime.environment import unusable_folder

MEASUREMENTS = "metrics"


class NotStarted(Exception):
    """Raised if the service cannot be started. The message explains why and what to do."""

    returncode = 64


class NotAvailable(NotStarted):
    """Raised if a later attempt may start the service, because it depends on something that is not available now.

    systemd starts a part again after this exit code, but not after that of NotStarted.
    """

    returncode = 75


@contextmanager
def lock_home(part: str = "") -> Iterator[None]:
    """Lock the state folder during the `with` block, for the whole service or for one part of it.

    Each part can run only once in a folder, and no part can run there together with the whole service. The kernel
    releases the locks when this process ends. Raises NotStarted if the service, or this part, is already running in the
    folder.
    """
    with ExitStack() as stack:
        if part:
            take_lock(stack, "up.lock", fcntl.LOCK_SH, "Podium")
            take_lock(stack, f"up-{part}.lock", fcntl.LOCK_EX, f"The part {part}")
        else:
            take_lock(stack, "up.lock", fcntl.LOCK_EX, "Podium")
        yield


def take_lock(stack: ExitStack, name: str, kind: int, what: str) -> None:
    try:
        lock = stack.enter_context((settings.PODIUM_HOME / name).open("w"))
    except OSError as error:
        raise NotStarted(str(unusable_folder("PODIUM_HOME", settings.PODIUM_HOME, error))) from error
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        running = f"{what} is already running in {settings.PODIUM_HOME}{running_service()}"
        raise NotStarted(f"{running}. Stop it first.") from None


def running_service() -> str:
    """Return the URL and the process id of the running service as the end of a sentence.

    Return an empty string if they are not known.
    """
    url, process = (settings.RUNNING.get(name) for name in ("url", "pid"))
    return f": {url} (process {process})" if url else ""


def write_note(*, redis_url: str) -> None:
    """Write the URLs and the process id of the service to a file for other commands.

    The write is atomic, and only the owner can read the file.
    """
    note = {"redis_url": redis_url, "url": settings.PODIUM_URL, "pid": os.getpid()}
    new = settings.RUNTIME_FILE.with_suffix(".new")
    new.touch(mode=0o600)
    new.write_text(json.dumps(note))
    new.replace(settings.RUNTIME_FILE)


def remove_note() -> None:
    settings.RUNTIME_FILE.unlink(missing_ok=True)


def measurements_folder() -> Path:
    """Return the folder in which the processes on this host store their measurements.

    Files of processes that have ended are removed.

    Containers that share a state folder may use the same process ids, so there is one folder for each host name.
    """
    folder = subfolder(MEASUREMENTS) / gethostname()
    folder.mkdir(mode=0o700, exist_ok=True)
    for path in folder.glob("*_*.db"):
        if not Path("/proc", path.stem.rpartition("_")[2]).exists():
            path.unlink(missing_ok=True)
    return folder


def subfolder(name: str) -> Path:
    """Return a folder inside the state folder. It is created if it is missing."""
    path: Path = settings.PODIUM_HOME / name
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path
