"""The number of database queries for a page does not grow with the number of rows that it shows."""

import pytest
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from tests.conftest import Make
from tests.recorded_login import log_in
from tests.server.conftest import Scored

# Maps each page to its maximum number of database queries.
PAGES = {
    "/": 6,
    "/challenges/c/": 5,  # including one for the result of the ground truth's acceptance checks
    "/challenges/c/data": 8,
    "/challenges/c/rules": 2,
    "/challenges/c/team": 14,
    "/challenges/c/submit": 9,  # including one that reads whether the maintenance mode is on
    "/challenges/c/submissions": 10,
    "/challenges/c/leaderboard": 4,
    "/challenges/c/leaderboard/history": 10,
    "/challenges/c/leaderboard/history?chart=rank": 10,
    "/submissions/{id}/": 10,
    "/submissions/{id}/panel": 9,
    "/accounts/": 4,
}


@pytest.mark.parametrize(("address", "limit"), PAGES.items())
def test_the_number_of_queries_does_not_grow_with_the_number_of_rows(
    address: str, limit: int, make: Make, scored: Scored, client: Client
) -> None:
    member = make.user()
    challenge = make.challenge(slug="c")
    phase = make.phase(challenge, feedback_classes=True)
    team = make.team(challenge, member)
    one = scored(phase, 0.5, team=team)
    # With a second submission, the page of the first one also shows a comparison, which needs more queries.
    scored(phase, 0.3, team=team)
    log_in(client, member.username)

    def count() -> int:
        client.get(address.format(id=one.pk))  # This request fills the caches before queries are counted.
        caches["boards"].clear()
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert client.get(address.format(id=one.pk)).status_code == 200
        return len(queries)

    few = count()
    for number in range(8):
        scored(phase, 0.4 + number / 100, team=team)
        scored(phase, 0.4 + number / 100)
        make.phase()
        make.submission(phase, team)
        make.team(make.challenge(), member)
        make.team(challenge, make.user())
    many = count()
    assert many == few
    assert many <= limit


def test_a_leaderboard_that_has_not_changed_takes_one_query_in_addition_to_that_of_the_session(
    make: Make, scored: Scored, client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    member, address = make.user(), "/challenges/c/leaderboard"
    phase = make.phase(make.challenge(slug="c"))
    scored(phase, 0.5, team=make.team(phase.challenge, member))

    def ask_again(queries: int) -> None:
        client.get(address)  # The first response to a member sets a cookie, on which later responses depend.
        tag = client.get(address).headers["ETag"]
        with django_assert_num_queries(queries):
            assert client.get(address, headers={"If-None-Match": tag}).status_code == 304

    ask_again(1)
    log_in(client, member.username)
    ask_again(2)
