"""What each pool process does before its first task."""

import os

from server.runtime.tether import end_with


def begin(**signal: object) -> None:
    """Called by Celery after the fork: end with the worker, however that ends."""
    end_with(os.getppid())
