"""A team that is removed also disappears from a frozen leaderboard, until it is reinstated."""

from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import caches
from django.test import Client

from server.accounts.models import User
from server.challenges import disqualification
from server.challenges.models import Phase, Removal, Team
from server.clock import database_now
from server.leaderboards.event_days import event_days
from server.leaderboards.models import BoardTerms
from server.leaderboards.periods import periods, spans
from server.leaderboards.queries import board
from server.leaderboards.removals import outside
from server.leaderboards.standings import standing
from server.submissions.feedback import score_access
from server.submissions.models import Submission
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.documented import Api

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
pytestmark = [pytest.mark.phase(challenge={"slug": "c"}, slug="main")]
PATH = "challenges/c/phases/main/leaderboard"
WITH, WITHOUT = [("Bats", 1), ("Owls", 2), ("Crows", 3)], [("Bats", 1), ("Crows", 2)]


@pytest.fixture
def owls(phase: Phase, make: Make, scored: Scored) -> Team:
    """Return the second of three teams on a leaderboard that was frozen two days ago. The team has improved since."""
    now = database_now()
    found = {name: make.team(phase.challenge, name=name) for name in ("Bats", "Owls", "Crows")}
    for number, team in enumerate(found.values()):
        scored(phase, 0.75 - number / 4, team=team, private=0.5, at=now - 5 * DAY)
    phase.freeze_at = now - 2 * DAY
    phase.save()
    BoardTerms.objects.exclude(freeze_at=None).update(since=now - 3 * DAY)
    scored(phase, 0.9, team=found["Owls"], private=0.5, at=now - HOUR)
    return found["Owls"]


def shown(phase: Phase, at: datetime | None = None) -> list[tuple[str, int | None]]:
    found = Phase.objects.select_related("challenge").get(pk=phase.pk)
    seen = board(found, split="public", at=at, viewer=AnonymousUser())
    rows = [(row.team, row.rank) for row in seen.rows]
    assert rows == [(row.team, row.rank) for row in seen.page(0, 100)]
    assert (seen.count, seen.teams) == (len(rows), len(rows))
    return rows


def test_a_disqualified_team_disappears_from_the_frozen_leaderboard_and_returns(phase: Phase, owls: Team) -> None:
    before = database_now()
    assert shown(phase) == WITH
    disqualification.disqualify(team=owls, by=None, reason="Two accounts", show=False)
    during = database_now()
    assert shown(phase) == WITHOUT
    disqualification.reinstate(team=owls, by=None)
    for at, expected in ((None, WITH), (during, WITHOUT), (before, WITH), (before - DAY, WITH)):
        assert shown(phase, at) == expected


def test_the_past_stays_what_was_served_after_the_end_of_the_phase(phase: Phase, owls: Team) -> None:
    disqualification.disqualify(team=owls, by=None, reason="Two accounts")
    now = database_now()
    Removal.objects.update(removed_at=now - DAY)
    Phase.objects.filter(pk=phase.pk).update(closes_at=now - HOUR / 2)
    assert shown(phase, now - DAY - HOUR) == WITH
    assert shown(phase, now - DAY + HOUR) == WITHOUT


def test_a_removed_baseline_disappears_too(phase: Phase, owls: Team) -> None:
    Team.objects.filter(pk=owls.pk).update(is_baseline=True)
    disqualification.remove_baseline(team=owls, by=None)
    assert shown(phase) == WITHOUT
    disqualification.put_back_baseline(team=owls, by=None)
    assert ("Owls", 2) in shown(phase)


def test_pages_and_the_api_omit_the_team(phase: Phase, owls: Team, client: Client, api: Api, make: Make) -> None:
    tag = client.get("/challenges/c/leaderboard").headers["ETag"]
    disqualification.disqualify(team=owls, by=None, reason="Two accounts")
    caches["history"].clear()
    caches["boards"].clear()
    answer = client.get("/challenges/c/leaderboard", headers={"If-None-Match": tag})
    assert (answer.status_code, b"Owls" in answer.content) == (200, False)
    found = api.get(PATH).json()
    assert [row["team"] for row in found["results"]] == ["Bats", "Crows"]
    for address in ("/challenges/c/", "/challenges/c/leaderboard.csv", "/challenges/c/leaderboard?sort=mAP"):
        assert b"Owls" not in b"".join(client.get(address))


def test_other_teams_move_up_on_every_page(phase: Phase, owls: Team, api: Api) -> None:
    crows = Team.objects.get(name="Crows")
    disqualification.disqualify(team=owls, by=None, reason="Two accounts")
    one = Submission.objects.select_related("phase__challenge", "team").get(team=crows)
    found = standing(one, now=database_now())
    assert (found.rank, found.entry is not None and found.entry.without) == (2, [owls.pk])
    gone = Submission.objects.select_related("phase__challenge", "team").filter(team=owls).earliest("received_at")
    assert "disqualified" in standing(gone, now=database_now()).why_not
    captain: User = crows.memberships.get().user
    me = api.get(PATH, user=captain).json()["me"]
    assert (me["rank"], me["score"]) == (2, 0.25)


def test_the_history_ends_and_continues_with_the_removal(phase: Phase, owls: Team) -> None:
    disqualification.disqualify(team=owls, by=None, reason="Two accounts")
    disqualification.reinstate(team=owls, by=None)
    now, frozen = database_now(), Phase.objects.select_related("challenge").get(pk=phase.pk)
    first, last = now - DAY, now - HOUR
    Removal.objects.update(removed_at=first, returned_at=last)
    access = score_access(frozen, viewer=AnonymousUser(), now=now)
    found = sorted(
        (span.since, span.until)
        for span in spans(periods(frozen, split="public", access=access, now=now), teams=[owls.pk])
    )
    assert found[-2][1] == first
    assert found[-1] == (last, None)
    caches["history"].clear()
    assert first.date() in event_days(frozen, split="public", access=access, now=now)


def test_the_parts_outside_of_several_periods() -> None:
    start = datetime(2026, 1, 1)
    days = [start + number * DAY for number in range(10)]
    assert list(outside(days[0], None, [])) == [(days[0], None)]
    assert list(outside(days[2], days[5], [(days[0], None)])) == []
    assert list(outside(days[2], days[5], [(days[0], days[3]), (days[4], None)])) == [(days[3], days[4])]
    assert list(outside(days[2], days[5], [(days[7], days[8])])) == [(days[2], days[5])]
    assert list(outside(days[0], None, [(days[1], days[2])])) == [(days[0], days[1]), (days[2], None)]
