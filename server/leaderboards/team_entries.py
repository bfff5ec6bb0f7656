"""The entries of one team on all leaderboards of its challenge."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from server.challenges.models import Phase, Team
from server.leaderboards.models import Entry
from server.leaderboards.queries import BoardRow, ShownBoard, board_seen, kind_of
from server.submissions.feedback import ScoreAccess, score_access


@dataclass(frozen=True, slots=True)
class TeamEntry:
    """A team's current row on one leaderboard."""

    board: ShownBoard
    row: BoardRow


def entries_of_team(
    team: Team, phases: Sequence[Phase], *, viewer: Any, is_organizer: bool, now: datetime
) -> list[TeamEntry]:
    """Return the entries of a team on the public and private leaderboards that the viewer may see."""
    return [
        TeamEntry(board, row)
        for phase, access in accesses(phases, viewer=viewer, is_organizer=is_organizer, now=now)
        for split in ("public", "private")
        if split in access.splits
        if (row := (board := board_seen(phase, split=split, access=access, now=now)).row_of(team.pk))
    ]


def has_been_shown(team: Team, phases: Sequence[Phase], *, viewer: Any, is_organizer: bool, now: datetime) -> bool:
    """Return whether a leaderboard that the viewer may see shows or has ever shown the team."""
    shown = {
        (phase.pk, kind_of(split, ladder=access.ladder))
        for phase, access in accesses(phases, viewer=viewer, is_organizer=is_organizer, now=now)
        for split in access.splits
    }
    entries = Entry.objects.filter(team=team)
    for phase in phases:
        if phase.is_frozen(now) and not is_organizer:
            entries = entries.exclude(board__phase=phase, valid_from__gt=phase.freeze_at)
    return not shown.isdisjoint(entries.values_list("board__phase", "board__kind").distinct())


def accesses(
    phases: Sequence[Phase], *, viewer: Any, is_organizer: bool, now: datetime
) -> Iterator[tuple[Phase, ScoreAccess]]:
    for phase in phases:
        yield phase, score_access(phase, viewer=viewer, now=now, is_organizer=is_organizer)
