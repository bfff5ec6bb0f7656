"""Who may open which page: a table of pages and people, and what they are answered."""

from typing import Any
from uuid import uuid4

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import resolve

from server.accounts import urls as accounts
from server.pages import urls as pages

# page, nobody, a stranger with an account, a member, another team's member, an organizer
TABLE = [
    ("/", 200, 200, 200, 200, 200),
    ("/challenges/c/", 200, 200, 200, 200, 200),
    ("/challenges/c/data", 200, 200, 200, 200, 200),
    ("/challenges/c/rules", 200, 200, 200, 200, 200),
    ("/challenges/c/leaderboard", 200, 200, 200, 200, 200),
    ("/challenges/c/leaderboard.csv", 200, 200, 200, 200, 200),
    ("/challenges/c/leaderboard?split=private", 403, 403, 403, 403, 200),
    ("/challenges/c/leaderboard?split=all", 403, 403, 403, 403, 200),
    ("/challenges/c/leaderboard.csv?split=private", 403, 403, 403, 403, 200),
    ("/challenges/c/submit", 302, 403, 200, 200, 403),
    ("/challenges/c/submissions", 302, 403, 200, 200, 403),
    ("/challenges/c/team", 302, 403, 200, 200, 403),
    ("/submissions/{id}/", 302, 404, 200, 404, 200),
    ("/submissions/{id}/panel", 401, 404, 200, 404, 200),
    ("/challenges/c/data/sample", 200, 200, 200, 200, 200),
    ("/challenges/c/join", 405, 405, 405, 405, 405),
    ("/submissions/{id}/cancel", 405, 405, 405, 405, 405),
    ("/submissions/{id}/edit", 405, 405, 405, 405, 405),
    ("/accounts/", 302, 200, 200, 200, 200),
    ("/accounts/signup", 200, 302, 302, 302, 302),
    ("/accounts/login", 200, 302, 302, 302, 302),
    ("/accounts/logout", 405, 405, 405, 405, 405),
    ("/accounts/tokens", 405, 405, 405, 405, 405),
    ("/accounts/tokens/1/revoke", 405, 405, 405, 405, 405),
    ("/accounts/password", 302, 200, 200, 200, 200),
    ("/accounts/password/forgotten", 200, 200, 200, 200, 200),
    ("/accounts/password/sent", 200, 200, 200, 200, 200),
    ("/accounts/password/new/MQ/bad-token", 200, 200, 200, 200, 200),
    ("/accounts/password/done", 200, 200, 200, 200, 200),
    ("/challenges/none/", 404, 404, 404, 404, 404),
    ("/challenges/c/?phase=none", 404, 404, 404, 404, 404),
]
PEOPLE = ("nobody", "stranger", "member", "rival", "organizer")


@pytest.fixture
def people(make: Any) -> dict[str, Any]:
    return {"nobody": None, **{name: make.user(username=name) for name in PEOPLE[1:]}}


@pytest.fixture
def submission(make: Any, scored: Any, people: dict[str, Any]) -> Any:
    phase = make.phase(make.challenge(slug="c"), sample_submission=ContentFile(b"ImageId,PredictionString\n", "s.csv"))
    phase.challenge.organizers.add(people["organizer"])
    make.team(phase.challenge, people["rival"])
    return scored(phase, 0.5, private=0.4, team=make.team(phase.challenge, people["member"]))


def as_(person: Any) -> Client:
    client = Client()
    if person:
        client.force_login(person)
    return client


@pytest.mark.parametrize(
    ("address", "column", "name"), [(row[0], at, name) for row in TABLE for at, name in enumerate(PEOPLE)]
)
def test_page_for_person(address: str, column: int, name: str, submission: Any, people: dict[str, Any]) -> None:
    expected = next(row for row in TABLE if row[0] == address)[column + 1]
    response = as_(people[name]).get(address.format(id=submission.pk))
    b"".join(response)  # to its end, so that a file that is sent is closed
    assert response.status_code == expected


def test_the_table_covers_every_page() -> None:
    some = uuid4()
    covered = {resolve(row[0].format(id=some).partition("?")[0]).url_name for row in TABLE}
    assert {route.name for route in (*pages.urlpatterns, *accounts.urlpatterns)} - covered == set()


@pytest.mark.parametrize("path", ["", "data", "rules", "leaderboard", "leaderboard.csv", "submit", "data/sample"])
def test_a_private_challenge_does_not_exist_for_strangers(path: str, make: Any) -> None:
    challenge = make.challenge(slug="c", visibility="private")
    phase = make.phase(challenge, sample_submission=ContentFile(b"ImageId,PredictionString\n", "s.csv"))
    member = make.user()
    make.team(phase.challenge, member)
    assert as_(make.user()).get(f"/challenges/c/{path}").status_code == 404
    response = as_(member).get(f"/challenges/c/{path}")
    b"".join(response)
    assert response.status_code == 200


def test_a_private_challenge_is_not_listed_for_strangers(make: Any) -> None:
    make.challenge(slug="c", visibility="private", title="Hidden thing")
    assert b"Hidden thing" not in as_(make.user()).get("/").content


def test_an_unlisted_challenge_opens_by_its_address_only(make: Any) -> None:
    make.challenge(slug="c", visibility="unlisted", title="Quiet thing")
    assert b"Quiet thing" not in as_(None).get("/").content
    assert as_(None).get("/challenges/c/").status_code == 200


@pytest.mark.parametrize("action", ["cancel", "edit"])
@pytest.mark.parametrize(("name", "expected"), [("nobody", 302), ("stranger", 404), ("rival", 404)])
def test_others_change_nothing(action: str, name: str, expected: int, submission: Any, people: dict[str, Any]) -> None:
    response = as_(people[name]).post(f"/submissions/{submission.pk}/{action}", {"note": "mine now"})
    assert response.status_code == expected
    submission.refresh_from_db()
    assert submission.note == ""


@pytest.mark.parametrize(
    "path", ["/challenges/c/join", "/submissions/{id}/cancel", "/submissions/{id}/edit", "/accounts/tokens"]
)
def test_what_changes_something_is_no_get(path: str, submission: Any, people: dict[str, Any]) -> None:
    assert as_(people["member"]).get(path.format(id=submission.pk)).status_code == 405


def test_a_form_without_its_token_is_not_taken(submission: Any, people: dict[str, Any]) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people["member"])
    response = client.post(f"/submissions/{submission.pk}/edit", {"note": "forged"})
    assert response.status_code == 403
    assert b"too old" in response.content


def test_a_login_leads_back(submission: Any) -> None:
    assert as_(None).get("/challenges/c/submit").url == "/accounts/login?next=/challenges/c/submit"


def test_a_panel_of_someone_logged_out_sends_them_to_the_login(submission: Any) -> None:
    response = as_(None).get(f"/submissions/{submission.pk}/panel")
    assert response["HX-Redirect"].startswith("/accounts/login?next=")
