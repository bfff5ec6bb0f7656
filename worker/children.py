"""What each pool process does before its first task."""

import os

from server.runtime.tether import end_with
from worker import limits, shutdown


def begin(**signal: object) -> None:
    """Called by Celery after the fork: end with the worker, within its memory, and listen when told to stop."""
    end_with(os.getppid())
    limits.limit_memory()
    shutdown.listen()
