"""Formats log lines as JSON in files and pipes, and as text on a terminal.

Lines about a request or job contain its id.
"""

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

bound_fields: ContextVar[Mapping[str, Any]] = ContextVar("bound_fields", default=MappingProxyType({}))
STANDARD = {*vars(logging.makeLogRecord({})), "message", "asctime", "request", "server_time", "data"}


@contextmanager
def bound(**fields: Any) -> Iterator[None]:
    """Add the given fields to every line that the current thread logs inside the `with` block."""
    token = bound_fields.set({**bound_fields.get(), **fields})
    try:
        yield
    finally:
        bound_fields.reset(token)


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """Return the extra fields of a log record: those set by `bound`, and those that were passed as `extra`."""
    given = {name: value for name, value in vars(record).items() if name not in STANDARD}
    return {**bound_fields.get(), **given}


class JsonFormatter(logging.Formatter):
    """A formatter that writes a line as a JSON object.

    The object contains `at`, `level`, `logger`, `message`, other fields, and the traceback.
    """

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **fields_of(record),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


class TextFormatter(logging.Formatter):
    """A formatter that writes a line as text, followed by any further fields."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        fields = "".join(f" {name}={value}" for name, value in fields_of(record).items())
        return super().formatMessage(record) + fields


def formatter() -> logging.Formatter:
    """Return the formatter for standard error: text if it is a terminal, otherwise JSON."""
    return TextFormatter() if sys.stderr.isatty() else JsonFormatter()


class WithoutPath(logging.Filter):
    """A log filter that replaces the path in messages about failed requests with the route.

    A path may contain a secret.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        match = getattr(getattr(record, "request", None), "resolver_match", None)
        if record.args and isinstance(record.args, tuple):
            record.args = (*record.args[:-1], match.route if match else "unknown route")
        return True
