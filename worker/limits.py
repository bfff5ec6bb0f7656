"""Limits the CPU time and memory of scoring runs, and composes the messages to participants if a run fails."""

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

# After the time limit, OutOfTime is raised at this interval until the scoring run ends, because libraries may catch it.
REPEAT_SECONDS = 1.0


class OutOfTime(Exception):
    """Raised if a scoring run exceeds its CPU time limit."""


@contextmanager
def limited(*, small: bool = False) -> Iterator[None]:
    """Limit the CPU time and memory of the scoring run in the `with` block. Raises OutOfTime or MemoryError.

    The CPU time limit for small files is shorter, so that the process reserved for small files is soon available again.
    """
    seconds = settings.EVALUATION_SECONDS
    with limited_memory(), limited_time(min(settings.SMALL_FILE_CPU_SECONDS, seconds) if small else seconds):
        yield


@contextmanager
def limited_time(seconds: float) -> Iterator[None]:
    """Limit the CPU time of this process in the `with` block.

    Elapsed time is not limited, because otherwise files could fail when the machine is busy.
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
    """Limit the memory of this process in the `with` block, so that allocations beyond the limit raise MemoryError.

    Without this limit, the kernel would kill the process. Memory that the process already has, including memory
    inherited from its parent, does not count. The limit is RLIMIT_DATA, which counts private writable memory. RLIMIT_AS
    would also count ground truths mapped for reading, and address space that thread pools reserve but never use.
    """
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (private_bytes() + settings.WORKER_MEMORY_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def private_bytes() -> int:
    """Return the size of this process's private writable memory in bytes, or 0 on systems without Linux's /proc."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[5]) * os.sysconf("SC_PAGESIZE") if status.exists() else 0


def log_setting_warnings(**signal: object) -> None:
    """Log settings that are valid but probably mistakes. Celery calls this function when the worker starts."""
    for warning in setting_warnings():
        log.warning(warning)


def exceeded_text(error: Exception) -> str:
    """Return the message about the memory or time limit that a scoring run exceeded."""
    if isinstance(error, MemoryError):
        return f"Scoring this file takes more memory than allowed ({settings.WORKER_MEMORY_BYTES / 2**30:.3g} GiB)."
    return f"Scoring this file took longer than {settings.EVALUATION_SECONDS / 60:g} minutes of CPU time."


def accident_text(error: Exception) -> str:
    """Return the message to the participant about a failure that is the platform's fault: a bug, or a hanging run."""
    hours = settings.EVALUATION_WALL_SECONDS / 3600
    hangs = isinstance(error, SoftTimeLimitExceeded)
    what = f"Scoring took more than {hours:.3g} hours." if hangs else f"Scoring failed with {type(error).__name__}."
    return f"{what} The error is on our side. This does not count against your quota. Submit the file again."
