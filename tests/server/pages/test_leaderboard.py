"""The board's page: who stands where, as of when, on which split, and where I am."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from tests.server.page import Page

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
ADDRESS = "/challenges/c/leaderboard"


pytestmark = pytest.mark.phase(challenge={"slug": "c"}, closes_at=NOW + DAY)


def visit(query: str = "", person: Any = None) -> Page:
    client = Client()
    if person:
        client.force_login(person)
    return Page(client.get(ADDRESS + query))


def test_ranks_are_by_exact_score(phase: Any, make: Any, scored: Any) -> None:
    scored(phase, 0.5000001, team=make.team(phase.challenge, name="Second"))
    scored(phase, 0.5000002, team=make.team(phase.challenge, name="First"))
    words = visit().words
    assert "1 First 0.50000" in words
    assert "2 Second 0.50000" in words


def test_the_first_three_have_a_medal(phase: Any, scored: Any) -> None:
    for number in range(4):
        scored(phase, number / 10)
    page = visit()
    assert [len(page.all("svg", class_=f"medal-{rank}")) for rank in (1, 2, 3, 4)] == [1, 1, 1, 0]


def test_a_baseline_is_marked_and_has_no_rank(phase: Any, make: Any, scored: Any) -> None:
    scored(phase, 0.5, team=make.team(phase.challenge, name="Prior", is_baseline=True))
    assert "no rank Prior baseline" in visit().words


def test_my_row_is_marked(phase: Any, make: Any, scored: Any) -> None:
    member = make.user()
    scored(phase, 0.5, team=make.team(phase.challenge, member, name="Owls"))
    scored(phase, 0.4)
    page = visit(person=member)
    assert len(page.all("tr", class_="mine")) == 1
    assert "Owls you" in page.words


def test_intervals_are_drawn_where_there_are_any(phase: Any, scored: Any) -> None:
    scored(phase, 0.5)
    assert "95% interval" not in visit().words
    scored(phase, 0.6, interval=(0.5, 0.7))
    page = visit()
    assert "95% interval" in page.words
    assert page.all("rect", class_="band", x="0.0%", width="100.0%")


def test_baselines_do_not_widen_the_range(phase: Any, make: Any, scored: Any) -> None:
    scored(phase, 0.6, interval=(0.5, 0.7))
    scored(phase, 0.1, interval=(0.0, 0.2), team=make.team(phase.challenge, is_baseline=True))
    assert visit().all("rect", class_="band", x="0.0%", width="100.0%")


def test_a_tie_is_a_bracket_and_words(phase: Any, make: Any, replicated: Any) -> None:
    replicated(phase, [0.5, 0.25], team=make.team(phase.challenge, name="A"))
    assert "differ significantly" not in visit().words
    replicated(phase, [0.25, 0.4], team=make.team(phase.challenge, name="B"))
    page = visit()
    assert len(page.all("tr", class_="tied")) == 1
    assert "2 (not significantly different from the team above) B" in page.words
    assert "do not differ significantly in a paired bootstrap test" in page.words


def test_a_row_without_replicates_does_not_look_told_apart(phase: Any, make: Any, replicated: Any, scored: Any) -> None:
    replicated(phase, [0.5, 0.25], team=make.team(phase.challenge, name="A"))
    scored(phase, 0.3, team=make.team(phase.challenge, name="B"))
    page = visit()
    assert len(page.all("tr", class_="untested")) == 1
    assert "2 (not compared with the team above yet) B" in page.words
    assert "A dotted line means that two teams have not been compared yet." in page.words


def test_a_bracket_runs_through_a_baseline(phase: Any, make: Any, replicated: Any) -> None:
    replicated(phase, [0.5, 0.25], team=make.team(phase.challenge, name="A"))
    replicated(phase, [0.36, 0.36], team=make.team(phase.challenge, name="Guess", is_baseline=True))
    replicated(phase, [0.25, 0.4], team=make.team(phase.challenge, name="B"))
    page = visit()
    assert len(page.all("tr", class_="tied")) == 2
    assert page.words.count("not significantly different from the team above") == 1


def test_an_empty_board_says_what_to_do(phase: Any) -> None:
    assert "No team has a score yet." in visit().words


def test_the_board_of_an_earlier_time(phase: Any, make: Any, scored: Any) -> None:
    scored(phase, 0.5, team=make.team(phase.challenge, name="Early"), at=NOW - 3 * DAY)
    scored(phase, 0.6, team=make.team(phase.challenge, name="Late"), at=NOW - DAY)
    words = visit(f"?at={NOW - 2 * DAY:%Y-%m-%dT%H:%M}").words
    assert "1 Early" in words
    assert "Late" not in words
    assert "This leaderboard was empty" in visit("?at=2001-01-01T00:00").words


def test_without_private_images_there_is_no_switch(phase: Any, scored: Any) -> None:
    scored(phase, 0.5)
    page = visit()
    assert not page.all("span", class_="switch")
    assert "private leaderboard" not in page.words


def test_before_the_end_the_private_board_is_announced(phase: Any, scored: Any) -> None:
    scored(phase, 0.5, private=0.4)
    page = visit()
    assert not page.all("span", class_="switch")
    assert "the private leaderboard, which decides" in page.words


def test_after_the_end_there_is_a_switch(make: Any, scored: Any) -> None:
    phase = make.phase(make.challenge(slug="c"), closes_at=NOW - DAY)
    scored(phase, 0.5, private=0.4)
    assert "?split=private" in visit().links()
    assert "0.40000" in visit("?split=private").words


def test_a_refused_split_says_when_it_opens(phase: Any) -> None:
    page = visit("?split=private")
    assert page.status == 403
    assert "forbidden" in page.words
    assert "opens when the phase is over" in page.words


@pytest.mark.parametrize("query", ["?at=nonsense", "?page=-1", "?page=999", "?split=nonsense", "?at=%00"])
def test_nonsense_in_the_address_does_no_harm(query: str, phase: Any, scored: Any) -> None:
    scored(phase, 0.5)
    assert "0.50000" in visit(query).words


@pytest.fixture
def long_board(phase: Any, make: Any, scored: Any) -> Any:
    for number in range(102):
        scored(phase, 1 - number / 1000)
    member = make.user()
    scored(phase, 0.1, team=make.team(phase.challenge, member, name="Last ones"))
    return member


def test_a_hundred_stand_on_a_page(long_board: Any) -> None:
    page = visit()
    assert "1–100 of 103" in page.words
    assert "?split=public&page=2" in page.links()
    assert "Last ones" not in page.words


def test_my_row_is_pinned_where_it_is_on_another_page(long_board: Any) -> None:
    first = visit(person=long_board)
    assert "103 Last ones you Go to entry" in first.words
    assert len(visit("?page=2", person=long_board).all("tr", class_="mine")) == 1


def test_the_csv_has_every_row_and_every_digit(phase: Any, make: Any, scored: Any, client: Client) -> None:
    scored(phase, 0.8618052665698489, team=make.team(phase.challenge, name="=1+1"))
    response = client.get(f"{ADDRESS}.csv")
    assert response["Content-Disposition"] == f'attachment; filename="c-{phase.slug}-public.csv"'
    assert "1,'=1+1,0.8618052665698489," in response.content.decode()


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00%2B14:00"])
def test_a_time_beyond_either_end_is_dropped(phase: Any, at: str) -> None:
    assert visit(f"?at={at}").status == 200


def test_the_first_year_stays_in_the_links_of_its_board(phase: Any, scored: Any) -> None:
    scored(phase, 0.5, private=0.4)
    assert any("at=0001-01-01T00%3A00%3A00" in link for link in visit("?at=0001-01-01T00:00").links())
