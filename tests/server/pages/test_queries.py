"""The number of database queries of a page does not grow with the number of rows that it shows."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.conftest import Make
from tests.server.conftest import Scored

PAGES = [
    "/",
    "/challenges/c/",
    "/challenges/c/data",
    "/challenges/c/rules",
    "/challenges/c/team",
    "/challenges/c/submit",
    "/challenges/c/submissions",
    "/challenges/c/leaderboard",
    "/submissions/{id}/",
    "/accounts/",
]
LIMIT = 17


@pytest.mark.parametrize("address", PAGES)
def test_queries_do_not_grow(address: str, make: Make, scored: Scored, client: Client) -> None:
    member = make.user()
    challenge = make.challenge(slug="c")
    phase = make.phase(challenge, feedback_classes=True)
    team = make.team(challenge, member)
    one = scored(phase, 0.5, team=team)
    client.force_login(member)

    def count() -> int:
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
    assert many <= LIMIT
