"""The preview of a rescoring lists entries whose rank changes. It can also show the leaderboard before and after."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.leaderboards.models import Board, Entry
from server.leaderboards.queries import PAGE_ROWS
from server.organize.models import Rescoring
from server.organize.services import rescoring
from server.organize.services.previews import preview
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.organize.test_rescoring import add, done
from tests.server.page import Page

pytestmark = [pytest.mark.phase(challenge={"slug": "c"}, slug="main"), pytest.mark.usefixtures("inline_queue")]
PATH = "/organize/challenges/c/phases/main"
TEAMS = 2000


@pytest.fixture
def begun(phase: Phase, member: User, make: Make, scored: Scored) -> Rescoring:
    """Begin a rescoring after which Bats overtake Owls, and Cats keep their rank with a different score."""
    phase.challenge.organizers.add(member)
    names = {"Owls": (0.6, 0.3), "Bats": (0.5, 0.4), "Cats": (0.2, 0.1)}
    rows = [
        (scored(phase, before, team=make.team(phase.challenge, name=name)), after)
        for name, (before, after) in names.items()
    ]
    begun = rescoring.start(phase=phase, by=member, truth=add(phase, version=2))
    for submission, after in rows:
        done(submission, after)
    return begun


def test_an_entry_that_keeps_its_rank_is_counted_but_not_listed(begun: Rescoring, client: Client) -> None:
    shown = preview(begun, split="public")
    assert [(one.team, one.places) for one in shown.rank_changes] == [("Bats", 1), ("Owls", -1)]
    assert shown.score_changes == 1
    words = Page(client.get(PATH)).words
    assert "2 ranks change, 1 entry keeps its rank with a different score" in words
    assert "Cats" not in Page(client.get(f"{PATH}/preview")).words


def test_both_leaderboards_are_beside_each_other(begun: Rescoring, client: Client) -> None:
    words = Page(client.get(f"{PATH}/preview?show=all")).words
    assert "1 Owls 0.60000 2 Bats 0.50000 3 Cats 0.20000" in words
    assert "1 Bats 0.40000" in words.partition("After")[2]
    assert "3 Cats 0.10000" in words.partition("After")[2]


def test_two_thousand_teams_take_no_more_queries_than_three(
    begun: Rescoring, phase: Phase, client: Client, make: Make, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    crowd = Team.objects.bulk_create(Team(challenge=phase.challenge, name=f"T{i}") for i in range(TEAMS))
    for signature, up in ((phase.signature, 1), (begun.signature, -1)):
        board = Board.objects.get(phase=phase, kind="public", signature=signature)
        one = board.entries.first()
        assert one is not None
        same = {"is_baseline": False, "submissions": 1, "submitted_at": one.submitted_at, "valid_from": one.valid_from}
        Entry.objects.bulk_create(
            Entry(board=board, team=team, score=0.9 + up * index / 1e5, **same) for index, team in enumerate(crowd)
        )
    with django_assert_max_num_queries(30):
        page = Page(client.get(f"{PATH}/preview?show=all&page=5"))
    assert page.status == 200
    assert len(re.findall(r"\bT\d+\b", page.words)) == 2 * PAGE_ROWS
    assert "2,003" in page.words
    with django_assert_max_num_queries(40):
        assert len(client.get(PATH).content) < 100_000
