"""Tests check kits, which participants download to check files offline. A worker replaces outdated check kits."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from server.challenges.models import Challenge, Phase, Truth
from server.organize.services import kits
from server.submissions import queue
from tests.conftest import Make
from tests.server.documented import content_of
from worker.kits import make_kit

from .conftest import BundleFolder

pytestmark = pytest.mark.django_db
Import = Callable[..., list[str]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Replace the job queue. Return a list that collects the ground truths for which a new check kit is requested.

    A check kit is a file with which participants check submissions offline. The list contains IDs of ground truths.
    """
    keys: list[Any] = []
    monkeypatch.setattr(queue, "waiting", lambda kind: 0)
    monkeypatch.setattr(queue, "enqueue", lambda kind, key: keys.append(key))
    return keys


def kit_of(phase: Phase) -> dict[str, Any]:
    kit = Phase.objects.get(pk=phase.pk).kit
    assert kit is not None
    content: dict[str, Any] = json.loads(Path(kit.path).read_bytes())
    return content


def test_an_import_makes_the_kit_with_the_parameters_and_limits_of_the_phase(
    bundle: BundleFolder, run: Import, settings: Any, sent: list[Any]
) -> None:
    settings.SUBMISSION_MAX_BOXES = 1234
    bundle.sheet(phase="    parameters: {iou_threshold: 0.25}\n")
    run()
    kit = kit_of(Phase.objects.get())
    assert kit["texts"]["images"] == ["a", "b"]
    assert (kit["limits"]["boxes"], kit["parameters"]["iou_threshold"]) == (1234, 0.25)
    assert kit["texts"]["labels"] == []  # The bundle contains no public list of labels.
    kits.wake()
    assert sent == []


def test_a_worker_makes_an_outdated_kit_again_and_removes_the_old_file(
    run: Import, settings: Any, sent: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    run()
    phase = Phase.objects.get()
    old = Path(Truth.objects.get().kit.path)
    settings.SUBMISSION_MAX_BOXES = 99
    kits.wake()
    assert sent == [Truth.objects.get().pk]
    with django_capture_on_commit_callbacks(execute=True):
        make_kit(sent[0])
    assert kit_of(phase)["limits"]["boxes"] == 99
    assert not old.exists()
    kits.wake()
    assert len(sent) == 1


def test_a_truth_from_a_version_without_kits_gets_a_kit(run: Import, sent: list[Any]) -> None:
    run()
    before = kit_of(Phase.objects.get())
    Truth.objects.update(kit="", kit_made_with=None)
    kits.wake()
    make_kit(sent[0])
    assert kit_of(Phase.objects.get()) == before


def test_a_phase_whose_parameters_are_no_longer_accepted_gets_no_new_kit(run: Import, sent: list[Any]) -> None:
    run()
    Phase.objects.update(parameters={"iou_threshold": 7})
    kits.wake()
    assert sent == []


def test_making_a_kit_is_tried_only_once_for_a_truth_that_cannot_be_used(run: Import, sent: list[Any]) -> None:
    run()
    truth = Truth.objects.get()
    Truth.objects.update(kit="", kit_made_with=None)
    for file in (truth.prepared, truth.source):
        Path(file.path).write_bytes(b"damaged")
    make_kit(truth.pk)
    assert Phase.objects.get().kit is None
    kits.wake()
    assert sent == []


@pytest.mark.parametrize("address", ["/challenges/animals/data/kit", "/api/v1/challenges/animals/phases/main/kit"])
def test_page_and_api_serve_the_same_kit(run: Import, client: Client, address: str) -> None:
    run()
    assert b"".join(client.get(address).streaming_content) == Path(Truth.objects.get().kit.path).read_bytes()  # type: ignore[attr-defined]
    Truth.objects.update(kit="")
    assert client.get(address).status_code == 404


def test_the_data_page_links_the_kit_and_names_it_in_the_command(run: Import, client: Client) -> None:
    run()
    page = client.get("/challenges/animals/data").content.decode()
    assert "/challenges/animals/data/kit" in page
    assert "podium check --kit animals-main-kit.json" in page


def status(client: Client, address: str) -> int:
    answer = client.get(address)
    content_of(answer)  # Reading the whole response closes the file that it sends.
    return answer.status_code


FILES = ("data/kit", "data/sample")


@pytest.mark.parametrize("visibility", ["public", "private"])
def test_kit_and_template_are_served_before_the_phase_opens_to_everybody_who_sees_the_challenge(
    visibility: str, run: Import, client: Client, make: Make
) -> None:
    run()
    Challenge.objects.update(visibility=visibility, opens_at=datetime.now(UTC) + timedelta(days=7))
    organizer = make.user()
    Challenge.objects.get().organizers.add(organizer)
    addresses = [f"/challenges/animals/{file}" for file in FILES]
    addresses += [f"/api/v1/challenges/animals/phases/main/{file}" for file in ("kit", "template")]
    assert {status(client, address) for address in addresses} == {200 if visibility == "public" else 404}
    client.force_login(organizer)
    assert {status(client, address) for address in addresses[:2]} == {200}
