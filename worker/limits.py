"""What a scoring may use: how much memory, how long; and what its author reads when it was more."""

import resource

from django.conf import settings


def limit_memory() -> None:
    """Make an allocation beyond the limit a MemoryError of this process, long before the kernel looks for a victim.

    RLIMIT_DATA counts what is private and writable; RLIMIT_AS would also count truths that are only mapped for
    reading and the address space that thread pools reserve but never touch.
    """
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (settings.WORKER_MEMORY_BYTES, hard))


def exceeded(error: Exception) -> str:
    """Say which limit a scoring ran into, and what helps."""
    if isinstance(error, MemoryError):
        what = f"needs more memory than allowed ({settings.WORKER_MEMORY_BYTES / 2**30:.3g} GiB)"
    else:
        what = f"took longer than {settings.EVALUATION_SECONDS / 60:g} minutes"
    advice = "Submit fewer predictions: drop those of low confidence. Your quota was given back."
    return f"Scoring this file {what}. {advice}"
