"""Records when an API token was last used.

SQLite allows only one writer at a time. If another process is writing, the time is not saved, so that requests never
wait for the database.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import OperationalError, connection
from django.db.models import Q

from server.accounts.models import ApiToken

PRECISION = timedelta(hours=1)

log = logging.getLogger(__name__)


def note_use(token: ApiToken, *, now: datetime) -> None:
    """Save the time of a token's last use, at most once per hour (`PRECISION`).

    If another process is writing to SQLite, the time is not saved. The next request then tries again.
    """
    if token.last_used_at is not None and now - token.last_used_at < PRECISION:
        return
    stale = Q(last_used_at=None) | Q(last_used_at__lte=now - PRECISION)
    try:
        with without_waiting():
            ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=now)
    except OperationalError as error:
        log.info("could not save when token %s was last used: %s", token.start, error)


@contextmanager
def without_waiting() -> Iterator[None]:
    """Make writes to SQLite within a `with` block fail immediately if another process is writing.

    Other databases are not affected, because they lock individual rows.
    """
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        (usual,) = cursor.execute("PRAGMA busy_timeout").fetchone()
        cursor.execute("PRAGMA busy_timeout = 0")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {usual}")
