"""Tests the check of the order of locks, which runs in every test of the server."""

import pytest
from django.db import transaction

from server.audit.services import record
from server.challenges.models import Phase
from server.leaderboards.entry_rows import lock_boards


def test_a_leaderboard_that_is_changed_after_an_audit_entry_is_reported(phase: Phase) -> None:
    with transaction.atomic():
        record(actor=None, action="board.rebuilt", subject=f"phase {phase}")
        with pytest.raises(AssertionError, match="locked after the audit log"):
            lock_boards(phase, signature="s")


def test_a_leaderboard_can_be_changed_in_the_transaction_after_an_audit_entry(phase: Phase) -> None:
    for signature in ("s", "t"):
        with transaction.atomic():
            lock_boards(phase, signature=signature)
            record(actor=None, action="board.rebuilt", subject=f"phase {phase}")
