#!/usr/bin/env python
"""Django's command-line utility for Podium. `manage.py up` runs the whole service."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import DatabaseError, OperationalError

WRONG_USAGE = 64
# The web server or other users of the repository must be able to read the files that these commands write.
READ_BY_OTHERS = {"collectstatic", "makemigrations"}

if __name__ == "__main__":
    if READ_BY_OTHERS.isdisjoint(sys.argv[1:2]):
        # With this umask, which child processes inherit, only the owner can read the database, uploads and logs.
        os.umask(0o077)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "server.settings")
    try:
        # This import reads .env, which may be unreadable or faulty.
        from server.runtime.startup_checks import failed_start, lacks_tables

        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        if "--traceback" in sys.argv:
            raise
        print(error, file=sys.stderr)
        sys.exit(WRONG_USAGE)
    except DatabaseError as error:
        if "--traceback" in sys.argv or not (isinstance(error, OperationalError) or lacks_tables(error)):
            raise
        failed = failed_start(error)
        print(failed, file=sys.stderr)
        sys.exit(failed.returncode)
