"""Runs `manage.py up` with a faulty worker or web process: `python -m tests.drills.bent.altered worker=MODULE`.

The modules of this folder inject the faults, because the service has no options for that.
"""

import os
import sys

from django.core.management import execute_from_command_line

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "server.settings")

from server.runtime import supervisor


def replace(part: str, module: str) -> None:
    """Make the supervisor start the Celery app (worker) or the WSGI application (web) of this module."""
    name = f"{part}_command"
    command = getattr(supervisor, name)()
    if part == "worker":
        command[command.index("-A") + 1] = module
    else:
        command[-1] = f"{module}:application"
    setattr(supervisor, name, lambda: command)


if __name__ == "__main__":
    for word in sys.argv[1:]:
        replace(*word.split("=", 1))
    execute_from_command_line(["manage.py", "up"])
