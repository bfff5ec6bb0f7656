"""Runs `manage.py up` with a faulty worker or web process: `python -m tests.drills.bent.altered worker=MODULE`.

The service itself has no options that cause faults. The faulty processes are defined by the modules in this folder.
"""

import dataclasses
import os
import sys

from django.core.management import execute_from_command_line

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "server.settings")

from server.runtime.parts import PARTS, Program


def replace(part: str, module: str) -> None:
    """Make the supervisor start the given module instead of the usual Celery app (worker) or WSGI application (web)."""
    usual = PARTS[part]
    command = usual()[part].command
    if part == "worker":
        command[command.index("-A") + 1] = module
    else:
        command[-1] = f"{module}:application"

    def altered() -> dict[str, Program]:
        return {part: dataclasses.replace(usual()[part], command=command)}

    PARTS[part] = altered


if __name__ == "__main__":
    for word in sys.argv[1:]:
        replace(*word.split("=", 1))
    execute_from_command_line(["manage.py", "up"])
