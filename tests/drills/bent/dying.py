"""A web process that kills itself after it has committed a submission and before it sends the message to the worker."""

import os
import signal
from typing import Any

from server.wsgi import application

# isort: split
from server.submissions import queue

__all__ = ["application"]


def die(kind: Any, key: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


queue.enqueue = die
