"""The list of a team's submissions, where notes and final submissions are changed."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Phase, Team
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.page import Page

NOW = datetime.now(UTC)
ADDRESS = "/challenges/c/submissions"


pytestmark = pytest.mark.phase(challenge={"slug": "c"}, closes_at=NOW + timedelta(days=1))


def visit(client: Client) -> Page:
    return Page(client.get(ADDRESS))


def test_a_team_sees_only_its_own_submissions(make: Make, phase: Phase, team: Team, client: Client) -> None:
    make.submission(phase, team, file_name="ours.csv")
    make.submission(phase, file_name="theirs.csv")
    words = visit(client).words
    assert "ours.csv" in words
    assert "theirs.csv" not in words


def test_an_empty_list_links_to_the_submit_page(team: Team, client: Client) -> None:
    assert visit(client).all("a", class_="button", href="/challenges/c/submit")


def test_the_best_submission_is_marked_and_private_scores_are_not_shown(
    phase: Phase, team: Team, scored: Scored, client: Client
) -> None:
    scored(phase, 0.5, team=team, private=0.98765)
    scored(phase, 0.4, team=team, private=0.1)
    words = visit(client).words
    assert "best 0.50000" in words
    assert words.count("best 0.") == 1
    assert "0.98765" not in words


def test_the_history_needs_two_scores(phase: Phase, team: Team, scored: Scored, client: Client) -> None:
    scored(phase, 0.5, team=team)
    assert not visit(client).all("svg", class_="history")
    scored(phase, 0.4, team=team)
    assert visit(client).all("svg", class_="history")


def test_scores_with_another_signature_are_not_in_the_history(
    phase: Phase, team: Team, scored: Scored, client: Client
) -> None:
    scored(phase, 0.5, team=team)
    scored(phase, 0.9, team=team, signature="another|way")
    assert not visit(client).all("svg", class_="history")


def test_a_note_is_changed_in_the_list(make: Make, phase: Phase, team: Team, client: Client) -> None:
    submission = make.submission(phase, team)
    response = client.post(f"/submissions/{submission.pk}/edit", {"note": "bigger model"})
    assert response.url == f"{ADDRESS}#s-{submission.pk}"
    assert visit(client).all("input", name="note")[0]["value"] == "bigger model"


def test_changing_a_note_does_not_change_final(phase: Phase, team: Team, scored: Scored, client: Client) -> None:
    submission = scored(phase, 0.5, team=team, final=True)
    client.post(f"/submissions/{submission.pk}/edit", {"note": "x"})
    submission.refresh_from_db()
    assert submission.final


def test_final_is_switched_on_and_off(phase: Phase, team: Team, scored: Scored, client: Client) -> None:
    submission = scored(phase, 0.5, team=team)
    for wanted in ("true", "false"):
        client.post(f"/submissions/{submission.pk}/edit", {"final": wanted})
        assert visit(client).all("button", role="switch")[0]["aria-checked"] == wanted


def test_one_final_submission_too_many_is_refused_on_the_page(
    phase: Phase, team: Team, scored: Scored, client: Client
) -> None:
    for _ in range(phase.finals):
        scored(phase, 0.5, team=team, final=True)
    page = Page(client.post(f"/submissions/{scored(phase, 0.4, team=team).pk}/edit", {"final": "true"}))
    assert page.status == 422
    assert page.context["refusal"].code == "invalid"
    assert page.context["finals_chosen"] == 2


def test_after_the_end_final_cannot_be_changed(make: Make, scored: Scored, member: User, client: Client) -> None:
    phase = make.phase(closes_at=NOW - timedelta(hours=1))
    submission = scored(phase, 0.5, team=make.team(phase.challenge, member))
    page = Page(client.post(f"/submissions/{submission.pk}/edit", {"final": "true"}))
    assert page.status == 409
    assert "phase_closed" in page.words


def test_a_page_lists_fifty_submissions(make: Make, phase: Phase, team: Team, client: Client) -> None:
    for _ in range(51):
        make.submission(phase, team)
    page = visit(client)
    assert "1–50 of 51" in page.words
    assert "?page=2" in page.links()
