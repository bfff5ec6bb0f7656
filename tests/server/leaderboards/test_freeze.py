"""While a leaderboard is frozen, pages and the API reveal only to organizers how it has changed."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import caches
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.clock import database_now
from server.leaderboards.models import BoardTerms
from server.leaderboards.periods import periods, spans
from server.leaderboards.queries import board, board_seen
from server.leaderboards.standings import standing
from server.leaderboards.validators import entity_tag
from server.notices.models import Notice
from server.notices.services import deriving
from server.submissions.feedback import score_access
from server.submissions.models import Submission
from tests.conftest import Make, compare_boards
from tests.server.conftest import Scored
from tests.server.documented import Api, content_of
from tests.server.page import Page

HOUR = timedelta(hours=1)
pytestmark = [pytest.mark.phase(challenge={"slug": "c"}, slug="main")]


@pytest.fixture
def organizer(phase: Phase, make: Make) -> User:
    user = make.user()
    phase.challenge.organizers.add(user)
    return user


@pytest.fixture
def teams(phase: Phase, team: Team, make: Make, scored: Scored) -> list[Team]:
    """Return four teams of a frozen leaderboard.

    When the leaderboard was frozen, `team` ranked second of three teams. Since then, the third team has improved and
    the fourth team has joined.
    """
    now = database_now()
    others = [make.team(phase.challenge, name=name) for name in ("Owls", "Bats", "Newcomers")]
    scored(phase, 0.75, team=others[0], private=0.1, at=now - 5 * HOUR)
    scored(phase, 0.5, team=team, private=0.2, at=now - 5 * HOUR)
    scored(phase, 0.25, team=others[1], private=0.3, at=now - 5 * HOUR)
    phase.freeze_at = now - 2 * HOUR
    phase.save()
    # By default, a freeze applies from the time at which it is configured. Simulate one that was configured an hour
    # before it began.
    BoardTerms.objects.exclude(freeze_at=None).update(since=now - 3 * HOUR)
    scored(phase, 0.875, team=others[1], private=0.9, at=now - HOUR)
    scored(phase, 0.625, team=others[2], private=0.8, at=now - HOUR)
    compare_boards()
    return [team, *others]


def shown(phase: Phase, viewer: Any, at: datetime | None = None) -> list[tuple[int | None, float]]:
    found = Phase.objects.select_related("challenge").get(pk=phase.pk)
    return [(row.rank, row.score) for row in board(found, split="public", at=at, viewer=viewer).rows]


FROZEN = [(1, 0.75), (2, 0.5), (3, 0.25)]
CURRENT = [(1, 0.875), (2, 0.75), (3, 0.625), (4, 0.5)]
ANYBODY = AnonymousUser()


@pytest.mark.usefixtures("teams")
def test_participants_see_the_entries_of_the_freeze_and_organizers_the_current_ones(
    phase: Phase, member: User, organizer: User
) -> None:
    now = database_now()
    for at in (None, now - HOUR / 2, now - 2 * HOUR):
        assert shown(phase, member, at) == shown(phase, ANYBODY, at) == FROZEN
    assert shown(phase, organizer) == CURRENT


@pytest.mark.usefixtures("teams")
def test_the_end_of_the_phase_lifts_the_freeze_and_the_past_stays_frozen(phase: Phase, member: User) -> None:
    now = database_now()
    Phase.objects.filter(pk=phase.pk).update(closes_at=now - timedelta(minutes=1))
    assert shown(phase, member) == CURRENT
    assert shown(phase, member, now - timedelta(minutes=5)) == FROZEN


def test_a_freeze_that_is_moved_shows_the_entries_of_its_new_time_and_earlier_views_stay(
    phase: Phase, teams: list[Team], member: User, scored: Scored
) -> None:
    now = database_now()
    later = scored(phase, 0.8125, team=teams[0], at=now - 1.5 * HOUR)
    found = Phase.objects.select_related("challenge").get(pk=phase.pk)
    found.freeze_at = now - 1.25 * HOUR
    found.save()
    BoardTerms.objects.filter(freeze_at=found.freeze_at).update(since=now - HOUR / 2)
    moved = [(1, 0.8125), (2, 0.75), (3, 0.25)]
    for at in (None, now - HOUR / 4):
        assert shown(phase, member, at) == shown(phase, ANYBODY, at) == moved
    for at in (now - HOUR, now - 1.4 * HOUR):
        assert shown(phase, member, at) == FROZEN
    assert standing(Submission.objects.get(pk=later.pk), now=now).rank == 1
    access = score_access(found, viewer=ANYBODY, now=now)
    of_team = spans(periods(found, split="public", access=access, now=database_now()), teams=[teams[0].pk])
    assert [(one.score, one.until) for one in of_team][-2:] == [(0.5, now - HOUR / 2), (0.8125, None)]


@pytest.mark.usefixtures("teams")
@pytest.mark.parametrize(
    "address",
    [
        *("/challenges/c/", "/challenges/c/leaderboard", "/challenges/c/leaderboard?sort=mAP"),
        *("/challenges/c/leaderboard.csv", "/challenges/c/leaderboard/history", "/challenges/c/leaderboard/compare"),
        *("/challenges/c/leaderboard/history?chart=rank&team=Newcomers", "/challenges/c/leaderboard?baselines=hide"),
        *("/api/v1/challenges/c/phases/main/leaderboard", "/api/v1/challenges/c/phases/main/leaderboard?format=csv"),
        *("/api/v1/challenges/c/phases/main/leaderboard?all=1", "/api/v1/challenges/c/phases/main/leaderboard/history"),
    ],
)
def test_no_page_contains_a_later_score_or_the_name_of_a_new_team(address: str, client: Client) -> None:
    for browser in (client, Client()):
        caches["history"].clear()
        answer = browser.get(address)
        text = re.sub(r"</?(b|span|i|strong)\b[^>]*>", "", content_of(answer).decode())
        assert answer.status_code == 200
        assert not [word for word in ("0.875", "0.625") if word in text]
        # The form on the history page repeats a team name from the URL, even if the team joined after the freeze.
        assert "team=Newcomers" in address or "Newcomers" not in text
        assert "0.75" in text


@pytest.mark.usefixtures("team")
def test_entity_tags_do_not_reveal_that_the_leaderboard_has_changed(
    phase: Phase, teams: list[Team], scored: Scored
) -> None:
    now, found = database_now(), Phase.objects.select_related("challenge").get(pk=phase.pk)

    def tags() -> list[str]:
        access = score_access(found, viewer=ANYBODY, now=now)
        times = (None, now - 3 * HOUR, now - HOUR)
        return [entity_tag(board_seen(found, split="public", at=at, access=access, now=now)) for at in times]

    before = tags()
    scored(phase, 0.9, team=teams[0])
    assert tags() == before


def test_the_page_of_a_team_that_appeared_later_does_not_exist(
    phase: Phase, teams: list[Team], organizer: User, client: Client
) -> None:
    address = f"/challenges/c/teams/{teams[3].pk}"
    assert client.get(address).status_code == 404
    words = Page(client.get(f"/challenges/c/teams/{teams[2].pk}")).words
    assert "0.25" in words
    assert "0.875" not in words
    client.force_login(organizer)
    assert client.get(address).status_code == 200


def test_a_team_sees_its_own_later_score_but_no_later_rank(
    phase: Phase, teams: list[Team], scored: Scored, member: User, client: Client, api: Api
) -> None:
    one = scored(phase, 0.9, team=teams[0])
    found = api.get(f"submissions/{one.pk}", user=member).json()
    assert found["scores"]["public"]["mAP"] == 0.9
    assert (found["on_board"], found["rank"]) == (False, None)
    assert "frozen" in found["why_not"]
    assert "frozen" in Page(client.get(f"/submissions/{one.pk}/")).words
    others = Submission.objects.select_related("phase__challenge", "team").exclude(pk=one.pk)
    earlier = others.get(team=teams[0])
    of_earlier = standing(
        Submission.objects.select_related("phase__challenge", "team").get(pk=earlier.pk), now=database_now()
    )
    assert (of_earlier.rank, of_earlier.rank_interval) == (2, None)
    me = api.get("challenges/c/phases/main/leaderboard", user=member).json()
    assert (me["frozen"], me["me"]["rank"], me["me"]["score"]) == (True, 2, 0.5)


@pytest.mark.usefixtures("teams")
def test_the_front_page_shows_the_rank_of_the_freeze(client: Client) -> None:
    assert "rank 2" in Page(client.get("/")).words


def test_no_notice_tells_that_a_team_has_left_the_top_three(
    phase: Phase, teams: list[Team], scored: Scored, make: Make, member: User
) -> None:
    deriving.derive()
    for number in range(3):
        scored(phase, 0.9 + number / 100, team=make.team(phase.challenge))
    deriving.derive()
    assert not Notice.objects.filter(event__kind="overtaken").exists()
