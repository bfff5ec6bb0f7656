"""Until a phase has passed its gate (acceptance checks), all uploads are rejected. Only organizers see why."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Phase, Truth
from server.submissions.models import Submission
from tests.conftest import Make, green_gate
from tests.server.api.conftest import FILE, Tus, refused
from tests.server.documented import Api
from tests.server.page import Page

PATH = "challenges/detection/phases/main"
PAGE = "/organize/challenges/detection/phases/main"
SECRET = "rejected: unknown_image"

pytestmark = [
    pytest.mark.phase(challenge={"slug": "detection"}, slug="main"),
    pytest.mark.usefixtures("inline_queue", "team"),
]


@pytest.fixture
def red(phase: Phase) -> Truth:
    """Store a gate result in which one acceptance check has failed. Return the active ground truth."""
    truth = phase.truths.get()
    check = {"name": "template", "passed": False, "expected": "accepted and scored", "got": SECRET}
    truth.gate = {**green_gate(phase), "green": False, "checks": [check]}
    truth.save()
    return truth


@pytest.fixture
def boss(make: Make, phase: Phase) -> User:
    """Return an organizer of the challenge."""
    phase.challenge.organizers.add(boss := make.user(username="boss"))
    return boss


def a_file() -> SimpleUploadedFile:
    return SimpleUploadedFile("p.csv", FILE)


@pytest.mark.parametrize("gate", ["red", "missing"])
def test_the_api_refuses_a_file(api: Api, member: User, red: Truth, gate: str) -> None:
    if gate == "missing":
        Truth.objects.update(gate=None)
    answer = api.upload(f"{PATH}/submissions", file=FILE, user=member)
    assert refused(answer) == (409, "phase_not_open")
    assert "not open yet" in answer.json()["detail"]
    assert SECRET not in answer.content.decode()
    assert not Submission.objects.exists()


def test_the_page_refuses_a_file(member: User, client: Client, red: Truth) -> None:
    shown = Page(client.get("/challenges/detection/submit"))
    assert "not open yet" in shown.words
    sent = Page(client.post("/challenges/detection/submit", {"file": a_file()}))
    assert (sent.status, "phase_not_open" in sent.words) == (409, True)
    assert SECRET not in shown.words + sent.words
    assert not Submission.objects.exists()


def test_a_resumable_upload_is_refused_when_it_begins(tus: Tus, red: Truth) -> None:
    assert refused(tus.begin()) == (409, "phase_not_open")


def test_a_resumable_upload_is_refused_at_its_end_if_the_gate_has_become_red(tus: Tus, phase: Phase) -> None:
    assert tus.begin().status_code == 201
    phase.truths.update(gate=None)
    assert refused(tus.patch(0, FILE)) == (409, "phase_not_open")
    assert not Submission.objects.exists()


def test_a_rejected_file_cannot_be_submitted_anyway(
    api: Api, member: User, phase: Phase, client: Client, make: Make, red: Truth
) -> None:
    findings = {"errors": [], "counts": {"nothing_to_score": 1}, "notices": [], "total": 1}
    ended = {"status": "rejected", "finished_at": datetime.now(UTC), "problems": findings}
    rejected = make.submission(phase, member.memberships.get().team, **ended)
    sent = Page(client.post(f"/submissions/{rejected.pk}/submit-anyway"))
    assert (sent.status, "phase_not_open" in sent.words) == (409, True)
    assert Submission.objects.count() == 1


def test_the_api_says_that_the_phase_is_not_open(api: Api, phase: Phase) -> None:
    def is_open() -> Any:
        return api.get("challenges/detection").json()["phases"][0]["open"]

    assert is_open() is True
    phase.truths.update(gate=None)
    assert is_open() is False


def test_exempt_phases_accept_files(api: Api, member: User, red: Truth) -> None:
    Phase.objects.update(gate_exempt=True)
    assert api.upload(f"{PATH}/submissions", file=FILE, user=member).status_code == 201


def test_organizers_read_the_checks_through_the_api(api: Api, boss: User, red: Truth) -> None:
    (listed,) = api.get(f"{PATH}/truths", user=boss, scope="organize").json()["results"]
    (check,) = listed["gate"]["checks"]
    assert (listed["gate"]["state"], listed["gate"]["is_needed"]) == ("red", True)
    assert (check["name"], check["passed"], check["got"]) == ("template", False, SECRET)
    assert check["advice"].startswith("Fix the sample submission")


def test_organizers_read_the_checks_on_the_pages(client: Client, boss: User, red: Truth) -> None:
    client.force_login(boss)
    for path in ("/organize/challenges/detection", PAGE):
        assert "does not accept submissions" in Page(client.get(path)).words
    shown = Page(client.get(f"{PAGE}/truths/1")).words
    assert "✗ red" in shown
    assert SECRET in shown
    assert "Fix the sample submission" in shown


def test_participants_cannot_read_the_checks(api: Api, member: User, client: Client, red: Truth) -> None:
    assert api.get(f"{PATH}/truths", user=member, scope="organize").status_code == 403
    assert client.get(f"{PAGE}/truths/1").status_code == 403
    for path in ("", "/submit", "/data", "/leaderboard"):
        assert SECRET not in client.get(f"/challenges/detection{path}").content.decode()
    assert SECRET not in api.get("challenges/detection", user=member).content.decode()


def test_the_preview_of_a_rescoring_warns_if_the_gate_of_its_version_is_red(
    client: Client, boss: User, red: Truth
) -> None:
    client.force_login(boss)
    client.post(f"{PAGE}/rescore", {"truth": 1})
    assert "The gate of version 1 is not green." in Page(client.get(PAGE)).words
