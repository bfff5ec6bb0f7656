"""Organizers can correct a ground truth on their pages, and the public change log shows when and why they did so."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from server.accounts.models import User
from server.audit.models import Entry
from server.challenges.models import Phase, Truth
from server.organize.models import Rescoring
from tests.conftest import Make
from tests.server.api.test_organizing import TRUTH, zipped
from tests.server.conftest import Scored
from tests.server.organize.test_rescoring import add, done
from tests.server.page import Page

pytestmark = [pytest.mark.phase(challenge={"slug": "c"}, slug="main"), pytest.mark.usefixtures("inline_queue")]
PATH = "/organize/challenges/c/phases/main"


@pytest.fixture
def organizer(phase: Phase, member: User) -> User:
    phase.challenge.organizers.add(member)
    return member


@pytest.fixture
def newer(phase: Phase) -> Truth:
    return add(phase, version=2)


def read(client: Client, path: str = PATH) -> Page:
    return Page(client.get(path))


def active(phase: Phase) -> int:
    return Truth.objects.get(phase=phase, active=True).version


@pytest.mark.parametrize("act", ["apply", "discard"])
def test_a_decision_about_one_rescoring_does_not_act_on_another(
    phase: Phase, organizer: User, newer: Truth, client: Client, act: str
) -> None:
    client.post(f"{PATH}/rescore", {"truth": 2})
    shown = read(client).all("input", name="version")
    assert {one["value"] for one in shown} == {"2"}
    client.post(f"{PATH}/rescore", {"truth": 1})
    page = Page(client.post(f"{PATH}/{act}", {"version": "2", "reason": "Twelve boxes were wrong."}))
    assert (page.status, "against version 1 instead of 2" in page.words) == (409, True)
    begun = Rescoring.objects.get(applied_at=None)
    assert (begun.truth.version, begun.reason) == (1, "")
    assert client.post(f"{PATH}/{act}", {"version": "1"}).status_code == 302


def test_a_rescoring_is_previewed_applied_and_undone(
    phase: Phase, organizer: User, newer: Truth, client: Client, scored: Scored, make: Make
) -> None:
    first = scored(phase, 0.6, team=make.team(phase.challenge, name="Owls"))
    second = scored(phase, 0.5, team=make.team(phase.challenge, name="Bats"))
    assert client.post(f"{PATH}/rescore", {"truth": 2}).status_code == 302
    assert "2 submissions still have to be scored" in read(client).words
    done(first, 0.3)
    done(second, 0.4)
    page = read(client)
    assert "Bats 2 1 0.50000 0.40000" in page.words
    assert "Owls 1 2 0.60000 0.30000" in page.words
    assert active(phase) == 1
    client.post(f"{PATH}/apply", {"reason": "Twelve boxes were wrong.", "signed": "Ada"})
    assert active(phase) == 2
    log = Page(Client().get("/challenges/c/changes"))
    assert "Ground truth version 2" in log.words
    assert "Twelve boxes were wrong." in log.words
    assert "by Ada" in log.words
    client.post(f"{PATH}/rescore", {"truth": 1})
    client.post(f"{PATH}/apply", {})
    assert active(phase) == 1
    listed = json.loads(Client().get("/api/v1/challenges/c/phases/main/changes").content)["results"]
    assert [(one["truth"], one["reason"], one["signed"]) for one in listed] == [
        (1, "", ""),
        (2, "Twelve boxes were wrong.", "Ada"),
    ]


def test_a_discarded_rescoring_leaves_no_trace_but_in_the_audit_log(
    phase: Phase, organizer: User, newer: Truth, client: Client, scored: Scored
) -> None:
    scored(phase, 0.6)
    client.post(f"{PATH}/rescore", {"truth": 2})
    client.post(f"{PATH}/discard")
    assert not Rescoring.objects.exists()
    assert active(phase) == 1
    assert "has not been replaced" in Page(Client().get("/challenges/c/changes")).words
    assert Entry.objects.filter(action="rescoring.discarded").count() == 1


def test_the_change_log_says_nothing_about_an_open_rescoring(
    phase: Phase, organizer: User, newer: Truth, client: Client, scored: Scored
) -> None:
    scored(phase, 0.6)
    client.post(f"{PATH}/rescore", {"truth": 2})
    # The submission has no new score yet, so the rescoring cannot be applied.
    client.post(f"{PATH}/apply", {"reason": "Not yet public."})
    assert active(phase) == 1
    assert "Not yet public." not in Page(Client().get("/challenges/c/changes")).words
    assert json.loads(Client().get("/api/v1/challenges/c/phases/main/changes").content)["results"] == []


def test_a_truth_with_faults_is_listed_with_its_lines(phase: Phase, organizer: User, client: Client) -> None:
    broken = {**TRUTH, "boxes.csv": TRUTH["boxes.csv"].replace("0.5,0\n", "much,0\n")}
    page = Page(client.post(f"{PATH}/truth", {"file": SimpleUploadedFile("t.zip", zipped(broken))}))
    assert page.status == 422
    assert "truth/boxes.csv 2 YMax" in page.words
    assert Truth.objects.count() == 1


def test_a_new_version_is_added_but_not_activated(phase: Phase, organizer: User, client: Client) -> None:
    page = Page(client.post(f"{PATH}/truth", {"file": SimpleUploadedFile("t.zip", zipped(TRUTH))}))
    assert (page.status, "Version 2 was added" in page.words, active(phase)) == (200, True, 1)


def test_an_unknown_version_is_refused(phase: Phase, organizer: User, client: Client) -> None:
    assert client.post(f"{PATH}/rescore", {"truth": 9}).status_code == 404
