"""Finds teams that have dropped out of the top three of a public leaderboard.

Phases with ladder feedback, which shows only clear improvements, are left out, because a notice could reveal a change
that is hidden. Only open phases whose leaderboard is not frozen are considered, so a notice reveals nothing that the
leaderboard does not show.
"""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import F, Q
from django.urls import reverse

from evaluator.ranking import competition_ranks
from server.challenges.models import Phase
from server.leaderboards.models import Board, Entry
from server.notices.models import Kind, TopThree
from server.notices.services.events import Found, name_of

FIRST = 3


def changed_boards() -> list[Board]:
    """Return the public leaderboards that have changed since they were last checked.

    Leaderboards of phases with ladder feedback are left out.
    """
    shown = Board.objects.filter(kind=Board.Kind.PUBLIC, signature=F("phase__signature"))
    exact = shown.exclude(phase__feedback=Phase.Feedback.LADDER)
    new = Q(top_three=None) | ~Q(top_three__version=F("version"))
    return list(exact.filter(new).select_related("phase__challenge").order_by("pk"))


def look_at(board: Board, now: datetime) -> Iterator[Found]:
    """Yield an event for each team that has dropped out of the top three of a leaderboard.

    The teams that are now in the top three are stored for the next check. A team that no longer has an entry, such as a
    disqualified team, gets no notice. Call this function in a transaction.
    """
    first, known = first_teams(board), TopThree.objects.filter(board=board).first()
    before = set() if known is None else set(known.teams.values_list("pk", flat=True))
    stored, _ = TopThree.objects.update_or_create(board=board, defaults={"version": board.version})
    stored.teams.set(first)
    if not board.phase.is_open(now) or board.phase.is_frozen(now):
        return
    lost = Entry.objects.present().filter(board=board, team__in=before - first).values_list("team", flat=True)
    for team in sorted(lost):
        yield Found(
            kind=Kind.OVERTAKEN,
            key=f"{board.pk} {board.version} {team}",
            challenge=board.phase.challenge_id,
            text=f"Your team is no longer in the top three of {name_of(board.phase).rstrip(',')}.",
            path=f"{reverse('leaderboard', args=[board.phase.challenge.slug])}?phase={board.phase.slug}",
            recipients=Q(memberships__team=team),
        )


def first_teams(board: Board) -> set[int]:
    """Return the ids of the teams with ranks 1 to 3 on a leaderboard. Because of ties, there can be more than three."""
    entries = Entry.objects.present().filter(board=board, is_baseline=False).in_order()
    scores = dict(entries.values_list("team", "score")[:FIRST])
    if len(scores) == FIRST:
        last = min(scores.values())
        scores |= dict(entries.filter(score=last).values_list("team", "score"))
    ranks = competition_ranks(list(scores.values()))
    return {team for team, rank in zip(scores, ranks, strict=True) if rank <= FIRST}
