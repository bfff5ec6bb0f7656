"""A web process that is killed between the commit of a submission and its message."""

import os
import signal
from uuid import UUID

from server.wsgi import application

# isort: split
from server.submissions import queue

__all__ = ["application"]


def die(submission_id: UUID) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


queue.enqueue = die
