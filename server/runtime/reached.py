"""Do the servers answer that we were told of? Asked once at start, so that the operator reads one sentence."""

import os
import time

from django.conf import settings
from django.db import DatabaseError, connections
from redis import Redis, RedisError

from server.runtime.environment import without_password
from server.runtime.home import NotStarted

PATIENCE_SECONDS = 5.0  # for one that is starting, too
LOOK_SECONDS = 0.25
UNDEFINED = ("42P01", "42703")  # a table, a column: PostgreSQL's names for what SQLite says in words


def refuse_silent_database() -> None:
    """Connect, and say what the database says where that fails."""
    try:
        connections["default"].ensure_connection()
    except DatabaseError as error:
        raise NotStarted(unusable_database(error)) from error


def unusable_database(error: DatabaseError) -> str:
    """Say in a sentence which database cannot be used, why, and what to do."""
    told = os.environ.get("DATABASE_URL")
    shown = f"DATABASE_URL={without_password(told)}" if told else f"PODIUM_HOME={settings.PODIUM_HOME}"
    reason = " ".join(str(error).split())
    if lacks_tables(error):
        advice = "start the service once, or run `manage.py migrate`: that makes its tables"
    elif told:
        advice = "start it, create it, or correct the setting"
    else:
        advice = "set it to a folder that this user may write to"
    return f"{shown}: the database cannot be used ({reason}): {advice}."


def lacks_tables(error: DatabaseError) -> bool:
    """Whether the database answers, but is not one of ours, or not of this version."""
    state = getattr(error.__cause__, "sqlstate", None)
    return state in UNDEFINED or str(error).startswith(("no such table", "no such column"))


def refuse_silent_broker(url: str) -> None:
    """Wait a few seconds for an answer, no longer: who mistyped an address shall not wait for it forever."""
    until = time.monotonic() + PATIENCE_SECONDS
    while reason := silence(url):
        if time.monotonic() > until:
            shown = f"REDIS_URL={without_password(url)}"
            raise NotStarted(f"{shown}: the broker does not answer ({reason}): start it, or correct the setting.")
        time.sleep(LOOK_SECONDS)


def silence(url: str) -> str:
    """Return why there is no answer; nothing if there is one."""
    try:
        with Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2) as redis:
            redis.ping()
    except RedisError as error:
        return " ".join(str(error).split()).rstrip(".") or type(error).__name__
    except ValueError:  # its text may hold a piece of the password
        return "not an address like redis://HOST:PORT/NUMBER"
    return ""
