"""What each pool process does before its first task."""

import os

from server.runtime.tether import end_with
from worker import limits


def begin(**signal: object) -> None:
    """Called by Celery after the fork: end with the worker, however that ends, and keep within the memory limit."""
    end_with(os.getppid())
    limits.limit_memory()
