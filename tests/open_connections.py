"""Keeps the connection to the database open at the end of requests, because the transaction of a test needs it."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.signals import request_finished, request_started
from django.db import close_old_connections


@contextmanager
def connections_kept_open() -> Iterator[None]:
    """Prevent Django from closing database connections when a request begins or a response is closed.

    Django's own test client does the same while it sends a request, and restores the normal behavior afterwards.
    """
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)
