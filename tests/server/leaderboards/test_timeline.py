"""Tests how teams' scores and ranks over time are computed from the periods during which each score was shown."""

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from server.challenges.models import Phase
from server.leaderboards.periods import Span
from server.leaderboards.queries import board
from server.leaderboards.timeline import Point, field_of, moments_of, points_of, timeline_of
from server.submissions.feedback import ScoreAccess
from tests.server.conftest import Scored
from tests.server.leaderboards.random_history import ANYBODY

FIRST = datetime(2026, 3, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
EXACT = ScoreAccess(frozenset({"public"}), None, classes=False)


def span(team: int, score: float, since: int, until: int | None = None, *, is_baseline: bool = False) -> Span:
    return Span(team, is_baseline, score, FIRST + since * HOUR, None if until is None else FIRST + until * HOUR, EXACT)


def points(spans: list[Span], team: int) -> list[Point | None]:
    field = field_of(spans)
    return points_of([one for one in spans if one.team_id == team], field.moments, [team], field=field)[team]


def ranks(spans: list[Span], team: int) -> list[int | None]:
    return [point and point.rank for point in points(spans, team)]


def test_the_timeline_has_the_beginning_and_the_end_of_each_span() -> None:
    found = moments_of([span(1, 0.5, 0, 2), span(1, 0.6, 2), span(2, 0.5, 1, 5)])
    assert [(moment - FIRST) / HOUR for moment in found] == [0, 1, 2, 5]


def test_without_spans_there_are_no_moments() -> None:
    assert moments_of([]) == []


@pytest.mark.parametrize(("changes", "count"), [(200, 200), (201, 200), (5000, 200)])
def test_if_there_are_many_changes_the_last_one_of_each_part_is_kept(changes: int, count: int) -> None:
    spans = [span(1, 0.5, number) for number in range(changes)]
    found = moments_of(spans, count=count)
    assert len(found) <= count + 1
    assert found[-1] == spans[-1].since
    assert max((after - before) / HOUR for before, after in itertools.pairwise(found)) <= 2 * changes / count


def test_equal_scores_share_a_rank() -> None:
    spans = [span(1, 0.5, 0), span(2, 0.5, 1), span(3, 0.25, 2)]
    assert (ranks(spans, 2), ranks(spans, 3)) == ([None, 1, 1], [None, None, 3])


def test_a_baseline_has_no_rank_and_takes_none() -> None:
    spans = [span(1, 0.5, 0), span(2, 0.75, 1, is_baseline=True)]
    assert ranks(spans, 1) == [1, 1]
    assert points(spans, 2) == [None, Point(0.75, None)]


def test_when_a_team_leaves_the_leaderboard_teams_below_it_move_up() -> None:
    spans = [span(1, 0.75, 0, 4), span(2, 0.5, 1), span(1, 0.25, 6)]
    assert ranks(spans, 2) == [None, 2, 1, 1]
    assert ranks(spans, 1) == [1, 1, None, 2]


def test_a_span_between_two_moments_does_not_count() -> None:
    spans = [span(1, 0.5, 0, 1), span(1, 0.75, 1, 2), span(1, 0.25, 2), span(2, 0.125, 300)]
    field = field_of(spans, count=2)
    assert field.moments == [FIRST + 2 * HOUR, FIRST + 300 * HOUR]
    assert list(field.scores) == [0.25, 0.125]


def test_without_the_other_teams_there_are_no_ranks() -> None:
    assert points_of([span(1, 0.5, 0)], [FIRST], [1, 2]) == {1: [Point(0.5, None)], 2: [None]}


def test_ranks_of_all_teams_are_read_once_a_minute_at_most(phase: Phase, scored: Scored) -> None:
    """Reading all ranks of a large leaderboard takes too long to be repeated after every change."""
    team = scored(phase, 0.5).team
    now = board(phase, split="public", viewer=ANYBODY)

    def moments(later: timedelta) -> int:
        seen = replace(board(phase, split="public", viewer=ANYBODY), now=now.now.replace(second=0) + later)
        return len(timeline_of(seen, [team.pk], with_ranks=True).moments)

    assert moments(HOUR) == 1
    scored(phase, 0.6, team=team)
    assert moments(HOUR + timedelta(seconds=59)) == 1
    assert moments(HOUR + timedelta(minutes=1)) == 2
    assert moments(2 * HOUR) == 2


def test_scores_of_some_teams_are_read_without_those_of_others(phase: Phase, scored: Scored) -> None:
    team = scored(phase, 0.5).team
    scored(phase, 0.75)
    found = timeline_of(board(phase, split="public", viewer=ANYBODY), [team.pk], with_ranks=False)
    assert (len(found.moments), found.points) == (1, {team.pk: [Point(0.5, None)]})
