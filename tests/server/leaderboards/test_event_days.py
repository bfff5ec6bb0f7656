"""Tests the list of days on which a leaderboard changed."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from server.challenges.disqualification import disqualify
from server.challenges.models import Phase
from server.clock import database_now
from server.leaderboards.event_days import event_days
from server.leaderboards.models import BoardTerms, Entry
from server.submissions.feedback import score_access
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.leaderboards.random_history import ANYBODY

FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)

pytestmark = pytest.mark.phase(challenge={"opens_at": FIRST})


def days(phase: Phase, *, viewer: Any = ANYBODY, split: str = "public") -> list[date]:
    now = database_now()
    access = score_access(phase, viewer=viewer, now=now)
    return event_days(phase, split=split, access=access, now=now)


def dates(*numbers: int) -> list[date]:
    return [(FIRST + number * DAY).date() for number in numbers]


def test_days_with_a_new_entry_are_listed(phase: Phase, make: Make, scored: Scored) -> None:
    team = make.team(phase.challenge)
    for number, score in ((0, 0.5), (3, 0.6), (4, 0.1), (9, 0.7)):
        scored(phase, score, team=team, at=FIRST + number * DAY)
    assert days(phase) == dates(0, 3, 9)  # The lower score on day 4 does not change the entry of the team.


def test_days_are_separated_by_midnight_in_utc(phase: Phase, scored: Scored) -> None:
    midnight = datetime(2026, 3, 5, tzinfo=UTC)
    for at in (midnight - timedelta(milliseconds=1), midnight):
        scored(phase, 0.5, at=at)
    assert days(phase) == [date(2026, 3, 4), date(2026, 3, 5)]


def test_today_is_left_out_because_it_is_not_over(phase: Phase, scored: Scored) -> None:
    scored(phase, 0.5, at=FIRST)
    scored(phase, 0.6)
    assert days(phase) == dates(0)


def test_a_day_with_a_disqualification_is_listed(phase: Phase, make: Make, scored: Scored) -> None:
    team = make.team(phase.challenge)
    scored(phase, 0.5, team=team, at=FIRST)
    disqualify(team=team, by=None, reason="Two accounts")
    Entry.objects.filter(team=team).update(valid_until=FIRST + 5 * DAY)
    assert days(phase) == dates(0, 5)


@pytest.mark.phase(feedback="rounded", feedback_decimals=2)
def test_a_day_on_which_the_feedback_or_the_truth_changed_is_listed(phase: Phase, make: Make, scored: Scored) -> None:
    scored(phase, 0.5, at=FIRST)
    make.truth(phase)
    BoardTerms.objects.filter(phase=phase, since__gt=FIRST).update(since=FIRST + 2 * DAY)
    scored(phase, 0.5, at=FIRST + 2 * DAY)
    phase.feedback, phase.feedback_decimals = "exact", None
    phase.save()
    BoardTerms.objects.filter(phase=phase, decimals=None).update(since=FIRST + 6 * DAY)
    assert days(phase) == dates(0, 2, 6)


def test_changes_that_were_not_shown_are_left_out(phase: Phase, make: Make, scored: Scored) -> None:
    """A rescoring writes entries before it is applied, but leaderboards show these entries only afterwards."""
    scored(phase, 0.5, at=FIRST)
    later = make.truth(phase)
    BoardTerms.objects.filter(phase=phase, since__gt=FIRST).update(since=FIRST + 20 * DAY)
    scored(phase, 0.6, truth=later, at=FIRST + 10 * DAY)
    BoardTerms.objects.filter(phase=phase, signature=phase.signature).update(since=FIRST + 20 * DAY)
    assert days(phase) == dates(0, 20)


@pytest.mark.phase(feedback="ladder")
def test_days_on_which_ladder_feedback_hid_everything_are_left_out(phase: Phase, make: Make, scored: Scored) -> None:
    organizer = make.user()
    phase.challenge.organizers.add(organizer)
    one = scored(phase, 0.5, at=FIRST)
    assert not one.evaluations.get().is_published
    assert days(phase) == []
    assert days(phase, viewer=organizer) == dates(0)


def test_the_number_of_queries_does_not_grow_with_the_number_of_days(phase: Phase, make: Make, scored: Scored) -> None:
    team = make.team(phase.challenge)
    for number in range(30):
        scored(phase, number / 100, team=team, at=FIRST + number * DAY)
    access = score_access(phase, viewer=ANYBODY, now=database_now())
    now = database_now()
    with CaptureQueriesContext(connection) as queries:
        assert len(event_days(phase, split="public", access=access, now=now)) == 30
    assert len(queries) <= 4
    with CaptureQueriesContext(connection) as queries:
        event_days(phase, split="public", access=access, now=now)
    assert len(queries) == 0
