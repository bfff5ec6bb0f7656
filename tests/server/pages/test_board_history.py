"""Tests the pages about a leaderboard's history: the slider for earlier days, and the page with the chart."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from server.accounts.models import User
from server.challenges.disqualification import disqualify
from server.challenges.models import Phase
from server.leaderboards.models import Entry
from tests.conftest import Make
from tests.server.conftest import Scored, refresh_boards
from tests.server.page import Page

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)
BOARD, HISTORY = "/challenges/c/leaderboard", "/challenges/c/leaderboard/history"

pytestmark = pytest.mark.phase(challenge={"slug": "c", "opens_at": FIRST - DAY}, closes_at=NOW + DAY)


def visit(address: str, person: User | None = None) -> Page:
    client = Client()
    if person:
        client.force_login(person)
    return Page(client.get(address))


@pytest.fixture
def two(phase: Phase, make: Make, scored: Scored) -> dict[str, Any]:
    """Create two teams. Team B is ranked first from the third day on."""
    teams = {name: make.team(phase.challenge, name=name) for name in ("A", "B")}
    for name, public, day in (("A", 0.5, 0), ("B", 0.25, 1), ("B", 0.75, 3)):
        scored(phase, public, private=1 - public, team=teams[name], at=FIRST + day * DAY)
    return teams


def slider(query: str = "") -> dict[str, str]:
    (found,) = visit(BOARD + query).all("input", type="range")
    return found


def test_the_slider_has_the_days_with_changes_and_the_present(two: dict[str, Any]) -> None:
    found = slider()
    assert found["data-days"] == "2026-03-01 2026-03-02 2026-03-04"
    assert (found["min"], found["max"], found["value"], found["aria-valuetext"]) == ("0", "3", "3", "Now")


@pytest.mark.parametrize(
    ("at", "value", "text"),
    [
        ("2026-03-02T23:59:59", "1", "2 Mar 2026"),
        ("2026-03-03T10:00", "1", "3 Mar 2026"),
        ("2026-02-01T00:00", "0", "1 Feb 2026"),
        ("2199-01-01T00:00", "3", "Now"),
    ],
)
def test_the_slider_is_at_the_last_change_before_the_shown_time(
    two: dict[str, Any], at: str, value: str, text: str
) -> None:
    found = slider(f"?at={at}")
    assert (found["value"], found["aria-valuetext"]) == (value, text)


def test_without_scripts_the_slider_is_hidden_and_the_date_field_is_not(two: dict[str, Any]) -> None:
    page = visit(f"{BOARD}?at=2026-03-02T23:59:59")
    assert "hidden" in page.all("div", class_="day-slider")[0]
    assert page.all("input", type="datetime-local", value="2026-03-02T23:59:59")


def test_without_changes_before_today_there_is_no_slider(phase: Phase, scored: Scored) -> None:
    scored(phase, 0.5)
    assert not visit(BOARD).all("input", type="range")


def levels(page: Page, number: int) -> str:
    """Return the SVG path of a team's line in the chart. `number` is the index of the team in the legend.

    The lines are drawn in the reverse order of the legend.
    """
    drawn = [found["d"] for found in page.all("path", class_="levels") if "H1000" in found["d"]]
    return drawn[::-1][number]


def table(page: Page) -> list[list[str]]:
    return [texts for _, texts in page_chart(page).table_rows]


def page_chart(page: Page) -> Any:
    return page.context["chart"]


def test_a_chart_of_scores_has_a_step_for_each_change(two: dict[str, Any]) -> None:
    page = visit(HISTORY)
    assert levels(page, 0) == "M323.3 308H970M970 12H1000"
    assert levels(page, 1) == "M0 160H1000"
    assert table(page) == [["", "0.25000", "0.75000"], ["0.50000", "0.50000", "0.50000"]]


def test_a_chart_of_ranks_has_ranks(two: dict[str, Any]) -> None:
    page = visit(f"{HISTORY}?chart=rank")
    assert table(page) == [["", "2", "1"], ["1", "1", "2"]]
    assert levels(page, 1) == "M0 12H970M970 308H1000"


def test_the_table_links_to_the_leaderboard_of_each_time(two: dict[str, Any]) -> None:
    links = [link for link in visit(HISTORY).links() if "at=" in link]
    assert links == [f"{BOARD}?split=public&at=2026-03-0{day}T12%3A00%3A00" for day in (1, 2, 4)]
    for link, names in zip(links, ("A", "AB", "BA"), strict=True):
        assert "".join(row.team for row in visit(link).context["listed"].rows) == names


def test_a_line_has_a_gap_while_a_team_is_not_listed(phase: Phase, make: Make, scored: Scored) -> None:
    team = make.team(phase.challenge)
    scored(phase, 0.5, at=FIRST)
    for day in (0, 8):
        scored(phase, 0.25 + day / 16, team=team, at=FIRST + day * DAY)
    Entry.objects.filter(team=team, valid_until=FIRST + 8 * DAY).update(valid_until=FIRST + 4 * DAY)
    page = visit(HISTORY)
    assert levels(page, 0) == "M0 308H485M970 12H1000"


def test_more_than_ten_teams_are_drawn_only_if_they_are_chosen(phase: Phase, make: Make, scored: Scored) -> None:
    mine = make.user()
    for number in range(13):
        people = [mine] if number == 1 else []
        team = make.team(phase.challenge, *people, name=f"Team {number}")
        scored(phase, number / 20, team=team, at=FIRST + number * DAY)
    names = [f"Team {number}" for number in range(12, 2, -1)]

    def drawn(query: str = "", person: User | None = None) -> list[str]:
        return [line.listed.row.team for line in page_chart(visit(HISTORY + query, person)).lines]

    assert drawn() == names
    assert drawn("?team=Team+0&team=Team+5") == [*names, "Team 0"]
    assert drawn(person=mine) == [*names, "Team 1"]


def test_a_team_without_an_entry_is_named(phase: Phase, two: dict[str, Any]) -> None:
    disqualify(team=two["A"], by=None, reason="Two accounts")
    page = visit(f"{HISTORY}?team=A&team=Nobody")
    assert page.context["missing"] == ["A", "Nobody"]
    assert [line.listed.row.team for line in page_chart(page).lines] == ["B"]


def test_a_name_with_a_zero_byte_is_ignored(two: dict[str, Any]) -> None:
    assert visit(f"{HISTORY}?team=%00A&chart=%00").context["missing"] == []


def test_team_names_link_to_the_page_of_the_team_which_links_to_its_history(
    phase: Phase, make: Make, scored: Scored
) -> None:
    team = make.team(phase.challenge, name="A & Ä/?")
    scored(phase, 0.5, team=team, at=FIRST)
    assert f"/challenges/c/teams/{team.pk}" in visit(BOARD).links()
    page = visit(f"/challenges/c/teams/{team.pk}")
    (link,) = [link for link in page.links() if link.startswith(HISTORY) and "team=" in link]
    assert [line.listed.is_picked for line in page_chart(visit(link)).lines] == [True]


def test_before_the_end_the_private_history_is_refused(two: dict[str, Any], make: Make, phase: Phase) -> None:
    organizer = make.user()
    phase.challenge.organizers.add(organizer)
    assert visit(f"{HISTORY}?split=private").status == 403
    assert visit(f"{HISTORY}?split=private", organizer).status == 200


def test_after_the_end_the_private_history_is_shown(two: dict[str, Any], phase: Phase) -> None:
    phase.closes_at = NOW - DAY
    phase.save()
    page = visit(f"{HISTORY}?split=private")
    assert [line.listed.row.team for line in page_chart(page).lines] == ["B", "A"]
    assert "?split=all&chart=score" in page.links()


@pytest.mark.phase(feedback="ladder")
def test_ladder_feedback_shows_only_the_history_of_published_scores(phase: Phase, make: Make, scored: Scored) -> None:
    team, organizer = make.team(phase.challenge), make.user()
    phase.challenge.organizers.add(organizer)
    evaluation = scored(phase, 0.5, team=team, at=FIRST).evaluations.get()
    scored(phase, 0.75, team=team, at=FIRST + 20 * DAY)
    evaluation.published = evaluation
    evaluation.save()
    refresh_boards()
    assert table(visit(HISTORY)) == [["0.50000"]]
    assert not visit(HISTORY).context["improvements"]
    assert "0.75000" in " ".join(table(visit(HISTORY, organizer))[0])


@pytest.mark.phase(feedback="rounded", feedback_decimals=2)
def test_rounded_feedback_rounds_the_chart(two: dict[str, Any]) -> None:
    assert table(visit(HISTORY))[1] == ["0.50"] * 3


@pytest.mark.parametrize("chart", ["score", "rank"])
@pytest.mark.parametrize("events", [0, 1, 3, 200])
def test_a_chart_of_any_number_of_changes_is_drawn(
    phase: Phase, make: Make, scored: Scored, chart: str, events: int
) -> None:
    team = make.team(phase.challenge)
    for number in range(events):
        scored(phase, 0.1 + number / 500, team=team, at=FIRST + number * timedelta(hours=7))
    page = visit(f"{HISTORY}?chart={chart}")
    assert page.status == 200
    assert len(page.all("rect", class_="band")) == events
    if not events:
        assert page.all("div", class_="empty")


def test_a_first_score_of_zero_does_not_compress_the_chart(phase: Phase, make: Make, scored: Scored) -> None:
    team = make.team(phase.challenge)
    scored(phase, 0.0, team=team, at=FIRST)
    for number in range(12):
        scored(phase, 0.8 + number / 1000, team=team, at=FIRST + (number + 1) * DAY)
    chart = page_chart(visit(HISTORY))
    assert chart.is_cut
    assert all(float(text) >= 0.8 for _, text in chart.y_ticks)


def test_a_new_best_score_is_not_cut_off(phase: Phase, make: Make, scored: Scored) -> None:
    """The chart does not treat a new best score as an outlier, although it has been shown for only a short time."""
    for number, score in enumerate((0.33, 0.45, 0.65)):
        scored(phase, score, team=make.team(phase.challenge), at=FIRST + number * DAY)
    chart = page_chart(visit(HISTORY))
    best, second, third = (line.end for line in chart.lines)
    assert best < second < third
    assert not chart.is_cut
