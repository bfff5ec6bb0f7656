"""Determines the actor of an audit entry, which is the user who performed the action.

The actor of a management command is the user given by `--as` or, otherwise, the operating system user.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from getpass import getuser
from typing import Any

# An actor consists of the id and the name of a user. Both are stored as text, because audit entries are kept after the
# account is deleted.
Actor = tuple[str, str]

_acting: ContextVar[Actor | None] = ContextVar("acting", default=None)


def shell_actor() -> Actor:
    """Return the actor for the operating system user that runs this process."""
    try:
        return "", f"shell:{getuser()}"
    except (KeyError, OSError):
        # The operating system user may have an ID but no name, for example in a container.
        return "", f"shell:{os.getuid()}"


def user_actor(user: Any) -> Actor:
    """Return the actor for a user account, or an empty actor if the server itself performs the action."""
    return (str(user.pk), user.get_username()) if user is not None and user.pk else ("", "")


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Record the given actor for every action within a `with` block, even for actions on behalf of another user."""
    token = _acting.set(actor)
    try:
        yield
    finally:
        _acting.reset(token)


def actor_of(user: Any) -> Actor:
    """Return the actor to record for a user's action: the actor set by `acting` or, if there is none, the user."""
    return _acting.get() or user_actor(user)
