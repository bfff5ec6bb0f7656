"""Checks at start whether the configured database and Redis respond. A failure is explained in one sentence."""

import os
import time

from django.conf import settings
from django.db import DatabaseError, connections
from redis import Redis, RedisError

from server.runtime.environment import without_password
from server.runtime.home import NotAvailable, NotStarted

BROKER_SECONDS = 5.0  # maximum time to wait for a message broker that is still starting
RETRY_SECONDS = 0.25
UNDEFINED = ("42P01", "42703")  # PostgreSQL's error codes for an unknown table and an unknown column


def check_database() -> None:
    """Connect to the database. Raises NotStarted with the reason if the connection fails."""
    try:
        connections["default"].ensure_connection()
    except DatabaseError as error:
        raise failed_start(error) from error


def failed_start(error: DatabaseError) -> NotStarted:
    """Return the exception for a start or a command that failed because of an error of the database.

    A server may respond later. This includes a wrong password, which libpq reports without a code.
    """
    is_server = settings.DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql"
    kind = NotAvailable if is_server and not lacks_tables(error) else NotStarted
    return kind(unusable_database(error))


def unusable_database(error: DatabaseError) -> str:
    """Return a message that names the unusable database, the reason, and what to do."""
    url = os.environ.get("DATABASE_URL")
    shown = f"DATABASE_URL={without_password(url)}" if url else f"PODIUM_HOME={settings.PODIUM_HOME}"
    reason = " ".join(str(error).split())
    if lacks_tables(error):
        advice = "start the service once, or run `manage.py migrate`, to create its tables"
    elif reason == "database is locked":
        advice = "another process has locked it for a long time; run the command again when that process has ended"
    elif url:
        advice = "start it, create it, or correct the setting"
    else:
        advice = "set it to a folder that this user can write to"
    return f"{shown}: the database cannot be used ({reason}): {advice}."


def lacks_tables(error: DatabaseError) -> bool:
    """Return whether an error was caused by a table or column that does not exist in the database yet."""
    state = getattr(error.__cause__, "sqlstate", None)
    return state in UNDEFINED or str(error).startswith(("no such table", "no such column"))


def check_broker(url: str) -> None:
    """Wait a few seconds for Redis to respond. Raises NotAvailable with the reason if it does not."""
    until = time.monotonic() + BROKER_SECONDS
    while reason := broker_error(url):
        if time.monotonic() > until:
            shown = f"REDIS_URL={without_password(url)}"
            raise NotAvailable(f"{shown}: the broker does not respond ({reason}). Start it, or correct the setting.")
        time.sleep(RETRY_SECONDS)


def broker_error(url: str) -> str:
    """Return the reason why Redis does not respond, or an empty string if it does."""
    try:
        with Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2) as redis:
            redis.ping()
    except RedisError as error:
        return " ".join(str(error).split()).rstrip(".") or type(error).__name__
    # The message of the ValueError is not shown, because it may contain a part of the broker's password.
    except ValueError:
        return "expected an address like redis://HOST:PORT/NUMBER"
    return ""
