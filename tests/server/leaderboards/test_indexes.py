"""Queries for current entries use an index without earlier entries, so the length of the history does not matter."""

from typing import Any

import pytest

from server.leaderboards.models import Board, Entry

QUERIES = {
    "a page": lambda board: Entry.objects.present().filter(board=board).in_order().values("pk")[:100],
    "how many are better": lambda board: (
        Entry.objects.present().filter(board=board, is_baseline=False, score__gt=0.5).values("pk")
    ),
}


@pytest.mark.embedded  # This test needs SQLite: for tables with few rows, PostgreSQL does not use an index.
@pytest.mark.parametrize("query", QUERIES)
def test_current_entries_are_read_through_their_own_index(phase: Any, scored: Any, query: str) -> None:
    scored(phase, 0.5)
    board = Board.objects.get(kind="public")
    plan = QUERIES[query](board).explain()
    assert "COVERING INDEX present_entry_in_order" in plan
    assert "TEMP B-TREE" not in plan
