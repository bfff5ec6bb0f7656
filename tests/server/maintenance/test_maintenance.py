"""In maintenance mode, everything can be read, and changes are refused with an error code and an expected end time."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.cache import caches
from django.core.management import CommandError, call_command
from django.test import Client

from server.accounts.models import User
from server.audit.models import Entry
from server.challenges.models import Phase, Team
from server.clock import database_now, utc_text
from server.maintenance.models import Maintenance
from server.maintenance.services import begin, end
from server.runtime import doctor
from server.submissions.models import Submission
from tests.conftest import Make
from tests.server.documented import Api
from tests.server.page import Page

NOW = datetime.now(UTC)
FILE = b"ImageId,PredictionString\na,\n"
UPLOAD = "challenges/detection/phases/main/submissions"

pytestmark = [
    pytest.mark.phase(challenge={"slug": "detection"}, slug="main"),
    pytest.mark.usefixtures("phase", "team"),
]


@pytest.fixture(autouse=True)
def fresh_status() -> Iterator[None]:
    caches["status"].clear()
    yield
    caches["status"].clear()


@pytest.fixture
def maintenance(team: Team) -> Maintenance:
    return begin(minutes=30, reason="New disks.", by=None)


@pytest.mark.usefixtures("maintenance")
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/challenges/detection/",
        "/challenges/detection/leaderboard",
        "/challenges/detection/submissions",
        "/challenges/detection/submit",
        "/api/v1/challenges/detection/phases/main/quota",
        "/readyz",
    ],
)
def test_everything_can_be_read(path: str, client: Client) -> None:
    assert client.get(path).status_code == 200


@pytest.mark.usefixtures("inline_queue")
def test_an_upload_is_refused_with_a_code_and_the_end_until_the_maintenance_ends(
    api: Api, member: User, maintenance: Maintenance
) -> None:
    refused = api.upload(UPLOAD, file=FILE, user=member)
    problem = refused.json()
    assert (refused.status_code, problem["code"]) == (503, "maintenance")
    assert datetime.fromisoformat(problem["until"]) == maintenance.until
    assert 1700 < int(refused["Retry-After"]) <= 1800
    assert utc_text(maintenance.until) in problem["detail"]
    assert "New disks." in problem["detail"]
    assert Submission.objects.count() == 0
    end(by=None)
    assert api.upload(UPLOAD, file=FILE, user=member).status_code == 201


@pytest.mark.usefixtures("maintenance")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("post", "/challenges/detection/submit"),
        ("post", "/challenges/detection/team"),
        ("post", "/accounts/signup"),
        ("post", "/api/v1/challenges/detection/join"),
        ("patch", "/api/v1/uploads/00000000-0000-0000-0000-000000000000"),
    ],
)
def test_whatever_changes_something_is_refused(method: str, path: str, client: Client) -> None:
    answer = getattr(client, method)(path)
    assert answer.status_code == 503
    assert int(answer["Retry-After"]) > 1700


@pytest.mark.usefixtures("maintenance")
def test_the_submit_page_shows_the_end_before_a_file_is_chosen(client: Client, maintenance: Maintenance) -> None:
    assert utc_text(maintenance.until) in Page(client.get("/challenges/detection/submit")).words


@pytest.mark.usefixtures("maintenance")
def test_people_can_log_in_and_out(make: Make) -> None:
    make.user(username="ada")
    browser = Client()
    answer = browser.post("/accounts/login", {"login": "ada", "password": make.password})
    assert (answer.status_code, "_auth_user_id" in browser.session) == (302, True)
    assert browser.post("/accounts/logout").status_code == 302
    assert "_auth_user_id" not in browser.session


def test_a_maintenance_that_takes_longer_stays_on_and_says_so(client: Client, maintenance: Maintenance) -> None:
    Maintenance.objects.update(until=database_now() - timedelta(minutes=5))
    answer = client.post("/api/v1/challenges/detection/join")
    assert (answer.status_code, answer["Retry-After"]) == (503, "60")
    assert "longer than planned" in answer.json()["detail"]


def test_the_status_page_shows_the_maintenance(client: Client, maintenance: Maintenance) -> None:
    shown = client.get("/status.json").json()["maintenance"]
    assert (shown["reason"], datetime.fromisoformat(shown["until"])) == ("New disks.", maintenance.until)
    assert "New disks." in Page(client.get("/status")).words
    assert [one.subject for one in doctor.check_maintenance()] == ["maintenance"]


def test_without_maintenance_the_status_has_none(client: Client) -> None:
    assert client.get("/status.json").json()["maintenance"] is None
    assert list(doctor.check_maintenance()) == []


def called(*words: str) -> str:
    output = StringIO()
    call_command("maintenance", *words, stdout=output)
    return output.getvalue()


def test_the_command_turns_it_on_and_off_and_records_who_did_it(member: User) -> None:
    assert called() == "off\n"
    name = member.username
    assert called("on", "--minutes", "5", "--reason", "Disks", "--as", name).startswith("on until about")
    assert called("on", "--minutes", "50", "--as", name).startswith("on until about")
    assert Maintenance.objects.count() == 1
    assert (called("off", "--as", name), called("off")) == ("off\n", "was already off\n")
    actions = [(one.action, one.actor_id) for one in Entry.objects.order_by("number")]
    assert actions == [(f"maintenance.{what}", str(member.pk)) for what in ("started", "started", "ended")]


def test_the_command_names_the_phases_that_close_during_the_maintenance(phase: Phase) -> None:
    Phase.objects.filter(pk=phase.pk).update(closes_at=datetime.now(UTC) + timedelta(minutes=20))
    assert "closes before" not in called("on", "--minutes", "5")
    assert "detection/main closes before the maintenance ends" in called("on", "--minutes", "60")


@pytest.mark.parametrize(
    "words", [("on",), ("off", "--minutes", "5"), ("--reason", "x"), ("on", "--minutes", "5", "--reason", "x" * 201)]
)
def test_incomplete_words_are_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        called(*words)
    assert Maintenance.objects.count() == 0


@pytest.mark.parametrize("minutes", ["0", "-1", "1.5", "ten", "99999", ""])
def test_a_duration_is_a_number_of_minutes(minutes: str) -> None:
    with pytest.raises(CommandError):
        called("on", "--minutes", minutes)
