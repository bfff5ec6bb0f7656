"""Who acts in a management command: a person that it names, else whoever typed it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from getpass import getuser
from typing import Any

Actor = tuple[str, str]  # id and name as text: the log outlives accounts

_acting: ContextVar[Actor | None] = ContextVar("acting", default=None)


def shell() -> Actor:
    """Return the user of the machine who runs this process."""
    try:
        return "", f"shell:{getuser()}"
    except (KeyError, OSError):  # a container whose user has no name
        return "", f"shell:{os.getuid()}"


def described(user: Any) -> Actor:
    """Return a user as an entry keeps it; None is the service itself."""
    return (str(user.pk), user.get_username()) if user is not None and user.pk else ("", "")


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Record every deed in this block as this actor's, also those that are done for another person."""
    token = _acting.set(actor)
    try:
        yield
    finally:
        _acting.reset(token)


def actor_of(user: Any) -> Actor:
    """Return who did what a service records as a user's deed."""
    return _acting.get() or described(user)
