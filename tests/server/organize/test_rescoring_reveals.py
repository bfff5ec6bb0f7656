"""Without consent, a rescoring does not make private images public, whichever version of the ground truth is active."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from server.challenges.models import Phase, Truth
from server.errors import Refused
from server.organize.models import Rescoring
from server.organize.services import applying, rescoring, truths
from tests.conftest import Make
from tests.server.documented import Api
from tests.server.page import Page

BOXES = "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\nx,/m/cat,0.1,0.5,0.1,0.5,0\ny,/m/cat,0.1,0.5,0.1,0.5,0\n"
LABELS = "ImageID,LabelName,Confidence\nx,/m/cat,1\ny,/m/cat,1\n"
USAGE = "ImageID,Usage\nx,Public\ny,Private\n"
Z = "z,/m/cat,1\n"
PATH = "challenges/animals/phases/main"


pytestmark = [
    pytest.mark.phase(challenge={"slug": "animals"}, slug="main"),
    pytest.mark.usefixtures("inline_queue"),
]


def write(folder: Path, *, z: str = "") -> Path:
    folder.mkdir()
    files = {"boxes.csv": BOXES, "image_labels.csv": LABELS + Z * bool(z), "usage.csv": USAGE + z}
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def versions(phase: Phase, tmp_path: Path) -> dict[str, Truth]:
    """Create three versions of the ground truth: without image z, with z as private, and with z as public.

    The second and third versions are added while the first is active. Neither of them makes public an image that is
    private in the first version. Finally, the second version is made active.
    """
    added = {}
    for name, z in (("without", ""), ("private", "z,Private\n"), ("public", "z,Public\n")):
        added[name] = truths.add(phase=phase, path=write(tmp_path / name, z=z), by=None)
        if name == "without":
            switch(phase, added[name])
    switch(phase, added["private"])
    return added


def switch(phase: Phase, truth: Truth) -> None:
    rescoring.apply(rescoring=rescoring.start(phase=phase, by=None, truth=truth), by=None)


def active(phase: Phase) -> Truth:
    return Truth.objects.get(phase=phase, active=True)


def test_a_rescoring_does_not_begin_without_consent(phase: Phase, versions: dict[str, Truth]) -> None:
    with pytest.raises(Refused, match="1 private image would become public"):
        rescoring.start(phase=phase, by=None, truth=versions["public"])
    assert not Rescoring.objects.filter(applied_at=None).exists()


def test_a_rescoring_is_not_applied_without_consent(phase: Phase, versions: dict[str, Truth]) -> None:
    begun = rescoring.start(phase=phase, by=None, truth=versions["public"], reveal=True)
    with pytest.raises(Refused, match="1 private image would become public"):
        rescoring.apply(rescoring=begun, by=None)
    for typed in ("", "animals", "Main"):
        with pytest.raises(Refused, match=r"1 private image would become public, .* type the short name .*: main"):
            applying.apply(found=begun, by=None, confirm=typed)
    assert active(phase) == versions["private"]
    applying.apply(found=begun, by=None, confirm=" main ")
    assert active(phase) == versions["public"]


@pytest.mark.parametrize("typed", ["", "main"])
def test_only_an_owner_applies_a_rescoring_that_reveals(
    phase: Phase, versions: dict[str, Truth], make: Make, typed: str
) -> None:
    phase.challenge.organizers.add(editor := make.user(), through_defaults={"role": "editor"})
    begun = rescoring.start(phase=phase, by=None, truth=versions["public"], reveal=True)
    with pytest.raises(Refused) as refusal:
        applying.apply(found=begun, by=editor, confirm=typed)
    assert (refusal.value.code, active(phase)) == ("forbidden", versions["private"])


def test_the_page_says_what_becomes_public_and_asks_for_the_name(
    phase: Phase, versions: dict[str, Truth], make: Make, client: Client
) -> None:
    phase.challenge.organizers.add(owner := make.user())
    client.force_login(owner)
    page, version = "/organize/challenges/animals/phases/main", str(versions["public"].version)
    refused = Page(client.post(f"{page}/rescore", {"truth": version}))
    assert f"Preview version {version} anyway" in refused.words
    assert client.post(f"{page}/rescore", {"truth": version, "reveal": "on"}).status_code == 302
    assert "to confirm" not in Page(client.get(page)).words
    asked = client.post(f"{page}/apply", {"reason": "Wrong split"})
    assert "1 private image would become public" in Page(asked).words
    assert "Type main to confirm" in Page(asked).words
    assert 'value="Wrong split"' in asked.content.decode()
    assert active(phase) == versions["private"]
    assert client.post(f"{page}/apply", {"reason": "Wrong split", "confirm": "main"}).status_code == 302
    assert active(phase) == versions["public"]


def test_a_truth_that_became_active_after_the_comparison_prevents_the_switch(
    phase: Phase, versions: dict[str, Truth], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = rescoring.start(phase=phase, by=None, truth=versions["without"])

    def meanwhile(*_: Any) -> None:
        truths.activate(versions["public"])

    monkeypatch.setattr(rescoring, "refuse_newly_public", meanwhile)
    with pytest.raises(Refused, match="The active ground truth was changed"):
        rescoring.apply(rescoring=begun, by=None)


def test_after_the_phase_private_images_may_become_public(phase: Phase, versions: dict[str, Truth]) -> None:
    Phase.objects.update(closes_at=datetime.now(UTC) - timedelta(hours=1))
    switch(Phase.objects.get(pk=phase.pk), versions["public"])
    assert active(phase) == versions["public"]


def test_a_version_added_while_a_phase_was_closed_is_compared_before_a_rescoring(
    phase: Phase, versions: dict[str, Truth], tmp_path: Path
) -> None:
    Phase.objects.update(closes_at=datetime.now(UTC) - timedelta(hours=1))
    folder = write(tmp_path / "later")
    (folder / "usage.csv").write_text("ImageID,Usage\nx,Private\ny,Public\n")
    added = truths.add(phase=Phase.objects.get(pk=phase.pk), path=folder, by=None)
    Phase.objects.update(closes_at=None)
    with pytest.raises(Refused, match="1 private image would become public"):
        rescoring.start(phase=Phase.objects.get(pk=phase.pk), by=None, truth=added)


def test_a_damaged_truth_is_restored_before_it_is_compared(phase: Phase, versions: dict[str, Truth]) -> None:
    for truth in versions.values():
        Path(truth.prepared.path).write_bytes(b"PODIUM")
    with pytest.raises(Refused, match="1 private image would become public"):
        rescoring.start(phase=phase, by=None, truth=versions["public"])


def test_a_truth_that_cannot_be_compared_is_not_used_without_consent(phase: Phase, versions: dict[str, Truth]) -> None:
    for file in (versions["private"].prepared, versions["private"].source):
        Path(file.path).write_bytes(b"damaged")
    with pytest.raises(Refused, match="unknown what the new ground truth would reveal"):
        rescoring.start(phase=phase, by=None, truth=versions["without"])
    rescoring.start(phase=phase, by=None, truth=versions["without"], reveal=True)


def test_the_command_accepts_reveal_for_a_version(phase: Phase, versions: dict[str, Truth]) -> None:
    named = str(versions["public"].version)
    with pytest.raises(CommandError, match="1 private image would become public"):
        call_command("rescore", "animals", "main", truth=named)
    call_command("rescore", "animals", "main", truth=named, reveal=True)
    assert active(phase) == versions["public"]


def test_the_api_accepts_reveal_for_a_version(phase: Phase, versions: dict[str, Truth], api: Api, make: Make) -> None:
    phase.challenge.organizers.add(boss := make.user(username="boss"))
    asked = {"truth": versions["public"].version}
    who = {"user": boss, "scope": "organize"}
    refused = api.post(f"{PATH}/rescore", asked, **who)
    assert (refused.status_code, "set reveal" in refused.json()["detail"]) == (422, True)
    assert api.post(f"{PATH}/rescore", {**asked, "reveal": True}, **who).status_code == 200
    unconfirmed = api.post(f"{PATH}/rescore/apply", {}, **who)
    assert (unconfirmed.status_code, "type the short name" in unconfirmed.json()["detail"]) == (422, True)
    assert api.post(f"{PATH}/rescore/apply", {"confirm": "animals"}, **who).status_code == 422
    assert api.post(f"{PATH}/rescore", {**asked, "reveal": True, "preview": False}, **who).status_code == 422
    assert active(phase) == versions["private"]
    assert api.post(f"{PATH}/rescore/apply", {"confirm": "main"}, **who).json()["truth"]["active"]


def test_an_empty_truth_argument_does_not_mean_the_current_folder(phase: Phase) -> None:
    with pytest.raises(CommandError, match="--truth: is empty"):
        call_command("rescore", "animals", "main", "--truth=")
