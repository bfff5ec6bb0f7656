"""`manage.py up` with a part of a drill's own in place of ours: `python -m tests.drills.bent.altered worker=MODULE`.

What is switched off or bent is bent here alone; the product has no option for it.
"""

import os
import sys

from django.core.management import execute_from_command_line

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "server.settings")

from server.runtime import supervisor


def replace(part: str, module: str) -> None:
    """Start the Celery app, or the WSGI application, of this module instead."""
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
