"""A team's entries on the leaderboards of a challenge, for the team's public page."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.http import urlencode

from evaluator.report_page.content import SPLIT_TITLES
from server.challenges.models import Team
from server.leaderboards.team_entries import TeamEntry, entries_of_team
from server.pages.challenge_context import ChallengeContext


@dataclass(frozen=True, slots=True)
class ShownPlace:
    """A team's current entry on a leaderboard, with the URLs of the leaderboard and of its history."""

    entry: TeamEntry
    metric: str
    split: str
    board_url: str
    history_url: str


def places_of(team: Team, current: ChallengeContext) -> list[ShownPlace]:
    """Return a team's entries on all leaderboards of its challenge that the viewer may see."""
    viewer = {"viewer": current.user, "is_organizer": current.is_organizer, "now": current.now}
    return [shown_place(team, entry, current) for entry in entries_of_team(team, current.phases, **viewer)]


def shown_place(team: Team, entry: TeamEntry, current: ChallengeContext) -> ShownPlace:
    board, slug = entry.board, current.challenge.slug
    query = {"phase": board.phase.slug, "split": board.split}
    return ShownPlace(
        entry=entry,
        metric=board.phase.declared_track.metrics[0].title,
        split=SPLIT_TITLES[board.split],
        board_url=f"{reverse('leaderboard', args=[slug])}?{urlencode(query)}",
        history_url=f"{reverse('leaderboard_history', args=[slug])}?{urlencode({**query, 'team': team.name})}",
    )
