"""A phase opens only after its ground truth and sample submission pass the gate (automatic acceptance checks)."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command

from evaluator import __version__
from evaluator.bundle.gates import CHECKS
from server.audit.models import Entry
from server.challenges.gate import gate_of, may_open
from server.challenges.models import Phase, Truth
from server.errors import Refused
from server.organize import podium
from server.organize.services import rescoring, truths
from server.submissions.models import Submission
from server.submissions.services import intake
from tests.conftest import Make
from tests.server.organize.conftest import BundleFolder

Import = Callable[..., list[str]]
IMAGES = "phases/main/truth/images.csv"
SAMPLE = "phases/main/sample_submission.csv"
TEXT = "ImageId,PredictionString\na,\nb,\n"
UNKNOWN = "ImageId,PredictionString\nno-such-image,\n"
# A ground truth whose only object is in a private image. Scores on the public images are undefined.
USAGE = "ImageID,Usage\na,Public\nb,Private\n"
ONE_BOX = "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\nb,/m/dog,0.2,0.6,0.2,0.6,0\n"

pytestmark = pytest.mark.usefixtures("make", "inline_queue")


def states() -> dict[int, str]:
    """Return the gate's state ("green" if all acceptance checks passed) for each ground truth version."""
    return {truth.version: gate_of(truth, truth.phase).state for truth in Truth.objects.order_by("version")}


def submit(make: Make) -> Submission:
    """Create a team and submit a file to the only phase."""
    phase, user = Phase.objects.get(), make.user()
    team = make.team(phase.challenge, user)
    return intake.submit(user=user, team=team, phase=phase, file=ContentFile(TEXT.encode(), "a.csv"))


def refuse(make: Make) -> str:
    """Submit a file, which must be rejected, and return the error message."""
    with pytest.raises(Refused) as caught:
        submit(make)
    assert caught.value.code == "phase_not_open"
    return caught.value.detail


@pytest.fixture
def with_images(bundle: BundleFolder) -> BundleFolder:
    """Add a list of the images to the bundle. Submissions that contain other images are then rejected."""
    bundle.write(IMAGES, "ImageID\na\nb\n")
    return bundle


@pytest.mark.usefixtures("one_process")
class TestImport:
    def test_a_phase_with_a_good_truth_is_open_after_the_import(
        self, bundle: BundleFolder, run: Import, make: Make
    ) -> None:
        run()
        truth = Truth.objects.get()
        assert truth.gate["evaluator"] == __version__
        assert [one["name"] for one in truth.gate["checks"]] == list(CHECKS)
        assert states() == {1: "green"}
        submit(make)

    def test_a_split_without_objects_keeps_the_phase_closed_until_the_truth_is_corrected(
        self, bundle: BundleFolder, run: Import, make: Make
    ) -> None:
        boxes = bundle.write("phases/main/truth/boxes.csv", ONE_BOX)
        bundle.write("phases/main/usage.csv", USAGE)
        bundle.write("phases/main/truth/image_labels.csv", "ImageID,LabelName,Confidence\na,/m/dog,1\nb,/m/dog,1\n")
        warned: list[Any] = []
        said = run(warn=warned.append)
        assert "phase main: gate: red (ceiling); submissions are refused until all checks are green" in said
        assert "gate_ceiling" in [warning.code for warning in warned]
        detail = refuse(make)
        assert "not open yet" in detail
        assert "ceiling" not in detail
        boxes.write_text(ONE_BOX + "a,/m/dog,0.2,0.6,0.2,0.6,0\n")
        run()
        submit(make)

    def test_a_sample_that_does_not_score_keeps_the_phase_closed_until_it_is_corrected(
        self, with_images: BundleFolder, run: Import, make: Make
    ) -> None:
        with_images.write(SAMPLE, UNKNOWN)
        run()
        assert states() == {1: "red"}
        refuse(make)
        with_images.write(SAMPLE, TEXT)
        run()
        assert states() == {1: "green"}
        submit(make)

    def test_a_phase_that_teams_use_is_closed_by_a_bad_sample(
        self, with_images: BundleFolder, run: Import, make: Make
    ) -> None:
        run()
        submit(make)
        with_images.write(SAMPLE, UNKNOWN)
        run()
        refuse(make)

    def test_a_new_version_is_tested_when_it_is_added_and_counts_when_it_is_active(
        self, with_images: BundleFolder, run: Import, make: Make
    ) -> None:
        run()
        phase = Phase.objects.get()
        folder = with_images.path / "phases/main/truth"
        for file in folder.iterdir():
            file.write_text(file.read_text().replace("\na", "\nc"))
        added = truths.add(phase=phase, path=folder, by=None, reveal=True)
        # Version 2 of the ground truth has no image a, but the sample submission does.
        assert states() == {1: "green", 2: "red"}
        assert [one.name for one in gate_of(added, phase).checks if not one.passed] == ["template"]
        submit(make)
        Truth.objects.update(active=False)
        Truth.objects.filter(version=2).update(active=True)
        refuse(make)


def test_the_tested_sample_is_the_one_that_participants_download(
    bundle: BundleFolder, run: Import, quick_podium: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle.write(SAMPLE, TEXT)
    run()
    quick, tested = podium.answer, list[str]()

    def answer(*words: str) -> dict[str, Any]:
        if words[0] == "gate":
            tested.append(Path(words[words.index("--sample") + 1]).read_text())
        return quick(*words)

    monkeypatch.setattr(podium, "answer", answer)
    bundle.write(IMAGES, "ImageID\na\nb\n")
    truths.add(phase=Phase.objects.get(), path=bundle.path / "phases/main/truth", by=None)
    assert tested == [TEXT]


@pytest.fixture
def tried(quick_podium: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Return a list that collects the arguments of each `podium gate` command."""
    quick, tried = podium.answer, list[tuple[str, ...]]()

    def answer(*words: str) -> dict[str, Any]:
        if words[0] == "gate":
            tried.append(words)
        return quick(*words)

    monkeypatch.setattr(podium, "answer", answer)
    return tried


def test_other_parameters_need_another_run(
    bundle: BundleFolder, run: Import, make: Make, tried: list[tuple[str, ...]]
) -> None:
    run()
    phase = Phase.objects.get()
    assert may_open(phase)
    Phase.objects.update(parameters={"iou_threshold": 0.6})
    assert states() == {1: "not run"}
    refuse(make)
    call_command("gate", phase.challenge.slug, phase.slug)
    assert tried[-1][tried[-1].index("--set") + 1] == "iou_threshold=0.6"
    submit(make)


def test_an_upgrade_of_the_evaluator_does_not_close_a_phase(phase: Phase) -> None:
    truth = Truth.objects.get()
    truth.gate["evaluator"] = "0.9.0"
    truth.save()
    assert may_open(Phase.objects.get())


def test_a_rescoring_tests_a_version_whose_gate_was_run_with_another_sample(
    bundle: BundleFolder, run: Import, make: Make, tried: list[tuple[str, ...]]
) -> None:
    run()
    phase = Phase.objects.get()
    bundle.write(IMAGES, "ImageID\na\nb\n")
    truths.add(phase=phase, path=bundle.path / "phases/main/truth", by=None)
    (bundle.path / IMAGES).unlink()
    bundle.write(SAMPLE, TEXT)
    run()
    assert states() == {1: "green", 2: "not run"}
    before = len(tried)
    for _ in range(2):
        rescoring.start(phase=phase, by=None, truth=rescoring.version_of(phase, 2))
    assert (states(), len(tried) - before) == ({1: "green", 2: "green"}, 1)
    assert Entry.objects.filter(action="truth.tested").count() == 1


def test_the_command_prints_every_check_and_fails_if_one_is_red(
    phase: Phase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checks = [
        {"name": "ceiling", "passed": True, "expected": "1", "got": "all 1.0"},
        {"name": "template", "passed": False, "expected": "accepted and scored", "got": "rejected: unknown_image"},
    ]
    result = {"evaluator": "1", "green": False, "checks": checks}
    monkeypatch.setattr(podium, "answer", lambda *words: result)
    with pytest.raises(CommandError, match="not green"):
        call_command("gate", phase.challenge.slug, phase.slug)
    printed = capsys.readouterr().out
    assert "ceiling: green: all 1.0" in printed
    assert (
        f"template: red: rejected: unknown_image\n  expected: accepted and scored\n  {CHECKS['template'].advice}"
        in printed
    )


def test_an_unreadable_prepared_truth_has_no_result(phase: Phase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(podium, "answer", lambda *words: {"errors": [], "counts": {}})
    with pytest.raises(CommandError, match="not run"):
        call_command("gate", phase.challenge.slug, phase.slug)
    assert not may_open(Phase.objects.get())


def test_the_command_names_what_does_not_exist(phase: Phase) -> None:
    for words, expected in (
        ((phase.challenge.slug, "nothing"), "There is no phase nothing"),
        ((phase.challenge.slug, phase.slug, "--truth", "9"), "no ground truth version 9"),
    ):
        with pytest.raises(CommandError, match=expected):
            call_command("gate", *words)


def test_phases_that_exist_before_the_migration_are_exempt(phase: Phase, make: Make) -> None:
    Truth.objects.update(gate=None)
    refuse(make)
    import_module("server.challenges.migrations.0027_gate").exempt_existing_phases(apps, None)
    submit(make)
    newer = make.phase()
    newer.truths.update(gate=None)
    assert not may_open(newer)
