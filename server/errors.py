"""Policy says no: one error type for pages, API and commands, with a stable code."""

from datetime import UTC, datetime
from typing import Any

STATUS_OF_CODE = {
    "unauthenticated": 401,
    "not_a_member": 403,
    "rules_not_accepted": 403,
    "forbidden": 403,
    "not_found": 404,
    "duplicate_file": 409,
    "phase_closed": 409,
    "phase_not_open": 409,
    "registration_closed": 409,
    "not_cancellable": 409,
    "file_too_large": 413,
    "invalid": 422,
    "quota_exhausted": 429,
    "rate_limited": 429,
    "maintenance": 503,
    "no_space": 507,
}


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


def _plain(value: Any) -> Any:
    """Write a time as ISO 8601 in UTC; everything else stays."""
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value
