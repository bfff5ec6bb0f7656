"""Organizers see the submissions of all teams in a table, and can filter, download and requeue them."""

import csv
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from server.accounts.models import User
from server.audit.models import Entry
from server.challenges.models import Phase
from server.clock import database_now
from server.submissions.models import Rerun, Submission
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.page import Page

pytestmark = [
    pytest.mark.phase(challenge={"slug": "c"}, slug="main"),
    pytest.mark.usefixtures("inline_queue", "organizer"),
]
PHASE = "/organize/challenges/c/phases/main"
PATH = f"{PHASE}/submissions"
FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def organizer(phase: Phase, member: User) -> User:
    phase.challenge.organizers.add(member)
    return member


def ended(**fields: object) -> dict[str, object]:
    return {"status": "failed", "fault": "platform", "failure": "x", "finished_at": database_now(), **fields}


@pytest.fixture
def many(phase: Phase, make: Make, scored: Scored) -> None:
    """Create 20 submissions from two teams, one per day, and one submission to another phase.

    Every fifth submission has failed. Two failures are the organizers' fault, and two are the platform's fault.
    """
    owls = make.team(phase.challenge, make.user(username="ada"), name="Straße")
    bats = make.team(phase.challenge, make.user(username="bob"), name="Bats")
    for number in range(20):
        common = {"file_name": f"file-{number:02}.csv", "received_at": FIRST + timedelta(days=number)}
        team = owls if number % 2 else bats
        if number % 5:
            scored(phase, number / 20, team=team, private=0.123, interval=(0, 1), **common)
        else:
            fault = "organizer" if number < 10 else "platform"
            make.submission(phase, team, **ended(fault=fault, failure_code="accident"), **common)
    make.submission(make.phase(), file_name="elsewhere.csv")


def rows(client: Client, query: str = "") -> list[dict[str, str]]:
    """Return the rows of the CSV export for a query, after checking that the page shows the same number of rows."""
    response = client.get(f"{PATH}.csv?{query}")
    assert response["Content-Type"].startswith("text/csv")
    found = list(csv.DictReader(StringIO(b"".join(response).decode())))
    words = Page(client.get(f"{PATH}?{query}")).words
    assert f"{len(found)} submission{'' if len(found) == 1 else 's'} CSV" in words
    return found


def numbers(client: Client, query: str = "") -> list[int]:
    return [int(row["file_name"][5:7]) for row in rows(client, query)]


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", [*range(19, -1, -1)]),
        ("status=failed", [15, 10, 5, 0]),
        ("status=failed&fault=organizer", [5, 0]),
        ("code=accident&fault=platform", [15, 10]),
        ("team=STRASSE&status=failed", [15, 5]),
        ("user=ad&status=failed", [15, 5]),
        ("since=2026-03-03&until=2026-03-04", [3, 2]),
        ("q=FILE-07", [7]),
        ("without_interval=yes&until=2026-03-03", [2, 1]),
        ("sort=received&until=2026-03-02", [0, 1]),
        ("sort=-score&since=2026-03-15", [19, 18, 17, 16, 14, 15]),
        ("sort=score&since=2026-03-15", [14, 16, 17, 18, 19, 15]),
        ("sort=team&until=2026-03-04", [2, 0, 3, 1]),
        ("status=&team=&since=&page=1", [*range(19, -1, -1)]),
    ],
)
def test_page_and_csv_show_the_submissions_that_match(query: str, expected: list[int], client: Client) -> None:
    assert numbers(client, query) == expected


@pytest.mark.usefixtures("many")
def test_a_submission_is_found_by_its_id_and_by_the_beginning_of_its_sha256(client: Client) -> None:
    one = Submission.objects.get(file_name="file-03.csv")
    assert numbers(client, f"q={one.pk}") == numbers(client, f"q={one.sha256[:20]}") == [3]


@pytest.mark.usefixtures("many")
def test_the_csv_has_all_digits_and_the_private_score(client: Client) -> None:
    (row,) = rows(client, "q=file-19")
    assert (row["public"], row["private"], row["low"], row["high"]) == ("0.95", "0.123", "0.0", "1.0")
    assert (row["team"], row["user"], row["status"]) == ("Straße", "ada", "scored")


def test_a_spreadsheet_executes_no_cell(phase: Phase, make: Make, client: Client) -> None:
    team = make.team(phase.challenge, make.user(username="@eve"), name="=1+1")
    make.submission(phase, team, file_name="+cmd.csv", **ended(failure="-x"))
    (row,) = rows(client)
    assert [row[name] for name in ("team", "user", "file_name", "failure")] == ["'=1+1", "'@eve", "'+cmd.csv", "'-x"]


def test_private_notes_of_teams_are_not_shown(phase: Phase, make: Make, client: Client) -> None:
    make.submission(phase, note="secret plan")
    assert "secret plan" not in client.get(PATH).content.decode()
    assert "secret plan" not in b"".join(client.get(f"{PATH}.csv")).decode()


@pytest.mark.usefixtures("many")
def test_pages_keep_the_filter(phase: Phase, make: Make, client: Client) -> None:
    for _ in range(30):
        make.submission(phase, file_name="file-99.csv", **ended())
    page = Page(client.get(f"{PATH}?status=failed"))
    assert f"{PATH}?status=failed&page=2" in page.links()
    assert "26–34 of 34" in Page(client.get(f"{PATH}?status=failed&page=2")).words


def test_the_number_of_queries_does_not_grow_with_the_number_of_rows(
    phase: Phase, scored: Scored, client: Client
) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(PATH).status_code == 200
        return len(queries)

    scored(phase, 0.5)
    count()  # This request fills the caches before queries are counted.
    few = count()
    for number in range(9):
        scored(phase, number / 10)
    assert count() == few


def test_a_failed_submission_is_queued_again(phase: Phase, make: Make, organizer: User, client: Client) -> None:
    one, other = make.submission(phase, **ended()), make.submission(phase, **ended())
    answer = client.post(f"{PATH}/{one.pk}/requeue?status=failed")
    assert answer["Location"] == f"{PATH}?status=failed"
    one.refresh_from_db()
    other.refresh_from_db()
    assert (one.status, other.status) == ("queued", "failed")
    entry = Entry.objects.get(action="submission.requeued")
    assert (entry.subject, entry.actor) == (f"submission {one.pk}", organizer.username)


def test_a_scored_submission_is_rescored(phase: Phase, scored: Scored, organizer: User, client: Client) -> None:
    one = scored(phase, 0.5, interval=(0.4, 0.6))
    client.post(f"{PATH}/{one.pk}/requeue")
    assert Rerun.objects.get().submission == one
    entry = Entry.objects.get(action="submission.requeued")
    assert (entry.subject, entry.actor) == (f"submission {one.pk}", organizer.username)


def test_a_submission_that_waits_is_not_queued_again(phase: Phase, make: Make, client: Client) -> None:
    one = make.submission(phase)
    answer = client.post(f"{PATH}/{one.pk}/requeue")
    assert answer.status_code == 422
    assert "This submission is queued." in answer.content.decode()
    assert not Entry.objects.exists()


def test_a_submission_to_another_phase_is_not_found(make: Make, client: Client) -> None:
    one = make.submission(make.phase(), **ended())
    assert client.post(f"{PATH}/{one.pk}/requeue").status_code == 404


@pytest.mark.usefixtures("many")
def test_all_failed_submissions_that_match_are_queued_again(organizer: User, client: Client) -> None:
    page = client.post(f"{PATH}/requeue?fault=platform", follow=True)
    assert "2 of 2 failed submissions were queued again." in page.content.decode()
    assert numbers(client, "status=queued") == [15, 10]
    assert {entry.actor for entry in Entry.objects.filter(action="submission.requeued")} == {organizer.username}
    client.post(f"{PATH}/requeue")
    assert numbers(client, "status=queued") == [15, 10, 5, 0]


@pytest.mark.usefixtures("many")
def test_all_scores_without_an_interval_that_match_are_rescored(organizer: User, client: Client) -> None:
    assert "submissions without an interval" not in Page(client.get(PATH)).words
    query = "without_interval=yes&until=2026-03-03"
    assert "Rescore 2 submissions without an interval" in Page(client.get(f"{PATH}?{query}")).words
    page = client.post(f"{PATH}/rescore?{query}", follow=True)
    assert "2 of 2 scores without an interval were queued again." in page.content.decode()
    assert {one.submission.file_name for one in Rerun.objects.all()} == {"file-01.csv", "file-02.csv"}
    entries = Entry.objects.filter(action="submission.requeued")
    assert [(one.actor, one.detail) for one in entries] == [(organizer.username, {"for": "interval"})] * 2
    assert numbers(client, query) == []
    client.post(f"{PATH}/rescore")
    assert Rerun.objects.count() == 16


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    "query",
    [
        *("status=unheard-of", "fault=nobody", "code=x", "sort=none", "since=yesterday", "until=2026-02-30"),
        *("without_interval=no", "status=Failed", "statuss=failed", "team=%00", f"q={'x' * 201}"),
    ],
)
def test_an_unknown_filter_selects_nothing(query: str, client: Client) -> None:
    assert client.get(f"{PATH}?{query}").status_code == 422
    assert client.get(f"{PATH}.csv?{query}").status_code == 422
    assert client.post(f"{PATH}/requeue?{query}").status_code == 422
    assert numbers(client, "status=queued") == []


def test_a_refusal_of_one_submission_does_not_stop_the_others(phase: Phase, make: Make, client: Client) -> None:
    team = make.team(phase.challenge)
    make.submission(phase, team, **ended(file_name="again.csv", content=b"same"))
    make.submission(phase, team, content=b"same")
    make.submission(phase, team, **ended())
    page = client.post(f"{PATH}/requeue", follow=True).content.decode()
    assert "1 of 2 failed submissions were queued again." in page
    assert "again.csv: Your team submitted the same file" in page


def test_a_team_is_disqualified_with_a_reason_and_reinstated(
    phase: Phase, make: Make, organizer: User, client: Client
) -> None:
    team = make.team(phase.challenge, name="Owls")
    make.submission(phase, team)
    address = f"{PHASE}/teams/{team.pk}"
    assert address in Page(client.get(PATH)).links()
    refused = client.post(address, {"act": "disqualify", "reason": " "})
    assert refused.status_code == 422
    client.post(address, {"act": "disqualify", "reason": "Two accounts."})
    team.refresh_from_db()
    assert team.disqualification_reason == "Two accounts."
    assert "disqualified" in Page(client.get(PATH)).words
    assert rows(client)[0]["disqualified"] == "true"
    client.post(address, {"act": "reinstate", "reason": "They are siblings."})
    team.refresh_from_db()
    assert team.disqualified_at is None
    acts = Entry.objects.filter(subject=f"team {team.pk}").order_by("number")
    assert [(one.action, one.actor, one.detail["reason"]) for one in acts] == [
        ("team.disqualified", organizer.username, "Two accounts."),
        ("team.reinstated", organizer.username, "They are siblings."),
    ]


def test_a_team_of_another_challenge_is_not_found(make: Make, client: Client) -> None:
    assert client.get(f"{PHASE}/teams/{make.team(make.challenge()).pk}").status_code == 404
