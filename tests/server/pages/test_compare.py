"""Two entries of a team side by side: what may be said of them, and to whom."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from server.submissions.models import Submission
from tests.server.page import Page

NOW = datetime.now(UTC)


pytestmark = [
    pytest.mark.phase(challenge={"slug": "c"}, closes_at=NOW + timedelta(days=1)),
    pytest.mark.team(name="Owls"),
]


@pytest.fixture
def visit(client: Client) -> Any:
    def visit(a: Submission | None = None, b: Submission | None = None) -> Page:
        named = {name: str(one.pk) for name, one in (("a", a), ("b", b)) if one}
        return Page(client.get("/challenges/c/compare", named))

    return visit


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        ([0.6, 0.7, 0.8], "B is better"),
        ([0.1, 0.2, 0.3], "A is better"),
        ([0.3, 0.5, 0.8], "No significant difference"),
    ],
)
def test_the_replicates_decide(theirs: Any, words: str, phase: Any, team: Any, replicated: Any, visit: Any) -> None:
    a, b = replicated(phase, [0.4, 0.5, 0.6], team=team), replicated(phase, theirs, team=team)
    page = visit(a, b)
    assert words in page.words
    assert page.all("svg", class_="interval")


def test_other_draws_decide_nothing(phase: Any, team: Any, replicated: Any, visit: Any) -> None:
    a, b = replicated(phase, [0.4, 0.5], team=team), replicated(phase, [0.6, 0.7], team=team, seed=1)
    page = visit(a, b)
    assert "Not known yet" in page.words
    assert not page.all("svg", class_="interval")


def test_scores_of_two_kinds_are_not_compared(phase: Any, team: Any, scored: Any, visit: Any) -> None:
    assert (
        "scored with different signatures"
        in visit(scored(phase, 0.4, team=team), scored(phase, 0.5, team=team, signature="x")).words
    )


def test_unnamed_ones_are_the_two_best(phase: Any, team: Any, scored: Any, visit: Any) -> None:
    best, _, second = (scored(phase, value, team=team) for value in (0.9, 0.1, 0.5))
    chosen = [option["value"] for option in visit().all("option") if "selected" in option]
    assert chosen == [str(second.pk), str(best.pk)]


def test_one_alone_has_nothing_to_be_compared_with(phase: Any, team: Any, scored: Any, visit: Any) -> None:
    scored(phase, 0.9, team=team)
    assert "You need two scored submissions" in visit().words


def test_one_with_itself_is_said(phase: Any, team: Any, scored: Any, visit: Any) -> None:
    one = scored(phase, 0.9, team=team)
    assert "are the same submission" in visit(one, one).words


def test_another_team_s_entry_does_not_exist(phase: Any, team: Any, scored: Any, visit: Any) -> None:
    assert visit(scored(phase, 0.9, team=team), scored(phase, 0.5)).status == 404
    assert visit(scored(phase, 0.8, team=team)).status == 200


def test_what_is_no_id_does_not_exist(phase: Any, team: Any, client: Client) -> None:
    assert client.get("/challenges/c/compare?a=1").status_code == 404


def test_private_numbers_stay_hidden_before_the_end(phase: Any, team: Any, scored: Any, client: Client) -> None:
    for private in (0.12345, 0.54321):
        scored(phase, 0.5, private=private, team=team)
    html = client.get("/challenges/c/compare").content
    assert b"0.12345" not in html
    assert b"0.54321" not in html
    assert b"0.41975" not in html


def test_a_ladder_is_not_climbed_by_comparing(make: Any, member: Any, replicated: Any, client: Client) -> None:
    phase = make.phase(make.challenge(slug="c"), feedback="ladder", closes_at=NOW + timedelta(days=1))
    team = make.team(phase.challenge, member)
    for replicates in ([0.44, 0.45, 0.46], [0.54, 0.56, 0.58]):
        replicated(phase, replicates, team=team)
    page = Page(client.get("/challenges/c/compare"))
    assert "shows only clear improvements" in page.words
    assert not page.all("select")
    assert not [link for link in Page(client.get("/challenges/c/submissions")).links() if "/compare" in link]
    phase.closes_at = NOW - timedelta(hours=1)
    phase.save()
    assert "B is better" in Page(client.get("/challenges/c/compare")).words


def test_my_submissions_lead_there(phase: Any, team: Any, scored: Any, client: Client) -> None:
    first, second = (scored(phase, value, team=team) for value in (0.4, 0.5))
    links = Page(client.get("/challenges/c/submissions")).links()
    assert {f"/challenges/c/compare?phase={phase.slug}&a={one.pk}" for one in (first, second)} <= set(links)


def test_digits_are_those_of_the_phase(make: Any, member: Any, replicated: Any, client: Client) -> None:
    phase = make.phase(make.challenge(slug="c"), feedback="rounded", feedback_decimals=1)
    team = make.team(phase.challenge, member)
    replicated(phase, [0.44, 0.45, 0.46], team=team)
    replicated(phase, [0.54, 0.56, 0.58], team=team)
    html = client.get("/challenges/c/compare").content
    assert b"B is better" in html
    assert not [number for number in (b"0.45", b"0.56", b"0.11", b"0.08", b"0.12") if number in html]


def test_classes_are_won_and_lost_where_they_are_shown(make: Any, member: Any, scored: Any, visit: Any) -> None:
    phase = make.phase(make.challenge(slug="c"), feedback_classes=True)
    team = make.team(phase.challenge, member)

    def one(*values: float | None) -> Submission:
        rows = [{"label": f"/m/{n}", "name": f"Class {n}", "ap": value} for n, value in enumerate(values)]
        report = {"splits": {"public": {"classes": rows}}}
        return scored(phase, 0.5, team=team, report=report)  # type: ignore[no-any-return]

    a, b = one(0.1, 0.5, 0.5, None), one(0.4, 0.2, 0.5, 0.9)
    assert "By class: B is better on 1, worse on 1, equal on 1." in visit(a, b).words
    phase.feedback_classes = False
    phase.save()
    assert "B is better on" not in visit(a, b).words
