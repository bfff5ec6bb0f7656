"""Tests leaderboards in the API, as pages of JSON and as CSV."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from server.challenges.models import Phase
from server.submissions.models import Submission
from tests.conftest import Make, compare_boards
from tests.server.conftest import Scored
from tests.server.documented import Api, content_of

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
PATH = "challenges/detection/phases/main/leaderboard"


pytestmark = pytest.mark.phase(challenge={"slug": "detection"}, slug="main", closes_at=NOW + DAY)


def refused(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_the_public_leaderboard_needs_no_user(api: Api, phase: Phase, make: Make, scored: Scored) -> None:
    scored(phase, 1 / 3, team=make.team(phase.challenge, name="A"), interval=(0.3, 0.4))
    shape = api.get(PATH).json()
    assert (shape["split"], shape["signature"], shape["count"], shape["me"]) == ("public", phase.signature, 1, None)
    (row,) = shape["results"]
    assert (row["rank"], row["team"], row["score"], row["interval"]) == (1, "A", 1 / 3, [0.3, 0.4])
    assert (row["scores"], row["entries"], row["baseline"]) == ({"mAP": 1 / 3}, 1, False)
    assert row["submitted_at"].endswith("Z")


def test_every_page_and_the_users_own_entry_show_ties(
    api: Api, phase: Phase, make: Make, replicated: Callable[..., Submission]
) -> None:
    user = make.user()
    for number in range(102):
        last = make.team(phase.challenge, user) if number == 0 else None
        replicated(phase, [number, 200 - 0.9 * number], team=last)
    compare_boards()
    shape = api.get(PATH, user=user).json()
    assert [row["tied"] for row in shape["results"]] == [False] + [True] * 99
    assert (shape["me"]["rank"], shape["me"]["tied"]) == (102, True)
    assert [row["tied"] for row in api.get(f"{PATH}?page=2").json()["results"]] == [True, True]


def test_the_field_me_is_the_entry_of_the_users_team_on_any_page(
    api: Api, phase: Phase, make: Make, scored: Scored
) -> None:
    user = make.user()
    scored(phase, 0.1, team=make.team(phase.challenge, user, name="mine"))
    for number in range(100):
        scored(phase, 0.5 + number / 1000)
    shape = api.get(PATH, user=user).json()
    assert (shape["me"]["rank"], shape["me"]["team"]) == (101, "mine")
    assert all(row["team"] != "mine" for row in shape["results"])
    assert len(shape["results"]) == 100
    assert shape["next"] == f"http://testserver/api/v1/{PATH}?page=2"
    assert [row["team"] for row in api.get(f"{PATH}?page=2", user=user).json()["results"]] == ["mine"]


def test_the_field_me_has_the_gap_to_the_next_rank(
    api: Api, phase: Phase, make: Make, replicated: Callable[..., Submission]
) -> None:
    user = make.user()
    replicated(phase, [0.5, 0.75])
    replicated(phase, [0.25, 0.5], team=make.team(phase.challenge, user))
    compare_boards()
    me = api.get(PATH, user=user).json()["me"]
    assert (me["rank"], me["of"], me["percentile"]) == (2, 2, 50)
    assert (me["next_rank"], me["gap"], me["gap_may_be_luck"]) == (1, 0.25, False)


def test_the_field_me_is_null_for_a_team_without_an_entry(api: Api, phase: Phase, make: Make) -> None:
    user = make.user()
    make.team(phase.challenge, user)
    assert api.get(PATH, user=user).json()["me"] is None


@pytest.mark.parametrize("split", ["private", "all"])
def test_the_private_leaderboard_is_forbidden_until_a_given_time(
    api: Api, phase: Phase, make: Make, split: str
) -> None:
    for options in ({}, {"user": make.user()}):
        for form in ("json", "csv"):
            answer = api.get(f"{PATH}?split={split}&format={form}", **options)
            assert refused(answer) == (403, "forbidden")
            assert "UTC" in answer.json()["detail"]


def test_the_private_leaderboard_is_open_after_the_end(api: Api, phase: Phase, scored: Scored) -> None:
    scored(phase, 0.5, private=0.25)
    type(phase).objects.update(closes_at=NOW - DAY)
    assert [row["score"] for row in api.get(f"{PATH}?split=private").json()["results"]] == [0.25]


@pytest.mark.parametrize(
    "at",
    [
        "{0:%Y-%m-%dT%H:%M:%S}Z",
        "{0:%Y-%m-%dT%H:%M:%S}",  # A time without an offset is in UTC.
        "{0:%Y-%m-%dT%H:%M:%S}+00:00",  # In a query string, a plus sign that is not escaped is a space.
        "{0:%Y-%m-%d} {0:%H:%M:%S}",
        "{0:%Y-%m-%d}",  # A date without a time means midnight in UTC.
    ],
)
def test_the_leaderboard_of_an_earlier_time_can_be_read(api: Api, phase: Phase, scored: Scored, at: str) -> None:
    scored(phase, 0.5, at=NOW - 3 * DAY)
    scored(phase, 0.9)
    text = at.format(NOW - DAY)
    for written in (text.replace(" ", "%20"), quote(text)):
        shape = api.get(f"{PATH}?at={written}").json()
        assert [row["score"] for row in shape["results"]] == [0.5]
        assert shape["at"].endswith("Z")


def test_the_leaderboard_of_a_future_time_is_the_current_one_and_has_the_current_time(
    api: Api, phase: Phase, scored: Scored
) -> None:
    scored(phase, 0.5)
    shape = api.get(f"{PATH}?at=2999-01-01T00:00:00Z").json()
    assert [row["score"] for row in shape["results"]] == [0.5]
    assert datetime.fromisoformat(shape["at"]) <= datetime.now(UTC)


@pytest.mark.parametrize("form", ["json", "csv"])
def test_the_time_of_a_leaderboard_is_rounded_down_to_whole_seconds(
    api: Api, phase: Phase, scored: Scored, form: str
) -> None:
    second = (NOW - DAY).replace(microsecond=0)
    scored(phase, 0.5, at=second + timedelta(milliseconds=300))
    before, same, after = (
        content_of(api.get(f"{PATH}?format={form}&at={second + timedelta(milliseconds=at):%Y-%m-%dT%H:%M:%S.%f}Z"))
        for at in (0, 900, 1000)
    )
    assert before == same
    assert b"0.5" in after
    assert b"0.5" not in same


@pytest.mark.parametrize(
    "query",
    [
        *("split=secret", "split=%00", "at=yesterday", "at=2026-13-01", "at=99999-01-01", "at=%00"),
        *("at=2026-02-30T00:00:00Z", "at=0001-01-01T00:00:00%2B23:59", "at=1", "format=xml", "format=%00"),
    ],
)
def test_bad_parameters_are_invalid(api: Api, phase: Phase, query: str) -> None:
    assert refused(api.get(f"{PATH}?{query}")) == (422, "invalid")


@pytest.mark.parametrize("query", ["split=", "at=", "page=", "unknown=1"])
def test_empty_and_unknown_parameters_are_ignored(api: Api, phase: Phase, query: str) -> None:
    assert api.get(f"{PATH}?{query}").status_code == 200


@pytest.mark.parametrize("page", ["0", "-1", "2", "x", "1e3", "9" * 400, "9" * 5000, "%00", "1.5", "٣"])
def test_a_page_that_does_not_exist_is_not_found(api: Api, phase: Phase, page: str) -> None:
    assert refused(api.get(f"{PATH}?page={page}")) == (404, "not_found")


def test_the_csv_contains_the_whole_leaderboard_with_all_digits(
    api: Api, phase: Phase, make: Make, scored: Scored
) -> None:
    for number in range(101):
        scored(phase, (number + 1) / 3000)
    answer = api.get(f"{PATH}?format=csv")
    lines = content_of(answer).decode().splitlines()
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert "detection-main-public.csv" in answer.headers["Content-Disposition"]
    assert len(lines) == 102
    assert float(lines[1].split(",")[2]) == 101 / 3000


def test_csv_is_returned_for_the_accept_header(api: Api, phase: Phase) -> None:
    assert api.get(PATH, headers={"Accept": "text/csv"}).headers["Content-Type"].startswith("text/csv")


def test_the_csv_contains_no_formulas(api: Api, phase: Phase, make: Make, scored: Scored) -> None:
    scored(phase, 0.5, team=make.team(phase.challenge, name="=1+1"))
    assert "'=1+1" in content_of(api.get(f"{PATH}?format=csv")).decode()


def test_the_leaderboard_of_a_private_challenge_does_not_exist_for_strangers(
    api: Api, phase: Phase, make: Make
) -> None:
    type(phase.challenge).objects.update(visibility="private")
    assert refused(api.get(PATH, user=make.user())) == (404, "not_found")


@pytest.mark.parametrize("path", [PATH.replace("main", "none"), PATH.replace("detection", "none")])
def test_an_unknown_challenge_or_phase_is_not_found(api: Api, phase: Phase, path: str) -> None:
    assert refused(api.get(path)) == (404, "not_found")


def test_reading_a_leaderboard_takes_few_queries(
    api: Api, phase: Phase, scored: Scored, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(20):
        scored(phase, number / 100)
    api.get(PATH)  # Cache the ranks from a week ago before queries are counted.
    with django_assert_max_num_queries(7):
        api.get(PATH)


def test_entries_show_what_has_changed_in_a_week(phase: Phase, make: Make, scored: Scored, api: Api) -> None:
    teams = {name: make.team(phase.challenge, name=name) for name in ("A", "B")}
    for name, score in (("A", 0.5), ("B", 0.25)):
        scored(phase, score, team=teams[name], at=NOW - 20 * DAY)
    scored(phase, 0.75, team=teams["B"])
    scored(phase, 0.125)
    found = api.get(PATH).json()
    changes = [(row["rank"], row["rank_change"], row["is_new"], row["public_rank"]) for row in found["results"]]
    assert changes == [(1, 1, False, None), (2, -1, False, None), (3, None, True, None)]
    assert found["changes_since"] == f"{NOW - 7 * DAY:%Y-%m-%d}T00:00:00Z"
    earlier = api.get(f"{PATH}?at={NOW - DAY:%Y-%m-%dT%H:%M:%SZ}").json()
    assert (earlier["changes_since"], earlier["results"][0]["rank_change"]) == (None, None)


def test_the_history_has_each_change_of_score_or_rank(phase: Phase, make: Make, scored: Scored, api: Api) -> None:
    teams = {name: make.team(phase.challenge, name=name) for name in ("A", "B")}
    for name, score, day in (("A", 0.5, 9), ("B", 0.25, 8), ("A", 0.625, 7), ("B", 0.75, 6)):
        scored(phase, score, team=teams[name], at=NOW - day * DAY)
    found = {one["team"]: one["points"] for one in api.get(f"{PATH}/history").json()["results"]}
    assert [*found] == ["B", "A"]
    assert [(point["score"], point["rank"]) for point in found["A"]] == [(0.5, 1), (0.625, 1), (0.625, 2)]
    assert [(point["score"], point["rank"]) for point in found["B"]] == [(0.25, 2), (0.75, 1)]
    assert api.get(f"{PATH}/history?team=A").json()["results"] == [{"team": "A", "points": found["A"]}]


def test_the_history_is_refused_whenever_the_leaderboard_is(phase: Phase, scored: Scored, api: Api) -> None:
    scored(phase, 0.5, private=0.4)
    assert refused(api.get(f"{PATH}/history?split=private")) == (403, "forbidden")
    assert refused(api.get(f"{PATH}/history?team=Nobody")) == (404, "not_found")


def test_a_history_that_has_not_changed_is_not_sent_again(phase: Phase, scored: Scored, client: Client) -> None:
    team, path = scored(phase, 0.5).team, f"/api/v1/{PATH}/history"
    tag = client.get(path)["ETag"]
    assert client.get(path, headers={"If-None-Match": tag}).status_code == 304
    scored(phase, 0.6, team=team)
    assert client.get(path, headers={"If-None-Match": tag}).status_code == 200
