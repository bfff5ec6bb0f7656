"""What one scoring may use: computing time and memory of its own; and what its author reads when it was more."""

import logging
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings

from server.runtime.doubts import doubts

log = logging.getLogger(__name__)

AGAIN_SECONDS = 1.0  # some libraries swallow an exception that comes in the middle of them


class OutOfTime(Exception):
    """The scoring has used its CPU seconds."""


@contextmanager
def limited(*, small: bool = False) -> Iterator[None]:
    """Run a scoring within its limits: OutOfTime beyond the one, MemoryError beyond the other.

    A small file has less time, so that the process that is kept for small files is soon free again.
    """
    seconds = settings.EVALUATION_SECONDS
    with limited_memory(), limited_time(min(settings.SMALL_FILE_CPU_SECONDS, seconds) if small else seconds):
        yield


@contextmanager
def limited_time(seconds: float) -> Iterator[None]:
    """Count the CPU seconds of this process, not the time that passes: a busy machine fails no file."""
    before = signal.signal(signal.SIGPROF, out_of_time)
    signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def out_of_time(number: int, frame: object) -> NoReturn:
    raise OutOfTime


@contextmanager
def limited_memory() -> Iterator[None]:
    """Make an allocation beyond the limit a MemoryError of this process, long before the kernel looks for a victim.

    What the process had before, its parent's memory included, does not count. RLIMIT_DATA counts what is private and
    writable; RLIMIT_AS would also count truths that are only mapped for reading and the address space that thread pools
    reserve but never touch.
    """
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (idle_bytes() + settings.WORKER_MEMORY_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def idle_bytes() -> int:
    """Return what this process has of private and writable memory; elsewhere than on Linux nothing is known of it."""
    known = Path("/proc/self/statm")
    return int(known.read_text().split()[5]) * os.sysconf("SC_PAGESIZE") if known.exists() else 0


def warn_of_doubts(**signal: object) -> None:
    """Warn of settings that work but are probably not meant. Called by Celery at its start."""
    for doubt in doubts():
        log.warning(doubt)


def exceeded(error: Exception) -> str:
    """Say which limit a scoring ran into."""
    if isinstance(error, MemoryError):
        return f"Scoring this file needs more memory than allowed ({settings.WORKER_MEMORY_BYTES / 2**30:.3g} GiB)."
    return f"Scoring this file took longer than {settings.EVALUATION_SECONDS / 60:g} minutes of computing time."


def accident(error: Exception) -> str:
    """Say that something of ours went wrong: a fault of the program, or a scoring that hangs."""
    hours = settings.EVALUATION_WALL_SECONDS / 3600
    hangs = isinstance(error, SoftTimeLimitExceeded)
    what = f"Scoring did not end within {hours:.3g} hours." if hangs else f"{type(error).__name__} while scoring."
    return f"{what} It is our fault; your quota was given back. Submit it again."
