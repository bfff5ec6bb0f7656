"""Limits the CPU time and memory of a scoring run, and composes the participant's message if the run fails."""

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

REPEAT_SECONDS = 1.0  # interval at which OutOfTime is raised again, because some libraries catch all exceptions


class OutOfTime(Exception):
    """Raised if a scoring run exceeds its CPU time limit."""


@contextmanager
def limited(*, small: bool = False) -> Iterator[None]:
    """Limit the CPU time and memory of the scoring run within this block. Raises OutOfTime or MemoryError.

    A small file gets less CPU time, so that the process that is reserved for small files is soon available again.
    """
    seconds = settings.EVALUATION_SECONDS
    with limited_memory(), limited_time(min(settings.SMALL_FILE_CPU_SECONDS, seconds) if small else seconds):
        yield


@contextmanager
def limited_time(seconds: float) -> Iterator[None]:
    """Limit the CPU time of this process.

    Elapsed time is not limited, so that no file fails because the machine is busy.
    """
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
    """Make an allocation beyond the memory limit raise MemoryError, before the kernel kills the process.

    Memory that the process already has, including memory inherited from its parent, does not count. The limit is
    RLIMIT_DATA, which counts private writable memory. RLIMIT_AS would also count ground truths that are mapped for
    reading, and address space that thread pools reserve but never use.
    """
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (private_bytes() + settings.WORKER_MEMORY_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def private_bytes() -> int:
    """Return the private writable memory of this process in bytes, or 0 on systems without Linux's /proc."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[5]) * os.sysconf("SC_PAGESIZE") if status.exists() else 0


def log_setting_warnings(**signal: object) -> None:
    """Log settings that work but are probably mistakes. Celery calls this when it starts."""
    for warning in setting_warnings():
        log.warning(warning)


def exceeded_text(error: Exception) -> str:
    """Return the message about the limit that a scoring run exceeded."""
    if isinstance(error, MemoryError):
        return f"Scoring this file needs more memory than allowed ({settings.WORKER_MEMORY_BYTES / 2**30:.3g} GiB)."
    return f"Scoring this file took longer than {settings.EVALUATION_SECONDS / 60:g} minutes of computing time."


def accident_text(error: Exception) -> str:
    """Return the message about a failure that is not the participant's fault: a bug, or a scoring run that hangs."""
    hours = settings.EVALUATION_WALL_SECONDS / 3600
    hangs = isinstance(error, SoftTimeLimitExceeded)
    what = f"Scoring took more than {hours:.3g} hours." if hangs else f"Scoring failed with {type(error).__name__}."
    return f"{what} This is our fault and does not count against your quota. Submit the file again."
