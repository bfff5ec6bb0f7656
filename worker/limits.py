"""What a scoring may use: how much memory, how long; and what its author reads when it was more."""

import os
import resource
from pathlib import Path

from django.conf import settings

ADVICE = "Submit fewer predictions: drop those of low confidence. Your quota was given back."
SCORING_BYTES = 64 * 2**20  # what the smallest submission needs beside what an idle worker has


def limit_memory() -> None:
    """Make an allocation beyond the limit a MemoryError of this process, long before the kernel looks for a victim.

    RLIMIT_DATA counts what is private and writable; RLIMIT_AS would also count truths that are only mapped for
    reading and the address space that thread pools reserve but never touch.
    """
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (settings.WORKER_MEMORY_BYTES, hard))


def refuse_useless_limit(**signal: object) -> None:
    """End a worker that could not even claim a submission: it would leave all of them queued for ever.

    Called by Celery at its start, with the scorer loaded. Elsewhere than on Linux nothing is known about that.
    """
    known = Path("/proc/self/statm")
    idle = int(known.read_text().split()[5]) * os.sysconf("SC_PAGESIZE") if known.exists() else 0
    least = idle + SCORING_BYTES
    if least > settings.WORKER_MEMORY_BYTES:
        raise SystemExit(
            f"WORKER_MEMORY_BYTES={settings.WORKER_MEMORY_BYTES} is too little to score anything: "
            f"set it to {least} or more."
        )


def exceeded(error: Exception) -> str:
    """Say which limit a scoring ran into."""
    if isinstance(error, MemoryError):
        return f"Scoring this file needs more memory than allowed ({settings.WORKER_MEMORY_BYTES / 2**30:.3g} GiB)."
    return f"Scoring this file took longer than {settings.EVALUATION_SECONDS / 60:g} minutes."
