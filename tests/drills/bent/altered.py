"""Runs `manage.py up` with a faulty worker or web process: `python -m tests.drills.bent.altered worker=MODULE`.

The modules in this folder contain the faulty processes, because the service itself has no options that cause faults.
"""

import os
import sys

from django.core.management import execute_from_command_line

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "server.settings")

from server.runtime import supervisor


def replace(part: str, module: str) -> None:
    """Make the supervisor start the Celery app (worker) or the WSGI application (web) of the given module."""
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
