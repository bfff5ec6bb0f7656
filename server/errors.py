"""The exception for refused requests, which is used by pages, the API and commands. Each reason has a stable code."""

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from errno import EDQUOT, ENOSPC
from math import ceil
from sqlite3 import (
    SQLITE_BUSY,
    SQLITE_CANTOPEN,
    SQLITE_FULL,
    SQLITE_IOERR,
    SQLITE_LOCKED,
    SQLITE_PROTOCOL,
    SQLITE_READONLY,
)
from typing import Any

from django.core.cache import caches
from django.db import DatabaseError, InterfaceError, OperationalError

from server.clock import time_text
from server.stored_files.failures import StoreUnavailable

log = logging.getLogger(__name__)

STATUS_OF_CODE = {
    # RFC 8628 (device logins) defines the codes `authorization_pending`, `slow_down`, `access_denied` and
    # `expired_token`.
    "authorization_pending": 400,
    "slow_down": 400,
    "access_denied": 400,
    "expired_token": 400,
    "unauthenticated": 401,
    "not_a_member": 403,
    "awaiting_approval": 403,
    "rules_not_accepted": 403,
    "forbidden": 403,
    "two_factor_required": 403,
    "not_found": 404,
    "duplicate_file": 409,
    "phase_closed": 409,
    "phase_not_open": 409,
    "registration_closed": 409,
    "not_cancellable": 409,
    "change_refused": 409,
    "rescoring_unfinished": 409,
    "rescoring_loses": 409,
    "rescoring_outdated": 409,
    "gate_not_green": 409,
    "results_not_final": 409,
    "archived": 409,
    "wrong_offset": 409,
    "file_removed": 410,
    "unsupported_version": 412,
    "file_too_large": 413,
    "invalid": 422,
    "key_reused": 422,
    "quota_exhausted": 429,
    "rate_limited": 429,
    "storage_exhausted": 429,
    "maintenance": 503,
    "file_missing": 503,
    "no_space": 507,
}


RETRY_STATUSES = (429, 503)


class Refused(Exception):
    """Raised when a request is refused, for example by a rule or because the disk is full.

    `detail` explains what happened and what to do. `extra` has additional members of the problem document (RFC 9457).
    """

    def __init__(self, code: str, detail: str, **extra: Any) -> None:
        self.code = code
        self.status = STATUS_OF_CODE[code]
        self.detail = detail
        self.extra = {name: _plain(value) for name, value in extra.items()}
        super().__init__(detail)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the error response: Retry-After, if the same request may succeed later."""
        return {"Retry-After": str(seconds_to_wait(self.extra))} if self.status in RETRY_STATUSES else {}


def seconds_to_wait(extra: Mapping[str, Any]) -> int:
    """Return the number of seconds to wait before repeating a refused request.

    This is `retry_after` or, if it is not given, the time until `next_allowed_at` or `resets_at`. The default is 60.
    """
    if "retry_after" in extra:
        return int(extra["retry_after"])
    moment = extra.get("next_allowed_at") or extra.get("resets_at")
    return max(1, ceil((datetime.fromisoformat(moment) - datetime.now(UTC)).total_seconds())) if moment else 60


FULL = (ENOSPC, EDQUOT)
DISK_FULL = "53100"  # PostgreSQL's error code for a full disk
# PostgreSQL's error codes (or their first characters) for serialization failures, deadlocks and locks that timed out.
BUSY = ("40", "55P03")
# Also those for lost connections, no free connection, a server that stops or starts, and a standby server that accepts
# no writes.
UNAVAILABLE = (*BUSY, "08", "53300", "57", "25006")
SQLITE_UNAVAILABLE = (SQLITE_BUSY, SQLITE_LOCKED, SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_READONLY, SQLITE_PROTOCOL)
RETRY_SECONDS = 10
ALARM_SECONDS = 60  # the shortest time between two alarms about the database in a process


def full_disk(error: BaseException | None) -> Refused | None:
    """Return a refusal if an error means that the disk with the files or the database is full; otherwise None."""
    cause = getattr(error, "__cause__", None)
    database_full = (
        getattr(cause, "sqlite_errorcode", None) == SQLITE_FULL or getattr(cause, "sqlstate", None) == DISK_FULL
    )
    if database_full or any(isinstance(one, OSError) and one.errno in FULL for one in (error, cause)):
        return Refused("no_space", "The server has no disk space left. No quota was used. Try again later.")
    return None


def database_unavailable(error: BaseException | None) -> Refused | None:
    """Return a refusal if an error means that the database cannot be reached or is too busy; otherwise None.

    If it cannot be reached, an alarm with the reason is logged.
    """
    if not isinstance(error, OperationalError | InterfaceError):
        return None
    cause = error.__cause__
    sqlite, state = getattr(cause, "sqlite_errorcode", None), getattr(cause, "sqlstate", None)
    if sqlite is not None:
        # The lower eight bits of SQLite's error code identify the kind of error.
        unavailable = sqlite & 0xFF in SQLITE_UNAVAILABLE
    else:
        unavailable = state is None or state.startswith(UNAVAILABLE)
    if not unavailable:
        return None
    if state is None or not state.startswith(BUSY):
        log_unusable_database(error)
    detail = "The database cannot be reached or is too busy. Nothing was changed. Try again in a moment."
    return Refused("maintenance", detail, retry_after=RETRY_SECONDS)


def log_unusable_database(error: DatabaseError | InterfaceError) -> None:
    """Log an alarm with the reason why the database cannot be used, at most once a minute in each process."""
    # Each process has a cache "status" of its own.
    if caches["status"].add("alarm:database", value=True, timeout=ALARM_SECONDS):
        # The following lines of PostgreSQL's messages may contain parts of a query, and therefore personal data.
        reason = str(error).strip().partition("\n")[0]
        log.error("alarm: the database cannot be used (%s)", reason or type(error).__name__)


def storage_unavailable(error: BaseException | None) -> Refused | None:
    """Return a refusal if an error means that the object store cannot be used; otherwise None."""
    if not isinstance(error, StoreUnavailable):
        return None
    detail = "The storage for files cannot be reached. Nothing was changed. Try again in a moment."
    return Refused("maintenance", detail, retry_after=RETRY_SECONDS)


def refusal_behind(error: BaseException | None) -> Refused | None:
    """Return the refusal that explains an exception: a broken rule, a full disk, or an unavailable database or storage.

    Return None for any other exception.
    """
    if isinstance(error, Refused):
        return error
    return full_disk(error) or database_unavailable(error) or storage_unavailable(error)


def _plain(value: Any) -> Any:
    """Return a time as ISO 8601 in UTC, and any other value unchanged."""
    return time_text(value) if isinstance(value, datetime) else value
