"""Tests leaderboard listings in the API: search by team name, filtering of baselines, and sorting by a metric."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Phase
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.documented import Api, content_of

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
PATH = "challenges/c/phases/main/leaderboard"

pytestmark = pytest.mark.phase(challenge={"slug": "c"}, slug="main", closes_at=NOW + DAY)


@pytest.fixture
def owner(phase: Phase, make: Make, scored: Scored) -> User:
    user = make.user()
    scored(phase, 0.9, private=0.2, team=make.team(phase.challenge, name="Prior", is_baseline=True), at=NOW - DAY)
    scored(phase, 0.8, private=0.3, team=make.team(phase.challenge, name="Day Owls"), at=NOW - DAY)
    scored(phase, 0.7, private=0.4, team=make.team(phase.challenge, name="Crows"), at=NOW - DAY)
    scored(phase, 0.6, private=0.5, team=make.team(phase.challenge, user, name="Night Owls"), at=NOW - DAY)
    return user


def lines(shape: dict[str, Any]) -> list[tuple[int | None, str]]:
    return [(row["rank"], row["team"]) for row in shape["results"]]


@pytest.mark.parametrize("at", ["", f"&at={NOW:%Y-%m-%dT%H:%M:%S}Z"], ids=["now", "earlier"])
def test_a_search_returns_teams_with_their_ranks(api: Api, owner: User, at: str) -> None:
    shape = api.get(f"{PATH}?search=OWLS{at}", user=owner).json()
    assert (shape["count"], lines(shape)) == (2, [(1, "Day Owls"), (3, "Night Owls")])
    assert [row["tied"] for row in shape["results"]] == [None, None]
    other = api.get(f"{PATH}?search=crow{at}", user=owner).json()
    assert (lines(other), other["me"]["rank"]) == ([(2, "Crows")], 3)


def test_baselines_can_be_hidden_or_are_the_only_entries(api: Api, owner: User) -> None:
    assert lines(api.get(f"{PATH}?baselines=only").json()) == [(None, "Prior")]
    assert lines(api.get(f"{PATH}?baselines=hide").json()) == [(1, "Day Owls"), (2, "Crows"), (3, "Night Owls")]


@pytest.mark.phase(track="objectnet")
def test_entries_are_sorted_by_another_metric(api: Api, phase: Phase, make: Make, scored: Scored) -> None:
    for name, top1, top5 in (("A", 0.9, 0.91), ("B", 0.8, None), ("C", 0.7, 0.95)):
        splits = {"public": {"top1": top1, "top5": top5}}
        scored(phase, None, splits=splits, team=make.team(phase.challenge, name=name), at=NOW - DAY)
    assert lines(api.get(f"{PATH}?sort=top5").json()) == [(3, "C"), (1, "A"), (2, "B")]
    for other in ("sort=top1", "sort=mAP", "sort=", f"sort=top5&at={NOW:%Y-%m-%dT%H:%M:%S}Z"):
        assert lines(api.get(f"{PATH}?{other}").json()) == [(1, "A"), (2, "B"), (3, "C")]


def test_csv_and_the_stream_contain_the_requested_entries(api: Api, owner: User) -> None:
    whole = content_of(api.get(f"{PATH}?search=owls&format=csv")).decode().split("\r\n")
    assert [line.split(",")[:2] for line in whole[1:3]] == [["1", "Day Owls"], ["3", "Night Owls"]]
    stream = json.loads(content_of(Client().get(f"/api/v1/{PATH}?search=owls&baselines=hide&all=1")))
    assert (stream["count"], lines(stream)) == (2, [(1, "Day Owls"), (3, "Night Owls")])


@pytest.mark.parametrize("query", ["baselines=some", "search=%00", f"search={'x' * 81}", "baselines=%00", "sort=x"])
def test_bad_parameters_are_invalid(api: Api, phase: Phase, query: str) -> None:
    answer = api.get(f"{PATH}?{query}")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")


@pytest.mark.parametrize("query", ["search=", "search=%20", "baselines="])
def test_empty_parameters_are_ignored(api: Api, owner: User, query: str) -> None:
    assert api.get(f"{PATH}?{query}").json()["count"] == 4


def test_the_entity_tag_depends_on_the_requested_entries(api: Api, owner: User) -> None:
    queries = ("", "search=owls", "search=owl", "baselines=only", "baselines=hide", "sort=top5")
    assert len({api.get(f"{PATH}?{query}")["ETag"] for query in queries}) == len(queries)


@pytest.mark.parametrize("query", ["search=owls", "baselines=only", "search=owls&all=1", "search=owls&format=csv"])
def test_search_and_order_do_not_open_a_closed_split(api: Api, owner: User, query: str) -> None:
    for split in ("private", "all"):
        assert api.get(f"{PATH}?split={split}&{query}").status_code == 403
