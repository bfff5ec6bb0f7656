"""Leaderboards that are due for a comparison."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from server.challenges.models import Phase
from server.clock import database_now
from server.leaderboards.models import Board, Comparison
from server.leaderboards.services import comparisons
from server.submissions import queue
from server.submissions.models import Submission
from tests.conftest import InlineQueue

VALUES = [0.25, 0.5, 0.75] * 10


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch, inline_queue: InlineQueue) -> InlineQueue:
    """Return a fake broker with empty queues. It collects new messages about leaderboards in `.sent_for_boards`."""
    monkeypatch.setattr(queue, "waiting", lambda kind: 0)
    return inline_queue


@pytest.fixture
def changed(phase: Phase, replicated: Callable[..., Submission]) -> Board:
    """Return a leaderboard of two teams whose entries are due for a comparison."""
    for _ in range(2):
        replicated(phase, VALUES)
    comparisons.add_missing()
    # Postpone the comparisons of all other leaderboards, because these tests use only the public one.
    Comparison.objects.exclude(board__kind="public").update(not_before=database_now() + timedelta(days=1))
    return Board.objects.get(phase=phase, kind="public")
