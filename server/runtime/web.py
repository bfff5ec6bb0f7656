"""Gunicorn settings: `gunicorn --config python:server.runtime.web server.wsgi:application`."""

import os
import resource
from typing import Any

from django.conf import settings

from server.runtime.die_with_parent import die_with

CONNECTIONS_MAX = 2000
# A connection may need three file descriptors: for its socket, and for temporary files with its request and response.
FILES_PER_CONNECTION = 3
OTHER_FILES = 200


def max_connections() -> int:
    """Raise the limit on open files if possible, and return the number of connections that each process can have."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = CONNECTIONS_MAX * FILES_PER_CONNECTION + OTHER_FILES
    allowed = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return (allowed - OTHER_FILES) // FILES_PER_CONNECTION


bind = f"{settings.PODIUM_BIND}:{settings.PODIUM_PORT}"
worker_class = "server.runtime.buffering.BufferingWorker"
workers = settings.WEB_PROCESSES
threads = settings.WEB_THREADS
preload_app = True  # The application is imported only once, before gunicorn forks the web processes.
timeout = 60
worker_connections = max_connections()
sendfile = False  # Sendfile is turned off, because a client that receives a file slowly would block a thread.
graceful_timeout = 8  # The graceful timeout must be shorter than the time after which the supervisor kills the process.
control_socket_disable = True
logconfig_dict = settings.LOGGING


def post_fork(arbiter: Any, worker: Any) -> None:
    """End this process when gunicorn's main process ends, even if the main process is killed."""
    die_with(os.getppid())
