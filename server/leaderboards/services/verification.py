"""Compares the stored leaderboard entries with entries recomputed from the submissions."""

from collections.abc import Iterator

from django.db import transaction
from django.db.models import Count, Q

from server.challenges.locks import lock_teams
from server.challenges.models import Phase, Team
from server.leaderboards.entry_rows import board_ids
from server.leaderboards.models import Board
from server.leaderboards.services import metric_values
from server.leaderboards.services.entries import Difference, differences, in_batches, signatures_of, teams_of


def verify(phase: Phase) -> Iterator[str]:
    """Yield a sentence for each wrong entry, each wrong metric value, and each wrong number of entries.

    Teams are locked in batches, so that their entries do not change while they are compared. Nothing is written.
    """
    for batch in in_batches(teams_of(phase)):
        with transaction.atomic():
            lock_teams(batch)
            names = dict(Team.objects.filter(pk__in=batch).values_list("pk", "name"))
            for signature in signatures_of(phase, batch):
                boards = board_ids(phase, signature=signature)
                for one in differences(phase, batch, signature=signature, boards=boards):
                    yield f"{phase} {one.key[0]} {names[one.key[1]]} ({signature}): {sentence(one)}"
    yield from miscounted(phase)
    yield from metric_values.wrong_values(phase)


def sentence(one: Difference) -> str:
    if one.kept is None:
        return f"has no entry; expected {one.expected}"
    if one.expected is None:
        return f"has the entry {one.kept.line}; expected none"
    if one.is_new_version:
        return f"has the entry {one.kept.line}; expected {one.expected}"
    return f"has {one.kept.submissions} submissions; expected {one.submissions}"


def miscounted(phase: Phase) -> Iterator[str]:
    """Yield a sentence for each leaderboard whose stored numbers of entries are wrong.

    A single SQL statement reads the stored numbers and counts the entries, so that no change can occur in between.
    """
    present = Q(entries__valid_until=None, entries__isnull=False)
    boards = Board.objects.filter(phase=phase).annotate(
        all=Count("entries", filter=present), teams=Count("entries", filter=present & Q(entries__is_baseline=False))
    )
    for board in boards.order_by("pk"):
        if (board.listed, board.ranked) != (board.all, board.teams):
            yield (
                f"{phase} {board.kind} ({board.signature}): counts {board.listed} entries and {board.ranked} teams; "
                f"expected {board.all} and {board.teams}"
            )
