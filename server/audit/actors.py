"""Actors of audit entries.

The actor of a management command is the person named by `--as`, or otherwise the operating system user.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from getpass import getuser
from typing import Any

Actor = tuple[str, str]  # the id and the name are stored as text, because the log outlives accounts

_acting: ContextVar[Actor | None] = ContextVar("acting", default=None)


def shell_actor() -> Actor:
    """Return the operating system user that runs this process, as an actor."""
    try:
        return "", f"shell:{getuser()}"
    except (KeyError, OSError):  # the user id has no name, for example in a container
        return "", f"shell:{os.getuid()}"


def user_actor(user: Any) -> Actor:
    """Return the audit log's actor for a user. None means the service itself."""
    return (str(user.pk), user.get_username()) if user is not None and user.pk else ("", "")


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Record this actor for every action within the block, including actions on behalf of another person."""
    token = _acting.set(actor)
    try:
        yield
    finally:
        _acting.reset(token)


def actor_of(user: Any) -> Actor:
    """Return the actor to record for a user's action: the one set by `acting` or, otherwise, the user."""
    return _acting.get() or user_actor(user)
