"""The stored result of a phase's gate (its acceptance checks) remains valid until one of their inputs changes."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from server.challenges.gate import current_settings, gate_of, may_open
from server.challenges.models import Phase, Truth
from server.errors import Refused
from server.organize import podium
from server.organize.services import gates, rescoring, truths
from tests.conftest import Make
from tests.server.organize.conftest import BundleFolder

Import = Callable[..., list[str]]
IMAGES = "phases/main/truth/images.csv"
SAMPLE = "phases/main/sample_submission.csv"
TEXT = "ImageId,PredictionString\na,\nb,\n"
RED = {"name": "template", "passed": False, "expected": "accepted and scored", "got": "rejected: unknown_image"}

pytestmark = pytest.mark.usefixtures("make", "inline_queue")


def state() -> str:
    """Return the state of the acceptance checks of the active ground truth: "green", "red" or "not run"."""
    phase = Phase.objects.get()
    assert phase.truth is not None
    return gate_of(phase.truth, phase).state


class Gates:
    """A stub for `podium gate`, which runs acceptance checks. Tests can count its runs and change its result."""

    def __init__(self, others: Callable[..., dict[str, Any]]) -> None:
        self.others, self.runs = others, 0
        self.is_green = True
        self.meanwhile: Callable[[], Any] = lambda: None

    def __call__(self, *words: str) -> dict[str, Any]:
        if words[0] != "gate":
            return self.others(*words)
        self.runs += 1
        self.meanwhile()
        return {"evaluator": "1", "green": self.is_green, "checks": [] if self.is_green else [RED]}


@pytest.fixture
def stub(quick_podium: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch) -> Gates:
    monkeypatch.setattr(podium, "answer", stub := Gates(podium.answer))
    return stub


def test_an_import_of_an_unchanged_bundle_keeps_a_green_gate(run: Import, stub: Gates) -> None:
    run()
    stub.is_green = False  # Simulate an upgrade to stricter acceptance checks, which this bundle would fail.
    run()
    assert (stub.runs, state()) == (1, "green")


def test_an_import_of_an_unchanged_bundle_runs_a_red_gate_again(run: Import, stub: Gates) -> None:
    stub.is_green = False
    run()
    stub.is_green = True
    run()
    assert (stub.runs, state()) == (2, "green")


@pytest.mark.parametrize("changed", ["sample", "parameters", "split"])
def test_an_import_runs_a_green_gate_again_if_what_it_tests_has_changed(
    changed: str, bundle: BundleFolder, run: Import, stub: Gates
) -> None:
    run()
    if changed == "sample":
        bundle.write(SAMPLE, TEXT)
    else:
        lines = {"parameters": "parameters: {iou_threshold: 0.6}", "split": "split: {public: 0.5}"}
        bundle.sheet(phase=f"    {lines[changed]}\n")
    run()
    assert (stub.runs, state()) == (2, "green")


def test_an_earlier_sample_makes_the_earlier_result_of_another_version_valid_again(
    bundle: BundleFolder, run: Import, stub: Gates
) -> None:
    bundle.write(SAMPLE, TEXT)
    run()
    bundle.write(IMAGES, "ImageID\na\nb\n")
    added = truths.add(phase=Phase.objects.get(), path=bundle.path / "phases/main/truth", by=None)
    (bundle.path / IMAGES).unlink()
    for text, expected in ((TEXT.replace("b,\n", ""), "not run"), (TEXT, "green")):
        bundle.write(SAMPLE, text)
        run()
        assert gate_of(Truth.objects.get(pk=added.pk), Phase.objects.get()).state == expected


@pytest.mark.parametrize("changed", ["sample", "parameters", "truth"])
def test_a_result_is_not_stored_if_what_was_tested_was_changed_during_the_run(
    changed: str, bundle: BundleFolder, run: Import, stub: Gates
) -> None:
    run()
    truth = Truth.objects.get()
    before = truth.gate

    def change() -> None:
        if changed == "sample":
            Phase.objects.update(sample_sha256="5a" * 32)
        elif changed == "parameters":
            Phase.objects.update(parameters={"iou_threshold": 0.6})
        else:
            Truth.objects.update(prepared="prepared-again.podium")

    stub.meanwhile, stub.is_green = change, False
    with pytest.raises(Refused, match="Run the gate again"):
        gates.run_again(truth, by=None)
    assert Truth.objects.get().gate == before


def test_a_version_is_not_added_if_the_sample_was_changed_while_it_was_tested(
    bundle: BundleFolder, run: Import, stub: Gates
) -> None:
    run()
    bundle.write(IMAGES, "ImageID\na\nb\n")
    stub.meanwhile = lambda: Phase.objects.update(sample_sha256="5a" * 32)
    with pytest.raises(Refused, match="Add the ground truth again"):
        truths.add(phase=Phase.objects.get(), path=bundle.path / "phases/main/truth", by=None)
    assert Truth.objects.count() == 1


class TestOutOfTime:
    @pytest.fixture(autouse=True)
    def out_of_time(self, stub: Gates) -> None:
        def stop() -> None:
            raise podium.TookTooLong("gate", "took longer than 1 s")

        stub.meanwhile = stop

    def test_an_import_warns_that_the_gate_was_not_run_and_says_how_to_run_it(self, run: Import) -> None:
        warned: list[Any] = []
        said = " ".join(run(warn=warned.append))
        assert (state(), may_open(Phase.objects.get())) == ("not run", False)
        assert "gate: not run, because it took longer than" in said
        assert "manage.py gate" in said
        assert "gate_unfinished" in [one.code for one in warned]

    def test_the_command_prints_the_reason_and_a_later_run_opens_the_phase(self, run: Import, stub: Gates) -> None:
        run()
        with pytest.raises(CommandError, match="not run: it took longer than"):
            call_command("gate", "animals", "main")
        stub.meanwhile = lambda: None
        call_command("gate", "animals", "main")
        assert state() == "green"

    def test_a_green_gate_is_kept(self, run: Import, stub: Gates) -> None:
        run()
        Truth.objects.update(
            gate={"settings": current_settings(Phase.objects.get()), "evaluator": "1", "green": True, "checks": []}
        )
        call_command("gate", "animals", "main")
        assert state() == "green"


def test_a_gate_may_take_longer_than_one_evaluation() -> None:
    assert podium.seconds_for("gate") == settings.GATE_WALL_SECONDS > settings.EVALUATION_WALL_SECONDS
    assert podium.seconds_for("prepare") == settings.EVALUATION_WALL_SECONDS


@pytest.mark.child_process
def test_a_command_that_is_killed_leaves_no_temporary_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hanging = tmp_path / "evaluator" / "__main__.py"
    hanging.parent.mkdir()
    hanging.write_text("import tempfile, time\ntempfile.mkdtemp()\nprint('ready', flush=True)\ntime.sleep(600)\n")
    monkeypatch.setattr(settings, "BASE_DIR", tmp_path)
    monkeypatch.setattr(settings, "GATE_WALL_SECONDS", 5)
    seen: list[list[Path]] = []

    def see(line: str) -> None:
        seen.append([*settings.FILE_UPLOAD_TEMP_DIR.glob("podium-*/tmp*")])

    with pytest.raises(subprocess.TimeoutExpired):
        podium.run_podium("gate", report=see)
    assert len(seen) == len(seen[0]) == 1
    assert not [*settings.FILE_UPLOAD_TEMP_DIR.glob("podium-*")]


class TestExemption:
    @pytest.fixture(autouse=True)
    def exempt(self, make: Make, run: Import, stub: Gates) -> None:
        run()
        Phase.objects.update(gate_exempt=True)
        Truth.objects.update(gate=None)
        stub.is_green = False

    def test_an_import_of_an_exempt_truth_has_no_warning(self, run: Import, stub: Gates) -> None:
        warned: list[Any] = []
        said = run(warn=warned.append)
        assert not [one for one in warned if one.code.startswith("gate")]
        assert "gate:" not in " ".join(said)
        assert may_open(Phase.objects.get())

    def test_an_imported_truth_that_replaces_it_must_pass(self, bundle: BundleFolder, run: Import) -> None:
        bundle.write(IMAGES, "ImageID\na\nb\n")
        warned: list[Any] = []
        run(warn=warned.append)
        assert "gate_template" in [one.code for one in warned]
        assert (state(), Phase.objects.get().gate_exempt, may_open(Phase.objects.get())) == ("red", False, False)

    def test_a_version_that_a_rescoring_activates_must_pass(self, bundle: BundleFolder, stub: Gates) -> None:
        bundle.write(IMAGES, "ImageID\na\nb\n")
        phase = Phase.objects.get()
        added = truths.add(phase=phase, path=bundle.path / "phases/main/truth", by=None)
        begun = rescoring.start(phase=phase, by=None, truth=added)
        with pytest.raises(Refused, match="version 2 is not green"):
            rescoring.apply(rescoring=begun, by=None)
        rescoring.apply(rescoring=begun, by=None, without_gate=True)
        assert not may_open(Phase.objects.get())
        assert not Phase.objects.get().gate_exempt

    def test_a_rescoring_to_the_active_version_needs_no_gate(self, stub: Gates) -> None:
        phase = Phase.objects.get()
        rescoring.apply(rescoring=rescoring.start(phase=phase, by=None), by=None)
        assert stub.runs == 1
        assert may_open(Phase.objects.get())


class TestRescoring:
    @pytest.fixture
    def begun(self, bundle: BundleFolder, run: Import, stub: Gates) -> Any:
        """Begin a rescoring against a new version of the ground truth, which has failed an acceptance check."""
        run()
        stub.is_green = False
        bundle.write(IMAGES, "ImageID\na\nb\n")
        phase = Phase.objects.get()
        added = truths.add(phase=phase, path=bundle.path / "phases/main/truth", by=None)
        return rescoring.start(phase=phase, by=None, truth=added)

    def test_a_red_version_becomes_active_only_with_consent(self, begun: Any) -> None:
        with pytest.raises(Refused) as caught:
            rescoring.apply(rescoring=begun, by=None)
        assert caught.value.code == "gate_not_green"
        assert "set without_gate" in caught.value.detail
        assert Truth.objects.get(active=True).version == 1
        with pytest.raises(CommandError, match="not green"):
            call_command("rescore", "animals", "main", "--truth", "2")
        call_command("rescore", "animals", "main", "--truth", "2", "--without-gate")
        assert Truth.objects.get(active=True).version == 2

    def test_a_phase_that_has_ended_needs_no_consent(self, begun: Any) -> None:
        Phase.objects.update(closes_at="2020-01-02T00:00Z", opens_at="2020-01-01T00:00Z")
        rescoring.apply(rescoring=begun, by=None)
        assert Truth.objects.get(active=True).version == 2


@pytest.mark.usefixtures("one_process")
def test_the_checks_are_reported_while_the_gate_is_run(
    bundle: BundleFolder, run: Import, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    run(progress=said.append)
    assert [line.split(":")[:3] for line in said] == [
        ["phase main", " gate", f" {name}"] for name in ("ceiling", "empty", "template", "broken", "repeat", "order")
    ]
