"""How gunicorn serves: `gunicorn --config python:server.runtime.web server.wsgi:application`."""

import os
import resource
from typing import Any

from django.conf import settings

from server.runtime.tether import end_with

CONNECTIONS_MAX = 2000
FILES_EACH = 3  # the socket, and what is kept of the request and of the answer
FILES_BESIDE = 200


def room_for_connections() -> int:
    """Return how many clients a process takes at once, after asking for as many open files as are allowed."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = CONNECTIONS_MAX * FILES_EACH + FILES_BESIDE
    allowed = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return (allowed - FILES_BESIDE) // FILES_EACH


bind = f"{settings.PODIUM_BIND}:{settings.PODIUM_PORT}"
worker_class = "server.runtime.buffering.BufferingWorker"
workers = settings.WEB_PROCESSES
threads = settings.WEB_THREADS
preload_app = True  # imported once, shared by the forks
timeout = 60
worker_connections = room_for_connections()
sendfile = False  # a client that is slow to take a file must not hold a thread
graceful_timeout = 8  # below what the supervisor waits before it insists
control_socket_disable = True


def post_fork(arbiter: Any, worker: Any) -> None:
    """End with gunicorn's first process, even when that is killed."""
    end_with(os.getppid())
