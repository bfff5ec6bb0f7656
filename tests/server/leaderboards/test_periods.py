"""At every moment, the history of a leaderboard matches the leaderboard that was shown at that moment."""

from itertools import islice
from typing import Any

import pytest

from server.challenges.models import Challenge, Phase, Team
from server.clock import database_now
from server.leaderboards.periods import periods, spans
from server.leaderboards.queries import board_seen
from server.leaderboards.timeline import field_of, points_of
from server.submissions.feedback import ScoreAccess, score_access
from tests.server.leaderboards.random_history import ANYBODY, History

EVENTS = 60
EXACT: dict[str, Any] = {"feedback": "exact", "feedback_decimals": None}
ROUNDED: dict[str, Any] = {"feedback": "rounded", "feedback_decimals": 1}
LADDER: dict[str, Any] = {"feedback": "ladder", "feedback_decimals": None}

pytestmark = pytest.mark.usefixtures("inline_queue", "db")


def history_with(seed: int, before: dict[str, Any], after: dict[str, Any]) -> History:
    """Return a random history of a phase whose feedback settings change after half of the events."""
    history = History(seed, **before)
    for number, _ in enumerate(islice(history.moments(), EVENTS)):
        history.happen()
        if number == EVENTS // 2:
            phase = history.current()
            for name, value in after.items():
                setattr(phase, name, value)
            phase.save()
    return history


def compare(phase: Phase, split: str, access: ScoreAccess) -> int:
    """Check that every point of the timeline matches the leaderboard at its time. Return the number of points."""
    now, teams = database_now(), [team.pk for team in Team.objects.all()]
    found = list(spans(periods(phase, split=split, access=access, now=now)))
    field = field_of(found, count=10**9)
    moments, points = field.moments, points_of(found, field.moments, teams, field=field)
    for index, moment in enumerate(moments):
        rows = board_seen(phase, split=split, at=moment, access=access, now=now).rows
        drawn = {team: one[index] for team, one in points.items()}
        of_history = {team: (point.score, point.rank) for team, point in drawn.items() if point}
        assert of_history == {row.team_id: (row.score, row.rank) for row in rows}, moment
    return sum(point is not None for one in points.values() for point in one)


@pytest.mark.parametrize("over", [False, True], ids=["running", "over"])
@pytest.mark.parametrize(
    ("seed", "before", "after"),
    [(11, EXACT, ROUNDED), (14, EXACT, LADDER), (13, LADDER, EXACT)],
    ids=["rounded", "ladder", "exact"],
)
def test_points_agree_with_the_leaderboard_at_their_times(
    seed: int, before: dict[str, Any], after: dict[str, Any], over: bool
) -> None:
    history = history_with(seed, before, after)
    history.wait()
    if over:
        Challenge.objects.update(closes_at=database_now())
        history.wait()
        history.wait()
    phase = history.current()
    for viewer in (ANYBODY, history.organizer):
        access = score_access(phase, viewer=viewer, now=database_now())
        assert sum(compare(phase, split, access) for split in access.splits) > 10
