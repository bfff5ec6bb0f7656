"""The quota ledger determines how many files a team may still submit.

If the team has to wait, the ledger also determines why and until when.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from server.challenges.models import Phase, Team
from server.submissions.services import quota
from tests.conftest import Make

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)
MIDNIGHT = datetime(2026, 3, 6, tzinfo=UTC)
DAY = timedelta(days=1)


pytestmark = pytest.mark.phase(
    challenge={"opens_at": NOON - 10 * DAY}, quota_per_day=2, attempts_per_day=3, quota_total=5
)


@pytest.fixture
def spend(make: Make, phase: Phase, team: Team) -> Callable[..., None]:
    """Return a function that uses quota for new submissions (+) and refunds the last one (-): `spend("++-", at=…)`."""

    def write(deeds: str, at: datetime = NOON, back_at: datetime | None = None) -> None:
        last = None
        for deed in deeds:
            if deed == "+":
                last = make.submission(phase, team)
                quota.charge(last, now=at)
            else:
                quota.give_back(last, reason="rejected", now=back_at or at)

    return write


def state(phase: Phase, team: Team, now: datetime = NOON) -> quota.Quota:
    return quota.state(team=team, phase=phase, now=now)


@pytest.mark.parametrize(
    ("deeds", "used", "left", "attempts_left", "total_left"),
    [
        ("", 0, 2, 3, 5),
        ("+", 1, 1, 2, 4),
        ("++", 2, 0, 1, 3),
        ("+-", 0, 2, 2, 5),  # After a refund, a submission still counts as an attempt.
        ("+-+-+-", 0, 2, 0, 5),
        ("+-++", 2, 0, 0, 3),
        ("+--", 0, 2, 2, 5),  # A charge is refunded only once.
    ],
)
def test_the_ledger_determines_the_quota_that_is_left(
    phase: Phase, team: Team, spend: Callable[..., None], deeds, used, left, attempts_left, total_left
) -> None:
    spend(deeds)
    now = state(phase, team)
    assert (now.used, now.left, now.attempts_left, now.total_left) == (used, left, attempts_left, total_left)


@pytest.mark.parametrize(
    ("deeds", "next_allowed_at", "refused"),
    [
        ("", None, False),
        ("+", None, False),
        ("++", MIDNIGHT, True),
        ("+-+-+-", MIDNIGHT, True),  # All three attempts of the day are used.
    ],
)
def test_the_next_submission_is_allowed_at_the_next_midnight_in_utc(
    phase: Phase, team: Team, spend: Callable[..., None], deeds, next_allowed_at, refused
) -> None:
    spend(deeds)
    now = state(phase, team)
    assert (now.next_allowed_at, bool(now.reason), now.resets_at) == (next_allowed_at, refused, MIDNIGHT)


def test_a_new_day_allows_new_submissions(phase: Phase, team: Team, spend: Callable[..., None]) -> None:
    spend("++")
    assert state(phase, team, NOON + DAY).left == 2


def test_quota_given_back_later_counts_for_the_day_of_the_charge(
    phase: Phase, team: Team, spend: Callable[..., None]
) -> None:
    spend("+-", back_at=NOON + DAY)
    assert (state(phase, team).used, state(phase, team, NOON + DAY).used) == (0, 0)


@pytest.mark.parametrize(
    ("instant", "left"),
    [(MIDNIGHT - timedelta(microseconds=1), 0), (MIDNIGHT, 2)],
)
def test_a_day_ends_exactly_at_midnight_in_utc(
    phase: Phase, team: Team, spend: Callable[..., None], instant, left
) -> None:
    spend("++")
    assert state(phase, team, instant).left == left


def test_a_team_that_has_used_its_total_quota_may_never_submit_again(
    phase: Phase, team: Team, spend: Callable[..., None]
) -> None:
    for day in range(3):
        spend("++" if day < 2 else "+", at=NOON - day * DAY)
    now = state(phase, team)
    assert (now.total_left, now.next_allowed_at) == (0, None)
    assert "5" in now.reason


def test_a_phase_without_a_total_quota_has_no_total_left(phase: Phase, team: Team) -> None:
    phase.quota_total = None
    assert (state(phase, team).total, state(phase, team).total_left) == (None, None)


def test_a_team_may_never_submit_again_to_a_closed_phase(phase: Phase, team: Team) -> None:
    phase.closes_at = NOON - DAY
    now = state(phase, team)
    assert (now.next_allowed_at, bool(now.reason)) == (None, True)


def test_a_team_may_submit_when_a_phase_opens(phase: Phase, team: Team) -> None:
    phase.opens_at = NOON + DAY
    now = state(phase, team)
    assert (now.next_allowed_at, bool(now.reason)) == (NOON + DAY, True)


def test_a_team_that_used_its_quota_on_the_last_day_may_never_submit_again(
    phase: Phase, team: Team, spend: Callable[..., None]
) -> None:
    phase.closes_at = MIDNIGHT - timedelta(hours=1)
    spend("++")
    assert state(phase, team).next_allowed_at is None


def test_quota_is_counted_per_phase_and_team(make: Make, phase: Phase, team: Team, spend: Callable[..., None]) -> None:
    spend("++")
    other = make.phase(phase.challenge, quota_per_day=2)
    assert state(other, team).left == 2
    assert state(phase, make.team(phase.challenge)).left == 2


def test_the_quota_is_computed_by_one_query(
    phase: Phase, team: Team, spend: Callable[..., None], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    spend("++")
    with django_assert_num_queries(1):
        state(phase, team)
