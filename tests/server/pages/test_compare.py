"""Tests the page that compares two submissions of a team."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.pages.views.compare import DIFFERENT_SIGNATURES, SAME
from server.submissions.models import Score, Submission
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.page import Page

NOW = datetime.now(UTC)


pytestmark = [
    pytest.mark.phase(challenge={"slug": "c"}, closes_at=NOW + timedelta(days=1)),
    pytest.mark.team(name="Owls"),
]


@pytest.fixture
def visit(client: Client) -> Callable[..., Page]:
    def visit(a: Submission | None = None, b: Submission | None = None) -> Page:
        named = {name: str(one.pk) for name, one in (("a", a), ("b", b)) if one}
        return Page(client.get("/challenges/c/compare", named))

    return visit


def verdicts(page: Page) -> list[str]:
    return [str(found.verdict) for found in page.context["differences"]]


@pytest.mark.parametrize(
    ("of_b", "verdict"),
    [
        ([0.6, 0.7, 0.8], "better"),
        ([0.1, 0.2, 0.3], "worse"),
        ([0.3, 0.5, 0.8], "tied"),
        ([0.4 + 1e-15, 0.5 + 1e-15, 0.6 + 1e-15], "tied"),  # The difference is due to rounding.
    ],
)
def test_the_replicates_determine_the_verdict(
    of_b: Any, verdict: str, phase: Phase, team: Team, replicated: Callable[..., Submission], visit: Callable[..., Page]
) -> None:
    a, b = replicated(phase, [0.4, 0.5, 0.6], team=team), replicated(phase, of_b, team=team)
    page = visit(a, b)
    assert verdicts(page) == [verdict]
    assert page.all("svg", class_="interval")


def test_a_submission_with_a_lower_score_is_not_better(
    phase: Phase, team: Team, replicated: Callable[..., Submission], visit: Callable[..., Page]
) -> None:
    """B is better in every replicate, but its score is lower, so the interval is extended to the difference."""
    a, b = replicated(phase, [0.4, 0.5, 0.6], team=team), replicated(phase, [0.6, 0.7, 0.8], team=team)
    Score.objects.filter(evaluation__submission=a).update(value=0.75)
    page = visit(a, b)
    assert verdicts(page) == ["tied"]
    (found,) = page.context["differences"]
    low, high = found.interval
    assert low <= found.difference < 0 < high


def test_replicates_of_other_draws_are_not_compared(
    phase: Phase, team: Team, replicated: Callable[..., Submission], visit: Callable[..., Page]
) -> None:
    a, b = replicated(phase, [0.4, 0.5], team=team), replicated(phase, [0.6, 0.7], team=team, seed=1)
    page = visit(a, b)
    assert verdicts(page) == ["unknown"]
    assert not page.all("svg", class_="interval")


def test_scores_with_different_signatures_are_not_compared(
    phase: Phase, team: Team, scored: Scored, visit: Callable[..., Page]
) -> None:
    page = visit(scored(phase, 0.4, team=team), scored(phase, 0.5, team=team, signature="x"))
    assert verdicts(page) == []
    assert page.context["message"] == DIFFERENT_SIGNATURES


def test_the_two_best_submissions_are_compared_by_default(
    phase: Phase, team: Team, scored: Scored, visit: Callable[..., Page]
) -> None:
    best, _, second = (scored(phase, value, team=team) for value in (0.9, 0.1, 0.5))
    chosen = [option["value"] for option in visit().all("option") if "selected" in option]
    assert chosen == [str(second.pk), str(best.pk)]


def test_a_comparison_needs_two_submissions(
    phase: Phase, team: Team, scored: Scored, visit: Callable[..., Page]
) -> None:
    scored(phase, 0.9, team=team)
    page = visit()
    assert not page.all("select")
    assert page.all("div", class_="empty")


def test_a_submission_is_not_compared_with_itself(
    phase: Phase, team: Team, scored: Scored, visit: Callable[..., Page]
) -> None:
    one = scored(phase, 0.9, team=team)
    assert visit(one, one).context["message"] == SAME


def test_a_submission_of_another_team_is_not_found(
    phase: Phase, team: Team, scored: Scored, visit: Callable[..., Page]
) -> None:
    assert visit(scored(phase, 0.9, team=team), scored(phase, 0.5)).status == 404
    assert visit(scored(phase, 0.8, team=team)).status == 200


def test_a_malformed_id_is_not_found(phase: Phase, team: Team, client: Client) -> None:
    assert client.get("/challenges/c/compare?a=1").status_code == 404


def test_private_numbers_stay_hidden_before_the_end(phase: Phase, team: Team, scored: Scored, client: Client) -> None:
    for private in (0.12345, 0.54321):
        scored(phase, 0.5, private=private, team=team)
    html = client.get("/challenges/c/compare").content
    assert b"0.12345" not in html
    assert b"0.54321" not in html
    assert b"0.41975" not in html


def test_under_ladder_feedback_nothing_is_compared_before_the_end(
    make: Make, member: User, replicated: Callable[..., Submission], client: Client
) -> None:
    phase = make.phase(make.challenge(slug="c"), feedback="ladder", closes_at=NOW + timedelta(days=1))
    team = make.team(phase.challenge, member)
    for replicates in ([0.44, 0.45, 0.46], [0.54, 0.56, 0.58]):
        replicated(phase, replicates, team=team)
    page = Page(client.get("/challenges/c/compare"))
    assert page.context["is_ladder"]
    assert not page.all("select")
    assert not [link for link in Page(client.get("/challenges/c/submissions")).links() if "/compare" in link]
    phase.closes_at = NOW - timedelta(hours=1)
    phase.save()
    assert verdicts(Page(client.get("/challenges/c/compare"))) == ["better"]


def test_the_list_of_submissions_links_to_the_comparison(
    phase: Phase, team: Team, scored: Scored, client: Client
) -> None:
    first, second = (scored(phase, value, team=team) for value in (0.4, 0.5))
    boxes = Page(client.get("/challenges/c/submissions")).all("input", form="compare")
    assert [box["value"] for box in boxes] == [str(second.pk), str(first.pk)]
    picked = Page(client.get("/challenges/c/compare", {"pick": [str(second.pk), str(first.pk)]}))
    assert [one.pk for _, _, one in picked.context["choices"]] == [first.pk, second.pk]


def test_differences_are_rounded_like_scores(
    make: Make, member: User, replicated: Callable[..., Submission], client: Client
) -> None:
    phase = make.phase(make.challenge(slug="c"), feedback="rounded", feedback_decimals=1)
    team = make.team(phase.challenge, member)
    replicated(phase, [0.44, 0.45, 0.46], team=team)
    replicated(phase, [0.54, 0.56, 0.58], team=team)
    response = client.get("/challenges/c/compare")
    assert verdicts(Page(response)) == ["better"]
    html = response.content
    assert not [number for number in (b"0.45", b"0.56", b"0.11", b"0.08", b"0.12") if number in html]


@pytest.mark.phase(feedback="rounded", feedback_decimals=2)
@pytest.mark.parametrize("change", [0.0015, 0.0, -0.0015])
def test_the_interval_of_a_difference_does_not_reveal_whether_one_image_is_better_or_worse(
    change: float, phase: Phase, team: Team, replicated: Callable[..., Submission], visit: Callable[..., Page]
) -> None:
    replicates = [0.611, 0.612, 0.613]
    a, b = (replicated(phase, [*replicates, last], team=team) for last in (0.612, 0.612 + change))
    (found,) = visit(a, b).context["differences"]
    assert (found.a, found.b, found.difference) == (0.61, 0.61, 0.0)
    assert (str(found.verdict), found.interval) == ("tied", (-0.01, 0.01))


def test_classes_are_compared_only_if_the_phase_shows_them(
    make: Make, member: User, scored: Scored, visit: Callable[..., Page]
) -> None:
    phase = make.phase(make.challenge(slug="c"), feedback_classes=True)
    team = make.team(phase.challenge, member)

    def one(*values: float | None) -> Submission:
        rows = [{"label": f"/m/{n}", "name": f"Class {n}", "ap": value} for n, value in enumerate(values)]
        report = {"splits": {"public": {"classes": rows}}}
        return scored(phase, 0.5, team=team, report=report)  # type: ignore[no-any-return]

    a, b = one(0.1, 0.5, 0.5, None), one(0.4, 0.2, 0.5, 0.9)
    (found,) = visit(a, b).context["differences"]
    assert (found.classes.better, found.classes.worse, found.classes.equal) == (1, 1, 1)
    phase.feedback_classes = False
    phase.save()
    (found,) = visit(a, b).context["differences"]
    assert found.classes is None


# The following tests are about the comparison that the page of a submission shows.


@pytest.mark.parametrize(
    ("values", "lucky"),
    [
        ([0.5, 0.4, 0.7], True),  # The new submission is better in some bootstrap replicates and worse in others.
        ([0.6, 0.7, 0.8], False),
    ],
)
def test_a_submission_shows_its_difference_from_the_teams_best_other_one(
    values: list[float],
    lucky: bool,
    phase: Phase,
    team: Team,
    client: Client,
    replicated: Callable[..., Submission],
) -> None:
    replicated(phase, [0.1, 0.2, 0.3], team=team)
    best = replicated(phase, [0.4, 0.5, 0.6], team=team)
    replicated(phase, [0.9, 0.9, 0.9])
    new = replicated(phase, values, team=team)
    page = Page(client.get(f"/submissions/{new.pk}/"))
    assert ("Possibly due to chance" in page.words) == lucky
    assert f"/challenges/c/compare?phase={phase.slug}&a={best.pk}&b={new.pk}" in page.links()
    assert page.context["improvement"].difference.difference == pytest.approx(sum(values) / 3 - 0.5)


@pytest.mark.phase(feedback="ladder")
def test_ladder_feedback_shows_no_difference_from_other_submissions(
    phase: Phase, team: Team, client: Client, replicated: Callable[..., Submission]
) -> None:
    replicated(phase, [0.4, 0.5, 0.6], team=team)
    new = replicated(phase, [0.6, 0.7, 0.8], team=team)
    assert not Page(client.get(f"/submissions/{new.pk}/")).context.get("improvement")
