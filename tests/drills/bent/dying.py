"""A web process that is killed between the commit of a submission and its message."""

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
