"""Policy says no: one error type for pages, API and commands, with a stable code."""

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

from django.db import InterfaceError, OperationalError

STATUS_OF_CODE = {
    "unauthenticated": 401,
    "not_a_member": 403,
    "awaiting_approval": 403,
    "rules_not_accepted": 403,
    "forbidden": 403,
    "not_found": 404,
    "duplicate_file": 409,
    "phase_closed": 409,
    "phase_not_open": 409,
    "registration_closed": 409,
    "not_cancellable": 409,
    "rescoring_unfinished": 409,
    "rescoring_loses": 409,
    "file_too_large": 413,
    "invalid": 422,
    "quota_exhausted": 429,
    "rate_limited": 429,
    "storage_exhausted": 429,
    "maintenance": 503,
    "no_space": 507,
}


COME_AGAIN = (429, 503)


class Refused(Exception):
    """A request that is understood and refused; nothing was written.

    `detail` says what happened and what to do; `extra` holds further members of the problem document.
    """

    def __init__(self, code: str, detail: str, **extra: Any) -> None:
        self.code = code
        self.status = STATUS_OF_CODE[code]
        self.detail = detail
        self.extra = {name: _plain(value) for name, value in extra.items()}
        super().__init__(detail)

    @property
    def headers(self) -> dict[str, str]:
        """What the answer says beside its status: when to come again, where that may help."""
        return {"Retry-After": str(seconds_to_wait(self.extra))} if self.status in COME_AGAIN else {}


def seconds_to_wait(extra: Mapping[str, Any]) -> int:
    """Whole seconds until a request may succeed: as told, else until the next allowed one, else until the next day."""
    if "retry_after" in extra:
        return int(extra["retry_after"])
    moment = extra.get("next_allowed_at") or extra.get("resets_at")
    return max(1, ceil((datetime.fromisoformat(moment) - datetime.now(UTC)).total_seconds())) if moment else 60


FULL = (ENOSPC, EDQUOT)
DISK_FULL = "53100"  # PostgreSQL's name for it
# Codes, or beginnings of codes: lost connections, no connection left, serialization and deadlocks, a lock not had in
# time, being stopped or started, and a standby server that takes no writes.
AWAY = ("08", "53300", "40", "55P03", "57", "25006")
SQLITE_AWAY = (SQLITE_BUSY, SQLITE_LOCKED, SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_READONLY, SQLITE_PROTOCOL)
AGAIN_SECONDS = 10


def full_disk(error: BaseException | None) -> Refused | None:
    """Return the refusal if the folder of the files, or the disk under the database, has no room."""
    cause = getattr(error, "__cause__", None)
    below = getattr(cause, "sqlite_errorcode", None) == SQLITE_FULL or getattr(cause, "sqlstate", None) == DISK_FULL
    if below or any(isinstance(one, OSError) and one.errno in FULL for one in (error, cause)):
        return Refused("no_space", "The server has no space left. Your quota has not changed. Try again later.")
    return None


def database_away(error: BaseException | None) -> Refused | None:
    """Return the refusal if the database cannot be reached, or let nobody write for too long."""
    if not isinstance(error, OperationalError | InterfaceError):
        return None
    cause = error.__cause__
    sqlite = getattr(cause, "sqlite_errorcode", None)
    if sqlite is not None:
        is_away = sqlite & 0xFF in SQLITE_AWAY  # the rest of it says more of the same
    else:
        state = getattr(cause, "sqlstate", None)
        is_away = state is None or state.startswith(AWAY)
    if not is_away:
        return None
    detail = "The database cannot be reached or is too busy. Nothing was changed. Try again in a moment."
    return Refused("maintenance", detail, retry_after=AGAIN_SECONDS)


def refusal_behind(error: BaseException | None) -> Refused | None:
    """Return what an exception says to the client, where it is not our mistake: a policy, a full disk, no database."""
    return error if isinstance(error, Refused) else full_disk(error) or database_away(error)


def _plain(value: Any) -> Any:
    """Write a time as ISO 8601 in UTC; everything else stays."""
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value
