"""Tests the page that compares the entries of two teams on a leaderboard."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from tests.server.page import Page

NOW = datetime.now(UTC)
ADDRESS = "/challenges/c/leaderboard/compare"

pytestmark = pytest.mark.phase(challenge={"slug": "c"}, closes_at=NOW + timedelta(days=1))


@pytest.fixture
def owls(make: Any) -> Any:
    return make.user(username="owl")


@pytest.fixture
def board(phase: Any, make: Any, replicated: Any, owls: Any) -> Any:
    """Create a leaderboard on which the Foxes lead clearly, and the Owls and the baseline have similar scores."""
    make_team = make.team
    replicated(
        phase, [0.8, 0.9, 1.0], team=make_team(phase.challenge, name="Foxes"), file_name="secret.csv", note="our"
    )
    replicated(phase, [0.4, 0.5, 0.6], team=make_team(phase.challenge, owls, name="Owls"))
    replicated(phase, [0.5, 0.4, 0.3], team=make_team(phase.challenge, name="Prior", is_baseline=True))
    return phase


def visit(person: Any = None, **query: str) -> Page:
    client = Client()
    if person:
        client.force_login(person)
    return Page(client.get(ADDRESS, query))


def chosen(page: Page) -> list[str]:
    return [name for _, _, name in page.context["choices"]]


def verdicts(page: Page) -> list[str]:
    return [str(found.verdict) for found in page.context["differences"]]


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [("Owls", "Foxes", "better"), ("Foxes", "Owls", "worse"), ("Owls", "Prior", "tied"), ("Prior", "Foxes", "better")],
)
def test_anybody_compares_any_two_entries(a: str, b: str, verdict: str, board: Any) -> None:
    page = visit(a=a, b=b)
    assert (chosen(page), verdicts(page)) == ([a, b], [verdict])


def test_without_intervals_of_both_scores_the_page_says_what_is_missing(phase: Any, board: Any, scored: Any) -> None:
    scored(phase, 0.1, team=phase.challenge.teams.create(name="Bats"))
    words = visit(a="Owls", b="Bats").words
    assert "will be shown when the intervals of both scores have been computed" in words


@pytest.mark.parametrize("letter", ["a", "b"])
def test_a_name_with_a_null_character_has_no_entry(letter: str, board: Any) -> None:
    """A null character causes no error, although PostgreSQL refuses queries that contain this character."""
    assert "has no entry" in visit(**{letter: "Ow\0ls"}).words


def test_by_default_the_viewers_entry_is_compared_with_the_one_above(board: Any, owls: Any) -> None:
    assert chosen(visit(owls)) == ["Owls", "Foxes"]
    assert chosen(visit()) == ["Foxes", "Owls"]
    assert chosen(visit(owls, b="Owls")) == ["Foxes", "Owls"]


def test_no_class_file_or_note_of_another_team_is_shown(board: Any) -> None:
    board.feedback_classes = True
    board.save()
    page = visit(a="Owls", b="Foxes")
    assert [found.classes for found in page.context["differences"]] == [None]
    assert "secret.csv" not in page.words


@pytest.mark.parametrize(
    ("query", "sentence"), [({"a": "Nobody"}, "has no entry"), ({"a": "Owls", "b": "Owls"}, "same")]
)
def test_the_page_explains_why_entries_cannot_be_compared(query: dict[str, str], sentence: str, board: Any) -> None:
    page = visit(**query)
    assert verdicts(page) == []
    assert sentence in page.words


@pytest.mark.parametrize("entries", [0, 1])
def test_a_leaderboard_with_fewer_than_two_entries_compares_nothing(entries: int, phase: Any, scored: Any) -> None:
    for _ in range(entries):
        scored(phase, 0.5)
    page = visit()
    assert (page.status, verdicts(page)) == (200, [])
    assert not [link for link in Page(Client().get("/challenges/c/leaderboard")).links() if "compare" in link]


def test_private_entries_are_not_compared_before_the_end(board: Any) -> None:
    assert visit(split="private").status == 403


def test_under_ladder_feedback_no_entries_are_compared_before_the_end(make: Any, replicated: Any) -> None:
    phase = make.phase(make.challenge(slug="c"), feedback="ladder", closes_at=NOW + timedelta(days=1))
    for values in ([0.4, 0.5], [0.6, 0.7]):
        replicated(phase, values)
    assert visit().context["is_ladder"]
    assert verdicts(visit()) == []
    phase.closes_at = NOW - timedelta(hours=1)
    phase.save()
    assert verdicts(visit()) == ["worse"]


def test_the_leaderboard_links_to_the_comparison(board: Any) -> None:
    assert f"{ADDRESS}?split=public" in Page(Client().get("/challenges/c/leaderboard")).links()
