"""Limits the CPU time and memory of one scoring, and words the message to the participant if a limit is exceeded."""

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

from server.runtime.setting_warnings import setting_warnings

log = logging.getLogger(__name__)

REPEAT_SECONDS = 1.0  # OutOfTime is raised again after this time, because some libraries catch all exceptions


class OutOfTime(Exception):
    """The scoring has used its CPU seconds."""


@contextmanager
def limited(*, small: bool = False) -> Iterator[None]:
    """Limit the scoring in this block. Raises OutOfTime after its CPU seconds, and MemoryError beyond its memory.

    A small file gets less time, so that the process reserved for small files is soon free again.
    """
    seconds = settings.EVALUATION_SECONDS
    with limited_memory(), limited_time(min(settings.SMALL_FILE_CPU_SECONDS, seconds) if small else seconds):
        yield


@contextmanager
def limited_time(seconds: float) -> Iterator[None]:
    """Limit the CPU seconds of this process. Elapsed time is not limited, so a busy machine makes no file fail."""
    before = signal.signal(signal.SIGPROF, raise_out_of_time)
    signal.setitimer(signal.ITIMER_PROF, seconds, REPEAT_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def raise_out_of_time(number: int, frame: object) -> NoReturn:
    raise OutOfTime


@contextmanager
def limited_memory() -> Iterator[None]:
    """Raise MemoryError for an allocation beyond the limit, before the kernel kills the process.

    Memory that the process already had, including what it inherited from its parent, does not count. RLIMIT_DATA counts
    private writable memory. RLIMIT_AS would also count truths that are mapped for reading, and address space that
    thread pools reserve and never use.
    """
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (private_bytes() + settings.WORKER_MEMORY_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def private_bytes() -> int:
    """Return the private writable memory of this process in bytes; 0 on systems without Linux's /proc."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[5]) * os.sysconf("SC_PAGESIZE") if status.exists() else 0


def log_setting_warnings(**signal: object) -> None:
    """Log settings that work but are probably mistakes. Celery calls this when it starts."""
    for warning in setting_warnings():
        log.warning(warning)


def exceeded_text(error: Exception) -> str:
    """Return the message about the limit that a scoring exceeded."""
    if isinstance(error, MemoryError):
        return f"Scoring this file needs more memory than allowed ({settings.WORKER_MEMORY_BYTES / 2**30:.3g} GiB)."
    return f"Scoring this file took longer than {settings.EVALUATION_SECONDS / 60:g} minutes of computing time."


def accident_text(error: Exception) -> str:
    """Return the message about a failure that is not the participant's fault: a bug, or a scoring that hangs."""
    hours = settings.EVALUATION_WALL_SECONDS / 3600
    hangs = isinstance(error, SoftTimeLimitExceeded)
    what = f"Scoring did not end within {hours:.3g} hours." if hangs else f"Scoring failed with {type(error).__name__}."
    return f"{what} This is our fault and does not count against your quota. Submit the file again."
