#!/usr/bin/env python
"""Django's command line for Podium; `manage.py up` runs the whole service."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import DatabaseError, OperationalError

from server.runtime.reached import lacks_tables, unusable_database

WRONG_USAGE = 64
# What these write is there for others: for the web server's user, or for a repository.
READ_BY_OTHERS = {"collectstatic", "makemigrations"}

if __name__ == "__main__":
    if READ_BY_OTHERS.isdisjoint(sys.argv[1:2]):
        os.umask(0o077)  # database, uploads and logs are their owner's only; what is started from here inherits it
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "server.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        if "--traceback" in sys.argv:
            raise
        print(error, file=sys.stderr)
        sys.exit(WRONG_USAGE)
    except DatabaseError as error:
        if "--traceback" in sys.argv or not (isinstance(error, OperationalError) or lacks_tables(error)):
            raise
        print(unusable_database(error), file=sys.stderr)
        sys.exit(WRONG_USAGE)
