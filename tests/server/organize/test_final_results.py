"""Results are signed as final only when they can no longer change. An operator must confirm a new signing key."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from evaluator.cli import main
from server.audit.models import Entry
from server.challenges.models import Phase
from server.clock import database_now
from server.organize.models import Rescoring, SigningKey
from server.submissions.models import Status
from tests.conftest import Make
from tests.server.conftest import Scored

START, END = datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
PAGE, API = "/challenges/c/results.json", "/api/v1/challenges/c/phases/main/results"
OVER: dict[str, Any] = {"challenge": {"slug": "c", "opens_at": START}, "slug": "main", "closes_at": END}
pytestmark = pytest.mark.phase(**OVER)


@pytest.fixture
def over(phase: Phase, scored: Scored, make: Make) -> Phase:
    scored(phase, 0.5, private=0.4, team=make.team(phase.challenge, name="Owls"))
    return phase


@pytest.fixture
def organizer(phase: Phase, make: Make) -> Client:
    user, client = make.user(), Client()
    phase.challenge.organizers.add(user)
    client.force_login(user)
    return client


def test_results_of_a_finished_phase_are_final(over: Phase, client: Client) -> None:
    found = json.loads(client.get(PAGE).content)["results"]
    assert (found["final"], found["unfinished"]) == (True, [])


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING])
def test_a_waiting_submission_makes_them_preliminary(over: Phase, make: Make, client: Client, status: str) -> None:
    lease = {"lease_token": uuid4(), "lease_until": database_now()} if status == Status.RUNNING else {}
    make.submission(over, status=status, **lease)
    check_refused(client, "1 submission queued or running")


def test_an_open_rescoring_makes_them_preliminary(over: Phase, client: Client) -> None:
    Rescoring.objects.create(phase=over, truth=over.truths.get(), signature="x", started_at=database_now())
    check_refused(client, "a rescoring is open")


@pytest.mark.phase(**OVER | {"closes_at": None})
def test_results_of_an_open_phase_are_preliminary_for_organizers(over: Phase, organizer: Client) -> None:
    check_refused(organizer, "the private scores are not shown yet")


def check_refused(client: Client, reason: str) -> None:
    """Check that final results are refused for the given reason, and that preliminary results contain this reason."""
    for address in (PAGE, PAGE.replace("json", "csv"), API, f"{API}?format=csv"):
        refused = client.get(address)
        assert (refused.status_code, reason in refused.content.decode()) == (409, True)
        mark = "&" if "?" in address else "?"
        given = client.get(f"{address}{mark}preliminary=1")
        assert (given.status_code, "preliminary-results" in given["Content-Disposition"]) == (200, True)
        if "csv" not in address:
            found = json.loads(given.content)["results"]
            assert (found["final"], found["unfinished"]) == (False, [reason])


@pytest.mark.parametrize("address", [PAGE, PAGE.replace("json", "csv"), API, f"{API}?format=csv"])
def test_a_second_download_of_equal_results_is_not_modified(over: Phase, client: Client, address: str) -> None:
    tag = client.get(address)["ETag"]
    again = client.get(address, headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    Phase.objects.filter(pk=over.pk).update(feedback="rounded", feedback_decimals=2)
    assert client.get(address, headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.phase(**OVER | {"closes_at": None})
def test_a_refused_download_has_no_tag(over: Phase, client: Client) -> None:
    refused = client.get(f"{PAGE}?preliminary=1")
    assert (refused.status_code, refused.has_header("ETag")) == (403, False)


def test_downloads_of_organizers_are_audited_and_others_are_not(over: Phase, organizer: Client, client: Client) -> None:
    for address in (PAGE, PAGE.replace("json", "csv")):
        organizer.get(address)
        client.get(address)
    found = Entry.objects.filter(action="results.exported").order_by("number")
    assert [one.detail for one in found] == [{"format": "json", "final": True}, {"format": "csv", "final": True}]
    tag = organizer.get(PAGE)["ETag"]
    assert organizer.get(PAGE, headers={"If-None-Match": tag}).status_code == 304
    assert found.all().count() == 3


def test_another_key_does_not_sign_until_it_is_accepted(
    over: Phase, client: Client, settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, key = tmp_path / "old.json", tmp_path / "key.json"
    old.write_bytes(client.get(PAGE).content)
    settings.SIGNING_KEY = "another" * 9
    refused = client.get(PAGE)
    assert (refused.status_code, b"manage.py signing_key --replace" in refused.content) == (503, True)
    with pytest.raises(CommandError, match="not the key that signed"):
        call_command("signing_key")
    call_command("signing_key", "--replace")
    assert client.get(PAGE).status_code == 200
    key.write_bytes(client.get("/api/v1/signing-key").content)
    assert main(["verify", str(old), "--key", str(key)]) == 0
    assert "an earlier key of the server" in capsys.readouterr().out
    assert main(["verify", str(old), "--key", json.loads(key.read_text())["public_key"]]) == 7
    assert Entry.objects.filter(action="signing_key.replaced").count() == SigningKey.objects.count() - 1 == 1


def test_the_command_writes_final_results_and_preliminary_ones_on_request(
    over: Phase, make: Make, tmp_path: Path
) -> None:
    call_command("export_results", "c", "main", str(tmp_path / "final.json"))
    assert main(["verify", str(tmp_path / "final.json")]) == 0
    make.submission(over)
    with pytest.raises(CommandError, match="1 submission queued or running"):
        call_command("export_results", "c", "main", str(tmp_path / "x.json"))
    assert not (tmp_path / "x.json").exists()
    call_command("export_results", "c", "main", str(tmp_path / "x.csv"), "--preliminary")
    assert (tmp_path / "x.csv").read_text().startswith("split,rank,team,")
    assert Entry.objects.filter(action="results.exported").count() == 2
