"""A team's table: its own only, with honest scores, notes and finals changed in place."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from tests.server.page import Page

NOW = datetime.now(UTC)
ADDRESS = "/challenges/c/submissions"


pytestmark = pytest.mark.phase(challenge={"slug": "c"}, closes_at=NOW + timedelta(days=1))


def table(client: Client) -> Page:
    return Page(client.get(ADDRESS))


def test_a_team_sees_its_own_only(make: Any, phase: Any, team: Any, client: Client) -> None:
    make.submission(phase, team, file_name="ours.csv")
    make.submission(phase, file_name="theirs.csv")
    words = table(client).words
    assert "ours.csv" in words
    assert "theirs.csv" not in words


def test_an_empty_table_leads_to_the_submit_page(team: Any, client: Client) -> None:
    assert table(client).all("a", class_="button", href="/challenges/c/submit")


def test_the_best_is_marked_and_private_scores_are_not_shown(
    phase: Any, team: Any, scored: Any, client: Client
) -> None:
    scored(phase, 0.5, team=team, private=0.98765)
    scored(phase, 0.4, team=team, private=0.1)
    words = table(client).words
    assert "best 0.50000" in words
    assert words.count("best 0.") == 1
    assert "0.98765" not in words


def test_two_scores_make_a_history(phase: Any, team: Any, scored: Any, client: Client) -> None:
    scored(phase, 0.5, team=team)
    assert not table(client).all("svg", class_="history")
    scored(phase, 0.4, team=team)
    assert table(client).all("svg", class_="history")


def test_scores_of_another_way_of_scoring_are_not_in_the_history(
    phase: Any, team: Any, scored: Any, client: Client
) -> None:
    scored(phase, 0.5, team=team)
    scored(phase, 0.9, team=team, signature="another|way")
    assert not table(client).all("svg", class_="history")


def test_a_note_is_changed_in_place(make: Any, phase: Any, team: Any, client: Client) -> None:
    submission = make.submission(phase, team)
    response = client.post(f"/submissions/{submission.pk}/edit", {"note": "bigger model"})
    assert response.url == f"{ADDRESS}#s-{submission.pk}"
    assert table(client).all("input", name="note")[0]["value"] == "bigger model"


def test_changing_a_note_leaves_the_final_alone(phase: Any, team: Any, scored: Any, client: Client) -> None:
    submission = scored(phase, 0.5, team=team, final=True)
    client.post(f"/submissions/{submission.pk}/edit", {"note": "x"})
    submission.refresh_from_db()
    assert submission.final


def test_a_final_is_switched_on_and_off(phase: Any, team: Any, scored: Any, client: Client) -> None:
    submission = scored(phase, 0.5, team=team)
    for wanted in ("true", "false"):
        client.post(f"/submissions/{submission.pk}/edit", {"final": wanted})
        assert table(client).all("button", role="switch")[0]["aria-checked"] == wanted


def test_one_final_too_many_is_refused_on_the_page(phase: Any, team: Any, scored: Any, client: Client) -> None:
    for _ in range(phase.finals):
        scored(phase, 0.5, team=team, final=True)
    page = Page(client.post(f"/submissions/{scored(phase, 0.4, team=team).pk}/edit", {"final": "true"}))
    assert page.status == 422
    assert "Take one back" in page.words
    assert "2 of 2 final submissions chosen" in page.words


def test_after_the_end_finals_stay(make: Any, scored: Any, member: Any, client: Client) -> None:
    phase = make.phase(closes_at=NOW - timedelta(hours=1))
    submission = scored(phase, 0.5, team=make.team(phase.challenge, member))
    page = Page(client.post(f"/submissions/{submission.pk}/edit", {"final": "true"}))
    assert page.status == 409
    assert "phase_closed" in page.words


def test_fifty_stand_on_a_page(make: Any, phase: Any, team: Any, client: Client) -> None:
    for _ in range(51):
        make.submission(phase, team)
    page = table(client)
    assert "1–50 of 51" in page.words
    assert "?page=2" in page.links()
