"""Tests the controls of a large leaderboard: search, columns, baselines, pages, and the viewer's pinned entry."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Phase
from server.pages.leaderboard import page as board_page
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.documented import content_of
from tests.server.page import Page

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
ADDRESS = "/challenges/c/leaderboard"

pytestmark = pytest.mark.phase(challenge={"slug": "c"}, track="objectnet", closes_at=NOW + DAY)


def visit(query: str = "", person: User = None) -> Page:
    client = Client()
    if person:
        client.force_login(person)
    return Page(client.get(ADDRESS + query))


def teams(page: Page) -> list[str]:
    return [row.team for row in page.context["listed"].rows]


def parameters(address: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(address).query, keep_blank_values=True)


@pytest.fixture
def owner(phase: Phase, make: Make, scored: Scored, monkeypatch: Any) -> User:
    """Create a leaderboard with a baseline at the top. Return the user whose team has the last entry, on page 2."""
    monkeypatch.setattr(board_page, "PAGE_ROWS", 10)
    metrics = {"top1": 0.9, "top5": 0.95, "mean_class_top1": 0.5, "mean_class_top5": 0.6}
    prior = make.team(phase.challenge, name="Prior", is_baseline=True)
    scored(phase, None, splits={"public": metrics}, team=prior, at=NOW - DAY)
    for number in range(10):
        scored(phase, 0.8 - number / 1000, team=make.team(phase.challenge, name=f"Team {number:03}"), at=NOW - DAY)
    user = make.user()
    scored(phase, 0.1, team=make.team(phase.challenge, user, name="Night Owls"), at=NOW - DAY)
    return user


def test_a_search_lists_the_found_teams_with_their_ranks(owner: User) -> None:
    page = visit("?q=OWLS")
    assert teams(page) == ["Night Owls"]
    assert "11 Night Owls 0.10000" in page.words
    assert page.all("input", type="search", name="q", value="OWLS")


def test_a_search_without_results_has_a_link_to_all_teams(owner: User) -> None:
    page = visit("?q=%3Cb%3Ezebra")
    assert teams(page) == []
    assert not page.all("b")
    buttons = [link["href"] for link in page.all("a", class_="button")]
    assert [address for address in buttons if not address.startswith("/accounts/")] == ["?split=public"]
    assert page.all("input", type="search", name="q", value="<b>zebra")


def test_a_search_at_an_earlier_time_keeps_that_time(owner: User) -> None:
    at = f"{NOW - DAY / 2:%Y-%m-%dT%H:%M}"
    page = visit(f"?q=owls&at={at}")
    assert teams(page) == ["Night Owls"]
    (form,) = page.all("form", role="search")
    assert form["method"] == "get"
    assert page.all("input", type="hidden", name="at")[0]["value"].startswith(at)
    assert teams(visit("?q=owls&at=2001-01-01T00:00")) == []


@pytest.mark.parametrize(
    "query",
    [
        *(
            "?baselines=some",
            "?baselines=",
            "?q=",
            "?q=%20%20",
            "?q=%00",
            "?columns=nonsense&columns=top1",
            "?sort=top1",
        ),
        *("?page=x", "?q=%00&page=0", "?baselines=%00", "?sort=%00"),
    ],
)
def test_invalid_parameters_are_ignored(owner: User, query: str) -> None:
    page = visit(query)
    assert (page.status, len(teams(page))) == (200, 10)


def test_a_long_text_is_cut_to_the_length_of_a_name(owner: User) -> None:
    page = visit(f"?q={'x' * 5000}")
    assert (page.status, len(page.all("input", type="search")[0]["value"])) == (200, 80)


def test_links_and_forms_keep_all_parameters(owner: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(board_page, "PAGE_ROWS", 9)
    given = {"split": ["public"], "at": [f"{NOW:%Y-%m-%dT%H:%M}:00"], "q": ["t"], "baselines": ["hide"]}
    given["columns"] = ["top5"]
    page = visit("?" + "&".join(f"{name}={quote(value)}" for name, (value,) in given.items()))
    last = next(link for link in page.links() if "page=2" in link)
    assert parameters(last) == given | {"page": ["2"]}
    hidden = {(field["name"], field["value"]) for field in page.all("input", type="hidden")}
    assert {(name, value) for name, (value,) in given.items()} - hidden == set()


def test_the_displayed_metrics_can_be_chosen(owner: User) -> None:
    headings = ["Top 5", "Classes", "Classes, top 5"]

    def shown(query: str) -> list[bool]:
        words = [attributes["title"].partition(":")[0] for attributes in visit(query).all("th", class_="other")]
        return [metric.title in words for metric in track.board_metrics]

    track = Phase.objects.get().declared_track
    assert len(track.board_metrics) == len(headings)
    assert shown("") == [True, True, True]
    assert shown("?columns=&columns=mean_class_top1") == [False, True, False]
    assert shown("?columns=") == [False, False, False]
    assert "?split=public&columns=&page=2" in visit("?columns=").links()
    assert len(visit("?columns=top5").all("input", name="columns", checked="")) == 1


def test_headings_sort_by_other_metrics_and_ranks_do_not_change(owner: User) -> None:
    page = visit()
    (address,) = [link for link in page.links() if "sort=top5" in link]
    assert not [heading for heading in page.all("th", class_="other") if "aria-sort" in heading]
    page = visit(address)
    assert len(page.all("th", class_="other", aria_sort="descending")) == 1
    assert [row.rank for row in page.context["listed"].rows][:3] == [None, 1, 2]
    assert page.all("option", value="top5", selected="")
    assert all("sort=top5" in link for link in page.links() if "page=2" in link)
    past = visit(f"{address}&at={NOW:%Y-%m-%dT%H:%M}")
    assert not [link for link in past.links() if "sort=mean" in link]
    assert not past.all("th", aria_sort="descending", class_="other")


def test_baselines_can_be_hidden_or_shown_without_teams(owner: User) -> None:
    assert teams(visit())[0] == "Prior"
    assert teams(visit("?baselines=hide"))[0] == "Team 000"
    only = visit("?baselines=only")
    assert teams(only) == ["Prior"]
    assert "no rank Prior" in only.words


def test_the_first_the_last_and_neighbouring_pages_are_linked(owner: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(board_page, "PAGE_ROWS", 1)
    page = visit("?page=6")
    numbers = [link for link in page.links() if "page=" in link]
    assert [int(link.partition("page=")[2]) for link in numbers] == [5, 1, 5, 6, 7, 12, 7]
    assert [link["href"] for link in page.all("a", aria_current="page")][-1].endswith("page=6")


def test_the_viewers_entry_is_pinned_wherever_it_is_not_listed(owner: User) -> None:
    for query in ("", "?q=team", "?baselines=only", "?q=nothing+found&columns="):
        page = visit(query, owner)
        assert page.context["pinned"].row.rank == 11
        columns = "&columns=" if "columns" in query else ""
        assert page.context["pinned"].link == f"?split=public{columns}&page=2#mine"
    for query in ("?page=2", "?q=owls"):
        page = visit(query, owner)
        assert page.context["pinned"] is None
        assert len(page.all("tr", id="mine", class_="mine")) == 1
    assert not visit("?page=2").all("tr", id="mine")


def test_the_link_to_the_csv_leads_to_all_entries(owner: User, client: Client) -> None:
    (address,) = [link for link in visit("?q=owls&baselines=hide").links() if ".csv" in link]
    assert content_of(client.get(address)).count(b"\n") == 13
    some = content_of(client.get(f"{ADDRESS}.csv?q=owls&baselines=hide")).decode()
    assert [line.split(",")[:2] for line in some.split()[1:2]] == [["11", "Night"]]


def test_the_entity_tag_depends_on_the_requested_entries(owner: User, client: Client) -> None:
    queries = ("", "?q=owls", "?q=team", "?baselines=only", "?baselines=hide", "?columns=", "?columns=top5", "?page=2")
    for address in (ADDRESS, f"{ADDRESS}.csv"):
        tags = {client.get(address + query)["ETag"] for query in queries}
        assert len(tags) == len(queries)
    tag = client.get(f"{ADDRESS}?q=owls")["ETag"]
    assert client.get(f"{ADDRESS}?q=owls", headers={"If-None-Match": tag}).status_code == 304
    assert client.get(f"{ADDRESS}?q=team", headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize("query", ["q=owls", "baselines=only", "columns=top5", "q=owls&at=2026-01-01T00:00"])
@pytest.mark.parametrize("path", ["", ".csv"])
def test_search_and_order_do_not_open_a_closed_split(owner: User, client: Client, query: str, path: str) -> None:
    for split in ("private", "all"):
        assert client.get(f"{ADDRESS}{path}?split={split}&{query}").status_code == 403
