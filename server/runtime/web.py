"""How gunicorn serves: `gunicorn --config python:server.runtime.web server.wsgi:application`."""

import os
from typing import Any

from django.conf import settings

from server.runtime.tether import end_with

bind = f"{settings.PODIUM_BIND}:{settings.PODIUM_PORT}"
worker_class = "gthread"
workers = settings.WEB_PROCESSES
threads = settings.WEB_THREADS
preload_app = True  # imported once, shared by the forks
timeout = 60
graceful_timeout = 8  # below what the supervisor waits before it insists
control_socket_disable = True


def post_fork(arbiter: Any, worker: Any) -> None:
    """End with gunicorn's first process, even when that is killed."""
    end_with(os.getppid())
