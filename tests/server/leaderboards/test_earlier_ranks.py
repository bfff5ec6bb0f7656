"""Ranks are compared with those of a week ago. When the phase is over, private ranks are compared with public ones."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from server.challenges.models import Phase
from server.clock import database_now
from server.leaderboards.earlier_ranks import with_changes
from server.leaderboards.models import BoardTerms
from server.leaderboards.queries import BoardRow, board, board_seen
from server.leaderboards.ranking import Earlier
from server.leaderboards.validators import content_key
from server.submissions.feedback import score_access
from tests.conftest import Make
from tests.server.conftest import Scored, refresh_boards
from tests.server.leaderboards.random_history import ANYBODY

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
LONG_AGO = NOW - 20 * DAY

pytestmark = pytest.mark.phase(challenge={"opens_at": NOW - 30 * DAY, "closes_at": NOW + DAY})


def rows(phase: Phase, *, split: str = "public", at: datetime | None = None) -> list[BoardRow]:
    found = board(phase, split=split, at=at, viewer=ANYBODY)
    return with_changes(found, found.rows)


@pytest.fixture
def teams(phase: Phase, make: Make, scored: Scored) -> dict[str, Any]:
    """Create the teams A, B and C, ranked in this order. Their entries are 20 days old."""
    found = {name: make.team(phase.challenge, name=name) for name in "ABC"}
    for team, score in zip(found.values(), (0.75, 0.5, 0.25), strict=True):
        scored(phase, score, team=team, at=LONG_AGO)
    return found


def test_a_row_has_the_rank_and_the_score_of_a_week_ago(phase: Phase, teams: dict[str, Any], scored: Scored) -> None:
    scored(phase, 0.875, team=teams["C"], at=NOW - 3 * DAY)
    found = [(row.team, row.earlier and (row.earlier.rank, row.earlier.score)) for row in rows(phase)]
    assert found == [("C", (3, 0.25)), ("A", (1, 0.75)), ("B", (2, 0.5))]


def test_events_before_last_week_are_not_shown_as_changes(phase: Phase, teams: dict[str, Any], scored: Scored) -> None:
    scored(phase, 0.875, team=teams["C"], at=NOW - 9 * DAY)
    assert [(row.rank, row.earlier and row.earlier.rank) for row in rows(phase)] == [(1, 1), (2, 2), (3, 3)]


def test_a_new_team_had_no_entry(phase: Phase, teams: dict[str, Any], scored: Scored) -> None:
    scored(phase, 1.0, at=NOW - DAY)
    assert rows(phase)[0].earlier == Earlier(None, None)


def test_nothing_is_compared_if_the_leaderboard_was_empty_a_week_ago(phase: Phase, scored: Scored) -> None:
    scored(phase, 0.5, at=NOW - DAY)
    assert [row.earlier for row in rows(phase)] == [None]


def test_baselines_are_not_compared(phase: Phase, teams: dict[str, Any], make: Make, scored: Scored) -> None:
    scored(phase, 1.0, team=make.team(phase.challenge, is_baseline=True), at=LONG_AGO)
    assert [row.earlier is None for row in rows(phase)] == [True, False, False, False]


def test_a_leaderboard_of_an_earlier_time_is_not_compared(phase: Phase, teams: dict[str, Any]) -> None:
    assert {row.earlier for row in rows(phase, at=NOW - DAY)} == {None}


@pytest.mark.phase(feedback="ladder")
def test_ladder_feedback_shows_no_changes(phase: Phase, teams: dict[str, Any]) -> None:
    for evaluation in [one.evaluations.get() for one in phase.submissions.all()]:
        evaluation.published = evaluation
        evaluation.save()
    refresh_boards()
    assert [row.earlier for row in rows(phase)] == [None] * 3


def test_after_a_rescoring_ranks_are_compared_as_they_were_shown(
    phase: Phase, teams: dict[str, Any], make: Make, scored: Scored
) -> None:
    """Only ranks are compared, because the scores before and after the rescoring belong to different ground truths."""
    make.truth(phase)
    BoardTerms.objects.filter(phase=phase, signature=phase.signature).update(since=NOW - 2 * DAY)
    for name, score in (("A", 0.1), ("B", 0.9)):
        scored(phase, score, team=teams[name])
    assert [(row.team, row.earlier) for row in rows(phase)] == [("B", Earlier(2, None)), ("A", Earlier(1, None))]


def test_rounded_feedback_rounds_earlier_scores(phase: Phase, teams: dict[str, Any]) -> None:
    phase.feedback, phase.feedback_decimals = "rounded", 1
    phase.save()
    assert [row.earlier and row.earlier.score for row in rows(phase)] == [0.8, 0.5, 0.2]


@pytest.fixture
def over(phase: Phase, make: Make, scored: Scored) -> Phase:
    """Create a closed phase. Its public leaderboard lists the teams A, B and C, and the private one C, B, A and D."""
    for name, public in (("A", 0.75), ("B", 0.5), ("C", 0.25)):
        scored(phase, public, private=1 - public, team=make.team(phase.challenge, name=name), at=LONG_AGO)
    scored(phase, None, private=0.1, team=make.team(phase.challenge, name="D"), at=LONG_AGO)
    phase.challenge.closes_at = NOW - DAY
    phase.challenge.save()
    return phase


def test_when_the_phase_is_over_private_rows_have_the_public_rank(over: Phase) -> None:
    found = [(row.team, row.rank, row.public_rank) for row in rows(over, split="private")]
    assert found == [("C", 1, 3), ("B", 2, 2), ("A", 3, 1), ("D", 4, None)]
    assert {row.earlier for row in rows(over, split="private")} == {None}
    assert {row.public_rank for row in rows(over)} == {None}


def test_before_the_end_organizers_see_no_public_ranks_among_private_ones(
    phase: Phase, make: Make, scored: Scored
) -> None:
    organizer = make.user()
    phase.challenge.organizers.add(organizer)
    scored(phase, 0.5, private=0.4)
    found = board(phase, split="private", viewer=organizer)
    assert [row.public_rank for row in with_changes(found, found.rows)] == [None]


def test_the_key_of_the_content_changes_with_the_day_and_with_public_ranks(over: Phase, scored: Scored) -> None:
    phase = Phase.objects.get(pk=over.pk)

    def key(split: str, days: int = 0) -> tuple[object, ...]:
        now = database_now() + days * DAY
        access = score_access(phase, viewer=ANYBODY, now=now)
        return content_key(board_seen(phase, split=split, access=access, now=now))

    before = key("public"), key("private")
    assert key("public", 1) != before[0]
    assert key("private", 1) == before[1]
    scored(phase, 0.9)
    assert key("private") != before[1]


def test_ranks_of_a_week_ago_are_read_once(phase: Phase, teams: dict[str, Any]) -> None:
    found = board(phase, split="public", viewer=ANYBODY)
    shown = found.rows
    with CaptureQueriesContext(connection) as first:
        with_changes(found, shown)
    with CaptureQueriesContext(connection) as again:
        with_changes(found, shown)
    assert (len(first) > 0, len(again)) == (True, 0)
