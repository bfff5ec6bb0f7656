"""Compares the entries of each leaderboard again to check the stored results, for `manage.py verify_board`."""

from collections.abc import Iterator

from evaluator.metrics.rank_intervals import TOP
from server.challenges.models import Phase
from server.leaderboards.models import Board, ComparedEntry, Comparison
from worker.comparisons.board_rows import BoardRows, read_rows
from worker.comparisons.comparing import values_of
from worker.comparisons.next_up import NextUp, next_up
from worker.comparisons.rank_sets import top_intervals
from worker.comparisons.tie_groups import tie_groups


def wrong_comparisons(phase: Phase) -> Iterator[str]:
    """Yield a sentence for each error in the stored ties and simultaneous rank intervals of a phase's entries.

    Only leaderboards that have not changed since their comparison are verified. Individual rank intervals depend on an
    earlier state of the leaderboard, so they are not computed again.
    """
    for comparison in Comparison.objects.current().filter(board__phase=phase).order_by("pk"):
        found = list(differences(comparison))
        if Comparison.objects.current().filter(pk=comparison.pk, content=comparison.content).exists():
            yield from found


def differences(comparison: Comparison) -> Iterator[str]:
    board: Board = comparison.board
    rows = read_rows(board)
    if rows.content != comparison.content:
        yield f"{board} ({board.signature}): the stored comparison belongs to different entries"
        return
    names = dict(board.entries.present().values_list("pk", "team__name"))
    kept = ComparedEntry.objects.in_bulk([line.key for line in rows.lines])
    for key, expected in expected_entries(rows).items():
        one = kept.get(key)
        found = values_of(one)[: len(expected)] if one else None
        if found != expected:
            yield f"{board} {names[key]} ({board.signature}): has the comparison {found}; expected {expected}"


def expected_entries(rows: BoardRows) -> dict[int, tuple[object, ...]]:
    """Return the expected comparison of each entry: tie, next higher entry and, for the top teams, rank interval."""
    above = next_up(rows, {})
    expected: dict[int, tuple[object, ...]] = {
        key: (*tie, *above.get(key, NextUp())) for key, tie in tie_groups(rows, {}).items()
    }
    for line, interval in zip(rows.teams[:TOP], top_intervals(rows), strict=True):
        expected[line.key] += (*(interval or (None, None)), False)
    return expected
