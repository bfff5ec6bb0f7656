"""Compares the entries of leaderboards with what the submissions say, computed from nothing."""

from collections.abc import Iterator

from django.db import transaction
from django.db.models import Count, Q

from server.challenges.locks import lock_teams
from server.challenges.models import Phase
from server.leaderboards.models import Board
from server.leaderboards.services.entries import Difference, Line, batches_of_teams, differences, signatures_of


def verify(phase: Phase) -> Iterator[str]:
    """Yield a sentence for each entry that is wrong, and for each leaderboard whose number of entries is.

    Teams are locked, some at a time, so that no change is in progress. This writes nothing.
    """
    for batch in batches_of_teams(phase):
        with transaction.atomic():
            teams = lock_teams(batch)
            names = {team.pk: team.name for team in teams}
            for signature in signatures_of(phase, batch):
                for one in differences(phase, batch, signature=signature):
                    yield f"{phase} {one.key[0]} {names[one.key[1]]} ({signature}): {sentence(one)}"
    yield from miscounted(phase)


def sentence(one: Difference) -> str:
    if one.kept is None:
        return f"has no entry; expected {one.expected}"
    if one.expected is None:
        return f"has the entry {Line.of(one.kept)}; expected none"
    if one.is_new_version:
        return f"has the entry {Line.of(one.kept)}; expected {one.expected}"
    return f"has {one.kept.submissions} submissions; expected {one.submissions}"


def miscounted(phase: Phase) -> Iterator[str]:
    """Yield the leaderboards whose numbers of entries are wrong. One statement reads both, so they are of one time."""
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
