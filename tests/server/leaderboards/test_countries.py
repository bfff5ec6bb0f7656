"""Filters by country consider only members who agreed to be named."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Membership, Phase
from server.clock import database_now
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.documented import Api, content_of
from tests.server.page import Page

BOARD, PATH = "/challenges/c/leaderboard", "challenges/c/phases/main/leaderboard"

pytestmark = pytest.mark.phase(challenge={"slug": "c"}, slug="main")


@pytest.fixture
def people(phase: Phase, make: Make, scored: Scored) -> dict[str, User]:
    """Create three teams: Owls shows its only member publicly, Crows shows one of two members, and Hens shows none."""
    yesterday = database_now() - timedelta(days=1)
    people = {name: make.user(username=name) for name in ("ada", "bob", "eve", "dan")}
    countries = {"ada": "FR", "bob": "FR", "eve": "DE", "dan": "FR"}
    for score, (name, members) in enumerate({"Owls": ["ada"], "Crows": ["eve", "bob"], "Hens": ["dan"]}.items()):
        team = make.team(phase.challenge, *(people[one] for one in members), name=name)
        scored(phase, 0.9 - score / 10, team=team, at=yesterday)
    for name, user in people.items():
        User.objects.filter(pk=user.pk).update(country=countries[name])
    Membership.objects.filter(user__in=[people["ada"], people["eve"]]).update(is_shown=True)
    return people


def on_page(query: str) -> list[tuple[int | None, str]]:
    response = Client().get(BOARD + query)
    return [(row.rank, row.team) for row in response.context["listed"].rows]


def in_api(api: Api, query: str) -> list[tuple[int | None, str]]:
    return [(row["rank"], row["team"]) for row in api.get(f"{PATH}?{query}").json()["results"]]


@pytest.mark.parametrize(
    ("country", "expected"),
    [
        ("FR", [(1, "Owls")]),  # The teams Crows and Hens do not show their members from France.
        ("DE", [(2, "Crows")]),  # A filtered entry keeps its rank on the whole leaderboard.
        ("IT", []),
    ],
)
def test_only_members_who_are_named_are_counted(
    people: Any, api: Api, country: str, expected: list[tuple[int | None, str]]
) -> None:
    assert in_api(api, f"country={country}") == expected
    assert in_api(api, f"country={country.lower()}&search=o") == [row for row in expected if "o" in row[1].lower()]
    at = f"{database_now():%Y-%m-%dT%H:%M:%S}"
    assert in_api(api, f"country={country}&at={at}") == expected
    assert on_page(f"?country={country}") == expected
    lines = content_of(Client().get(f"{BOARD}.csv?country={country}")).decode().splitlines()[1:]
    assert [line.split(",")[1] for line in lines] == [team for _, team in expected]


def test_a_filtered_page_says_so_and_keeps_the_filter(people: Any) -> None:
    page = Page(Client().get(f"{BOARD}?country=DE"))
    assert "Only teams with a publicly named member from Germany." in page.words
    assert "selected" in page.all("option", value="DE")[0]
    assert "No listed team has a publicly named member" in Page(Client().get(f"{BOARD}?country=IT")).words


@pytest.mark.parametrize("path", [BOARD, f"{BOARD}.csv", f"/api/v1/{PATH}"])
def test_a_withdrawn_consent_has_an_effect_at_once(people: Any, path: str) -> None:
    client = Client()
    first = client.get(f"{path}?country=FR")
    assert "Owls" in content_of(first).decode()
    Membership.objects.update(is_shown=False)
    again = client.get(f"{path}?country=FR", headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 200
    assert "Owls" not in content_of(again).decode()


def test_a_page_without_baselines_can_list_only_baselines(people: Any) -> None:
    assert "No entries match these options" in Page(Client().get(f"{BOARD}?baselines=only")).words


def test_an_unknown_country_is_invalid_in_the_api_and_ignored_on_the_page(people: Any, api: Api) -> None:
    assert api.get(f"{PATH}?country=XX").json()["code"] == "invalid"
    assert len(on_page("?country=XX")) == 3


def test_a_filter_can_be_combined_with_the_order_by_a_metric(make: Make, scored: Scored, api: Api) -> None:
    phase = make.phase(make.challenge(slug="d"), slug="main", track="objectnet")
    for name, top5 in (("A", 0.5), ("B", 0.6), ("C", 0.7)):
        team = make.team(phase.challenge, user := make.user(), name=name)
        scored(phase, None, splits={"public": {"top1": 0.1, "top5": top5}}, team=team)
        User.objects.filter(pk=user.pk).update(country="DE" if name == "C" else "FR")
    Membership.objects.update(is_shown=True)
    found = api.get("challenges/d/phases/main/leaderboard?country=FR&sort=top5").json()
    assert [row["team"] for row in found["results"]] == ["B", "A"]
