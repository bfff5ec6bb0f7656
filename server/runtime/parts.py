"""The parts of the service: web, worker and sweeper. `manage.py up` starts all of them, or only one."""

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from socket import gethostname

from django.conf import settings

from server.runtime import health, web_address

# Limit the number of glibc's memory arenas. With the default number, a web process with several threads keeps a lot of
# memory that it no longer uses.
FEW_ARENAS = {"MALLOC_ARENA_MAX": "2"}
# Without these options, Celery workers send each other messages that the service does not need.
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")
CELERY = (sys.executable, "-m", "celery")


@dataclass(frozen=True, slots=True)
class Program:
    """A process of one part of the service: its command, its description, and the time that it may take to stop."""

    command: list[str]
    description: str
    grace_seconds: float = 10.0
    environment: Mapping[str, str] | None = None
    files: tuple[int, ...] = ()  # the file descriptors that it inherits


def web() -> dict[str, Program]:
    command = [sys.executable, "-m", "gunicorn", "--config", "python:server.runtime.web", "server.wsgi:application"]
    description = f"{settings.WEB_PROCESSES} × {settings.WEB_THREADS} threads"
    files = (web_address.SYSTEMD_SOCKET,) if web_address.has_systemd_socket() else ()
    for file in files:
        command += ["--bind", f"fd://{file}"]
    return {"web": Program(command, description, environment=FEW_ARENAS, files=files)}


def worker() -> dict[str, Program]:
    queues = ",".join(settings.BROKER_QUEUES[name] for name in settings.WORKER_QUEUES)
    command = [*CELERY, "-A", "worker", "worker", "--loglevel", "INFO", "--queues", queues, *QUIET]
    memory = f"{settings.WORKER_MEMORY_BYTES / 2**30:g} GiB each"
    description = f"{settings.WORKER_PROCESSES} at a time, {memory}"
    return {"worker": Program(command, description, grace_seconds=settings.STOP_SECONDS + 10.0)}


def sweeper() -> dict[str, Program]:
    """Return the process that cleans up (the sweeper), and the process that sends emails (the mailer).

    The sweeper writes the notices, and the mailer sends them. The mailer does not belong to the worker part, because
    workers need no access to a mail server. The mailer takes no messages that are meant for the worker.
    """
    mails = ("--include", "server.notices.tasks", "--queues", "mail", "--hostname", "mailer@%h", "--pool", "solo")
    mailer = [*CELERY, "--app", "server.celery", "worker", "--loglevel", "INFO", *mails, *QUIET]
    return {
        "sweeper": Program([sys.executable, "manage.py", "sweep", "--forever"], f"every {settings.SWEEP_SECONDS} s"),
        "mailer": Program(mailer, "sends notices by email", grace_seconds=20.0),
    }


PARTS = {"web": web, "worker": worker, "sweeper": sweeper}


def missing_servers() -> str:
    """Return a sentence about the servers that must be configured before a part (such as the worker) can run alone.

    The sentence is empty if they are configured. Only the whole service can use an SQLite file and the private Redis,
    because parts on other hosts cannot reach them.
    """
    names = {"DATABASE_URL": "PostgreSQL", "REDIS_URL": "Redis"}
    missing = [name for name in names if os.environ.get(name, "sqlite:").startswith("sqlite:")]
    if not missing:
        return ""
    servers = " and ".join(f"a {names[name]} server ({name})" for name in missing)
    return (
        f"If parts are run separately, they need {servers} that all parts can reach. Set it for each part, or "
        "omit --only."
    )


def own_worker() -> str:
    """Return the name under which the worker on this host sends heartbeats."""
    return f"celery@{gethostname()}"


def own_sweeper() -> str:
    """Return the name under which the sweeper on this host sends heartbeats."""
    return f"sweeper@{gethostname()}"


def readiness(parts: Iterable[str]) -> dict[str, str]:
    """Check whether the given parts work on this host. Return `ok` or the problem for each check, keyed by name.

    If the sweeper is not the only part, it may be on another host.
    """
    parts = set(parts)
    found = web_address.readiness() if "web" in parts else {}
    if "worker" in parts:
        found["worker"] = health.worker(own_worker())
    if "sweeper" in parts:
        found["sweeper"] = health.sweeper(own_sweeper() if parts == {"sweeper"} else "")
    return found
