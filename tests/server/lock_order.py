"""Checks in every test that no transaction locks a leaderboard after it has written an audit entry.

SQLite does not lock rows, so on SQLite only changes of leaderboards are checked.

On PostgreSQL, such a transaction could deadlock with every other one that takes these locks in the documented order;
see `server.audit.services.record`.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from django.db import connection
from django.db.transaction import Atomic

LOCKS_BOARD = re.compile(
    r'\b(UPDATE|INTO) "?leaderboards_board"?\b|\bleaderboards_board\b.*\bFOR (NO KEY )?UPDATE\b', re.DOTALL
)


class LockOrder:
    """Raises AssertionError if a transaction locks or changes a leaderboard after it has written an audit entry."""

    has_written = False

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "audit_head" in sql:
            self.has_written = in_transaction()
        assert not (self.has_written and LOCKS_BOARD.search(sql)), f"locked after the audit log: {sql}"
        return execute(sql, params, many, context)


def in_transaction() -> bool:
    """Return whether a transaction of the tested code is open. The transaction around a test does not count."""
    return any(not block._from_testcase for block in connection.atomic_blocks)  # type: ignore[attr-defined]


@contextmanager
def lock_order_checked() -> Iterator[None]:
    order, leave = LockOrder(), Atomic.__exit__

    def leave_and_forget(block: Atomic, *error: Any) -> None:
        try:
            leave(block, *error)
        finally:
            order.has_written &= in_transaction()

    with patch.object(Atomic, "__exit__", leave_and_forget), connection.execute_wrapper(order):
        yield
