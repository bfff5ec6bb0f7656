"""Tests the leaderboard page: ranks, ties, splits, earlier times, and the viewer's own entry."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Phase
from server.submissions.models import Submission
from tests.conftest import Make, compare_boards
from tests.server.conftest import Scored
from tests.server.documented import content_of
from tests.server.page import Page

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
ADDRESS = "/challenges/c/leaderboard"


pytestmark = pytest.mark.phase(challenge={"slug": "c"}, closes_at=NOW + DAY)


def visit(query: str = "", person: User = None) -> Page:
    client = Client()
    if person:
        client.force_login(person)
    return Page(client.get(ADDRESS + query))


def test_ranks_are_determined_by_exact_scores(phase: Phase, make: Make, scored: Scored) -> None:
    scored(phase, 0.5000001, team=make.team(phase.challenge, name="Second"))
    scored(phase, 0.5000002, team=make.team(phase.challenge, name="First"))
    words = visit().words
    assert "1 First 0.50000" in words
    assert "2 Second 0.50000" in words


def test_the_first_three_ranks_have_a_medal(phase: Phase, scored: Scored) -> None:
    for number in range(4):
        scored(phase, number / 10)
    page = visit()
    assert [len(page.all("svg", class_=f"medal-{rank}")) for rank in (1, 2, 3, 4)] == [1, 1, 1, 0]


def test_a_baseline_is_marked_and_has_no_rank(phase: Phase, make: Make, scored: Scored) -> None:
    scored(phase, 0.5, team=make.team(phase.challenge, name="Prior", is_baseline=True))
    assert "no rank Prior baseline" in visit().words


def test_the_entry_of_the_viewers_team_is_marked(phase: Phase, make: Make, scored: Scored) -> None:
    member = make.user()
    scored(phase, 0.5, team=make.team(phase.challenge, member, name="Owls"))
    scored(phase, 0.4)
    page = visit(person=member)
    assert len(page.all("tr", class_="mine")) == 1
    assert "Owls you" in page.words


def test_a_member_sees_the_rank_of_their_team_and_the_next_rank(
    phase: Phase, make: Make, replicated: Callable[..., Submission]
) -> None:
    member = make.user()
    replicated(phase, [0.5, 0.75])
    replicated(phase, [0.25, 0.5], team=make.team(phase.challenge, member))
    words = visit(person=member).words
    assert "Your team is ranked 2 of 2 (top 100%). The score at rank 1 is higher by 0.25000" in words
    compare_boards()
    words = visit(person=member).words
    assert "0.25000 , a significant difference." in words
    assert "Your team is ranked" not in visit().words


@pytest.mark.phase(feedback="rounded", feedback_decimals=3)
def test_a_gap_that_rounding_hides_is_less_than_the_last_decimal(phase: Phase, make: Make, scored: Scored) -> None:
    member = make.user()
    scored(phase, 0.7504)
    scored(phase, 0.7496, team=make.team(phase.challenge, member))
    assert "The score at rank 1 is higher by less than 0.001." in visit(person=member).words


def test_intervals_are_drawn_if_there_are_any(phase: Phase, scored: Scored) -> None:
    scored(phase, 0.5)
    assert not visit().all("td", class_="interval-cell")
    scored(phase, 0.6, interval=(0.5, 0.7))
    page = visit()
    assert len(page.all("td", class_="interval-cell")) == 2
    assert page.all("rect", class_="band", x="0.0%", width="100.0%")


def test_baselines_do_not_widen_the_range(phase: Phase, make: Make, scored: Scored) -> None:
    scored(phase, 0.6, interval=(0.5, 0.7))
    scored(phase, 0.1, interval=(0.0, 0.2), team=make.team(phase.challenge, is_baseline=True))
    assert visit().all("rect", class_="band", x="0.0%", width="100.0%")


def bands(page: Page) -> list[tuple[float, float]]:
    """Return the left end and the width of each interval's band, as percentages of the axis width."""
    found = page.all("rect", class_="band")
    return [(float(band["x"].rstrip("%")), float(band["width"].rstrip("%"))) for band in found]


@pytest.mark.parametrize("rows", [4, 8, 100])
def test_an_outlier_does_not_squeeze_the_intervals_of_other_entries(rows: int, phase: Phase, scored: Scored) -> None:
    """The axis does not extend to the interval of the outlier. Instead, an arrow points in its direction."""
    for number in range(rows - 1):
        scored(phase, 0.6 + number / 10_000, interval=(0.59, 0.62))
    assert not visit().context["has_cut"]
    scored(phase, 0.0, interval=(0.0, 0.0))
    page = visit()
    *others, last = bands(page)
    assert all(width > 25 for _, width in others)
    assert last == (0.0, 0.0)
    assert (len(page.all("path", class_="beyond")), len(page.all("circle", class_="dot"))) == (1, rows - 1)
    assert "An arrow marks an interval that extends beyond the axis" in page.words


def test_an_outlier_above_is_cut_off_at_the_upper_end(phase: Phase, scored: Scored) -> None:
    for _ in range(7):
        scored(phase, 0.5, interval=(0.49, 0.51))
    scored(phase, 1.0, interval=(0.9, 1.0))
    page = visit()
    first, *others = bands(page)
    assert first == (100.0, 0.0)
    assert all(width > 25 for _, width in others)
    assert len(page.all("svg", class_="end")) == 1


def compared_page(query: str = "") -> Page:
    """Compute ties and confidence intervals for ranks on all leaderboards, and return the leaderboard page."""
    compare_boards()
    return visit(query)


def test_a_tie_has_a_bracket_and_a_note(phase: Phase, make: Make, replicated: Callable[..., Submission]) -> None:
    replicated(phase, [0.5, 0.25], team=make.team(phase.challenge, name="A"))
    assert not compared_page().context["listed"].has_ties
    replicated(phase, [0.25, 0.4], team=make.team(phase.challenge, name="B"))
    page = compared_page()
    assert len(page.all("tr", class_="tied")) == 1
    assert ["(not " in entry for entry in page.context["entries"]] == [False, True]
    assert page.context["listed"].has_ties


def test_an_entry_without_replicates_has_a_dotted_bracket(
    phase: Phase, make: Make, replicated: Callable[..., Submission], scored: Scored
) -> None:
    replicated(phase, [0.5, 0.25], team=make.team(phase.challenge, name="A"))
    scored(phase, 0.3, team=make.team(phase.challenge, name="B"))
    page = compared_page()
    assert len(page.all("tr", class_="untested")) == 1
    assert ["(not " in entry for entry in page.context["entries"]] == [False, True]
    assert page.context["listed"].has_untested


def test_the_bracket_of_a_tie_includes_baselines_between_the_teams(
    phase: Phase, make: Make, replicated: Callable[..., Submission]
) -> None:
    replicated(phase, [0.5, 0.25], team=make.team(phase.challenge, name="A"))
    replicated(phase, [0.36, 0.36], team=make.team(phase.challenge, name="Guess", is_baseline=True))
    replicated(phase, [0.25, 0.4], team=make.team(phase.challenge, name="B"))
    page = compared_page()
    assert len(page.all("tr", class_="tied")) == 2
    assert ["(not " in entry for entry in page.context["entries"]] == [False, False, True]


def test_an_empty_leaderboard_links_to_the_submit_page(phase: Phase) -> None:
    assert visit().all("a", class_="button", href="/challenges/c/submit")


def test_the_leaderboard_of_an_earlier_time_can_be_read(phase: Phase, make: Make, scored: Scored) -> None:
    scored(phase, 0.5, team=make.team(phase.challenge, name="Early"), at=NOW - 3 * DAY)
    scored(phase, 0.6, team=make.team(phase.challenge, name="Late"), at=NOW - DAY)
    words = visit(f"?at={NOW - 2 * DAY:%Y-%m-%dT%H:%M}").words
    assert "1 Early" in words
    assert "Late" not in words
    assert visit("?at=2001-01-01T00:00").all("a", class_="button", href=ADDRESS)


def test_without_private_images_there_is_only_one_split(phase: Phase, scored: Scored) -> None:
    scored(phase, 0.5)
    page = visit()
    assert not page.all("span", class_="switch")
    assert not page.context["opens_later"]


def test_before_the_end_the_private_leaderboard_is_announced(phase: Phase, scored: Scored) -> None:
    scored(phase, 0.5, private=0.4)
    page = visit()
    assert not page.all("span", class_="switch")
    assert page.context["opens_later"]
    assert page.all("p", class_="notice")


def test_after_the_end_the_splits_can_be_switched(make: Make, scored: Scored) -> None:
    phase = make.phase(make.challenge(slug="c"), closes_at=NOW - DAY)
    scored(phase, 0.5, private=0.4)
    assert "?split=private" in visit().links()
    assert "0.40000" in visit("?split=private").words


def test_the_refusal_of_the_private_split_says_when_it_opens(phase: Phase) -> None:
    page = visit("?split=private")
    assert page.status == 403
    assert "forbidden" in page.words
    assert "opens when the phase is over" in page.words


@pytest.mark.parametrize("query", ["?at=nonsense", "?page=-1", "?page=999", "?split=nonsense", "?at=%00"])
def test_invalid_parameters_are_ignored(query: str, phase: Phase, scored: Scored) -> None:
    scored(phase, 0.5)
    assert "0.50000" in visit(query).words


@pytest.fixture
def long_board(phase: Phase, make: Make, scored: Scored) -> User:
    for number in range(102):
        scored(phase, 1 - number / 1000)
    member = make.user()
    scored(phase, 0.1, team=make.team(phase.challenge, member, name="Last ones"))
    return member


def test_a_page_has_a_hundred_entries(long_board: User) -> None:
    page = visit()
    assert "1–100 of 103" in page.words
    assert "?split=public&page=2" in page.links()
    assert "Last ones" not in page.words


def test_the_viewers_entry_is_pinned_if_it_is_on_another_page(long_board: User) -> None:
    first = visit(person=long_board)
    assert (first.context["pinned"].row.rank, first.context["pinned"].tag) == (103, "you")
    assert "?split=public&page=2" in first.links()
    assert len(visit("?page=2", person=long_board).all("tr", class_="mine")) == 1


def test_the_csv_contains_every_entry_with_all_digits(phase: Phase, make: Make, scored: Scored, client: Client) -> None:
    scored(phase, 0.8618052665698489, team=make.team(phase.challenge, name="=1+1"))
    response = client.get(f"{ADDRESS}.csv")
    assert response["Content-Disposition"] == f'attachment; filename="c-{phase.slug}-public.csv"'
    assert "1,'=1+1,0.8618052665698489," in content_of(response).decode()


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00%2B14:00"])
def test_a_time_out_of_range_is_ignored(phase: Phase, at: str) -> None:
    assert visit(f"?at={at}").status == 200


def test_a_time_in_the_first_year_is_kept_in_links(phase: Phase, scored: Scored) -> None:
    scored(phase, 0.5, private=0.4)
    assert any("at=0001-01-01T00%3A00%3A00" in link for link in visit("?at=0001-01-01T00:00").links())
