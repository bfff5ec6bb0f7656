"""Tests the marks on the leaderboard page that show what has changed in the past week."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Phase
from server.pages import challenge_context
from tests.conftest import Make, compare_boards
from tests.server.conftest import Scored
from tests.server.page import Page

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
LONG_AGO = NOW - 20 * DAY
ADDRESS = "/challenges/c/leaderboard"

pytestmark = pytest.mark.phase(challenge={"slug": "c", "opens_at": NOW - 30 * DAY}, closes_at=NOW + DAY)


@pytest.fixture
def teams(phase: Phase, make: Make, scored: Scored) -> dict[str, Any]:
    found = {name: make.team(phase.challenge, name=name) for name in ("First", "Second", "Third")}
    for team, score in zip(found.values(), (0.75, 0.5, 0.25), strict=True):
        scored(phase, score, private=1 - score, team=team, at=LONG_AGO)
    return found


def visit(query: str = "", person: User | None = None) -> Page:
    client = Client()
    if person:
        client.force_login(person)
    return Page(client.get(ADDRESS + query))


def titles(page: Page) -> list[str]:
    return [found["title"] for found in page.all("span", class_="change")]


def test_without_changes_there_are_no_marks(teams: dict[str, Any]) -> None:
    page = visit()
    assert not titles(page)
    assert not page.context["listed"].has_changes


def test_ranks_gained_and_lost_are_marked_with_arrow_and_words(
    phase: Phase, teams: dict[str, Any], scored: Scored
) -> None:
    scored(phase, 0.875, team=teams["Third"])
    page = visit()
    assert "1 Third 2 ranks up 0.87500" in page.words
    assert "2 First 1 rank down 0.75000" in page.words
    assert (len(page.all("svg", class_="up")), len(page.all("svg", class_="down"))) == (1, 2)
    assert titles(page)[0].endswith(", 1 now; score better by 0.625")


def test_a_better_score_of_the_same_rank_is_marked(phase: Phase, teams: dict[str, Any], scored: Scored) -> None:
    scored(phase, 0.8, team=teams["First"])
    page = visit()
    assert "1 First +0.050 0.80000" in page.words
    assert len(titles(page)) == 1


def test_the_mark_of_a_better_score_has_the_half_width_of_its_interval(
    phase: Phase, make: Make, replicated: Any
) -> None:
    team = make.team(phase.challenge)
    replicated(phase, [0.5, 0.5], team=team, at=LONG_AGO)
    replicated(phase, [0.509, 0.515], team=team)
    compare_boards()
    page = visit()
    assert "+0.012 ± 0.003" in page.words
    assert titles(page)[0].endswith("better by 0.012 ± 0.003 (95% interval of the difference: 0.0091 to 0.0149)")


def test_a_new_team_is_marked(phase: Phase, teams: dict[str, Any], make: Make, scored: Scored) -> None:
    scored(phase, 0.1, team=make.team(phase.challenge, name="Fourth"))
    assert "4 Fourth new 0.10000" in visit().words


def test_the_viewers_row_and_the_pinned_row_are_marked(phase: Phase, teams: dict[str, Any], scored: Scored) -> None:
    for number in range(100):
        scored(phase, 0.6 + number / 1000)
    page = visit(person=teams["Third"].memberships.get().user)
    assert page.context["pinned"].row.earlier.rank == 3
    assert "Third you 100 ranks down Go to entry" in page.words


def test_when_the_phase_is_over_private_ranks_are_compared_with_public_ones(
    phase: Phase, teams: dict[str, Any]
) -> None:
    phase.closes_at = NOW - DAY
    phase.save()
    page = visit("?split=private")
    assert "1 Third 2 ranks up" in page.words
    assert titles(page)[0] == "Rank 3 on the public leaderboard, 1 on the private leaderboard"
    assert not titles(visit("?split=private&at=2026-01-01T00:00"))


def test_a_page_cached_yesterday_is_not_used_today(
    teams: dict[str, Any], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Marks compare ranks with those of a week ago, so a page can change overnight even if no entry changes."""
    tag, read = client.get(ADDRESS)["ETag"], challenge_context.read_with_boards
    assert client.get(ADDRESS, headers={"If-None-Match": tag}).status_code == 304

    def read_tomorrow(user: Any, slug: str) -> Any:
        found = read(user, slug)
        return found and replace(found, now=found.now + DAY)

    monkeypatch.setattr(challenge_context, "read_with_boards", read_tomorrow)
    assert client.get(ADDRESS, headers={"If-None-Match": tag}).status_code == 200
