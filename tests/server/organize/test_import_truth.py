"""Tests imports that run the real `podium prepare` as a child process."""

import gzip
import json
from collections import Counter
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.core.management import CommandError, call_command

from evaluator.bundle import InvalidBundle
from server.challenges.models import Challenge, Phase
from server.organize import podium
from server.organize.services.importing import import_bundle
from tests.conftest import Make
from tests.server.organize.conftest import BundleFolder

pytestmark = pytest.mark.usefixtures("make")

SALT = (
    "0123456789abcdef" * 2
    # With this salt, a split of 0.5 makes one of the two images public, and a split of 0.001 makes none public.
)
INVERTED = "a,/m/cat,0.5,0.1,0.1,0.5,0\n"


def problems_of(bundle: BundleFolder) -> list[tuple[str, str | None, int | None]]:
    with pytest.raises(InvalidBundle) as caught:
        import_bundle(path=bundle.path, by=None)
    assert caught.value.is_truth_fault
    return [(problem.code, problem.file, problem.line) for problem in caught.value.problems]


def add(bundle: BundleFolder, name: str, text: str) -> None:
    path = bundle.path / name
    path.write_text(path.read_text() + text)


def test_a_truth_is_prepared_and_a_sample_submission_is_created(bundle: BundleFolder) -> None:
    import_bundle(path=bundle.path, by=None)
    phase = Phase.objects.get()
    assert phase.truth is not None
    assert phase.truth.images == 2
    assert Path(phase.truth.prepared.path).read_bytes()[:6] == b"PODIUM"
    assert sorted(Path(phase.sample_submission.path).read_bytes().decode().split()) == [
        "ImageId,PredictionString",
        "a,",
        "b,",
    ]
    with ZipFile(phase.truth.source.path) as source:
        assert source.namelist() == ["boxes.csv", "image_labels.csv", "salt.txt"]


def test_every_fault_of_every_truth_is_reported_with_file_and_line(bundle: BundleFolder) -> None:
    for name in ("boxes.csv", "image_labels.csv"):
        bundle.write(f"phases/second/truth/{name}", (bundle.path / "phases/main/truth" / name).read_bytes())
    bundle.sheet(phase="  - slug: second\n    track: openimages-detection\n")
    add(bundle, "phases/main/truth/boxes.csv", INVERTED)
    add(bundle, "phases/second/truth/image_labels.csv", "b,/m/dog,often\n")
    assert problems_of(bundle) == [
        ("truth_inverted_box", "phases/main/truth/boxes.csv", 4),
        ("truth_bad_value", "phases/second/truth/image_labels.csv", 4),
    ]
    assert not Challenge.objects.exists()


def test_a_fault_of_usage_is_reported_with_the_path_of_the_file(bundle: BundleFolder) -> None:
    bundle.write("phases/main/usage.csv", "ImageID,Usage\na,Public\n")
    assert [(code, file) for code, file, _ in problems_of(bundle)] == [
        ("truth_usage_incomplete", "phases/main/usage.csv")
    ]


def test_a_split_without_public_images_is_refused(bundle: BundleFolder) -> None:
    bundle.write("phases/main/usage.csv", "ImageID,Usage\na,Private\nb,Ignored\n")
    assert [(code, file) for code, file, _ in problems_of(bundle)] == [("truth_bad_value", "phases/main/usage.csv")]
    (bundle.path / "phases/main/usage.csv").unlink()
    bundle.write("phases/main/truth/salt.txt", SALT)
    bundle.sheet(phase="    split: {public: 0.001}\n")
    assert [(code, file) for code, file, _ in problems_of(bundle)] == [("truth_bad_value", "phases/main/truth")]


def test_faults_that_are_not_shown_are_counted_for_each_code(bundle: BundleFolder) -> None:
    add(bundle, "phases/main/truth/boxes.csv", INVERTED * 25)
    add(bundle, "phases/main/truth/image_labels.csv", "b,/m/dog,often\n" * 23)
    with pytest.raises(InvalidBundle) as caught:
        import_bundle(path=bundle.path, by=None)
    told = Counter((problem.code, problem.file) for problem in caught.value.problems)
    inverted, bad = ("truth_inverted_box", "boxes.csv"), ("truth_bad_value", "image_labels.csv")
    assert {told[code, f"phases/main/truth/{file}"] for code, file in (inverted, bad)} == {21}
    more = [(problem.code, problem.message) for problem in caught.value.problems if problem.message.startswith("and ")]
    assert sorted(more) == [(bad[0], "and 3 more of this kind"), (inverted[0], "and 5 more of this kind")]


def test_every_defect_of_every_baseline_is_reported_before_anything_is_written(bundle: BundleFolder) -> None:
    head = "ImageId,PredictionString\n"
    bundle.write("phases/main/baselines/one.csv", f"{head}a,/m/cat nan 0.1 0.1 0.5 0.5\nb,\n")
    bundle.write("phases/main/baselines/two.csv.gz", gzip.compress(f"{head}a,\nb,/m/dog 0.5 0.1 0.1\n".encode()))
    files = "{name: One, file: baselines/one.csv}, {name: Two, file: baselines/two.csv.gz}"
    bundle.sheet(phase=f"    baselines: [{files}]\n")
    with pytest.raises(InvalidBundle) as caught:
        import_bundle(path=bundle.path, by=None)
    assert [(problem.code, problem.file, problem.line) for problem in caught.value.problems] == [
        ("not_finite", "phases/main/baselines/one.csv", 2),
        ("bad_tokens", "phases/main/baselines/two.csv.gz", 3),
    ]
    assert not Challenge.objects.exists()


@pytest.mark.usefixtures("inline_queue")
def test_a_baseline_is_checked_with_the_parameters_of_its_phase(bundle: BundleFolder) -> None:
    bundle.write("phases/main/baselines/one.csv", "ImageId,PredictionString\na,\n")
    lines = "    baselines: [{name: One, file: baselines/one.csv}]\n    parameters: {group_of_weight: 0, %s}\n"
    bundle.sheet(phase=lines % "require_all_images: yes")
    with pytest.raises(InvalidBundle):
        import_bundle(path=bundle.path, by=None)
    bundle.sheet(phase=lines % "require_all_images: no")
    import_bundle(path=bundle.path, by=None)


def test_a_gzipped_truth_is_the_same_truth(bundle: BundleFolder) -> None:
    import_bundle(path=bundle.path, by=None)
    path = bundle.path / "phases/main/truth/boxes.csv"
    path.with_name("boxes.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    said: list[str] = []
    import_bundle(path=bundle.path, by=None, report=said.append)
    assert said == ["nothing changed"]


def test_every_parameter_is_passed_to_podium_prepare(bundle: BundleFolder, tmp_path: Path) -> None:
    bundle.write("phases/main/truth/salt.txt", SALT)
    bundle.sheet(
        phase=(
            "    split: {public: 0.5, seed: 3}\n    parameters: {iou_threshold: 0.3, group_of_weight: 0,"
            " expand_hierarchy: no, expand_predictions: yes, require_all_images: yes, protocol: tfod}\n"
        )
    )
    import_bundle(path=bundle.path, by=None)
    assert "|iou:0.3|groupof:0|hierarchy:none|predictions:expand|" in Phase.objects.get().signature


def test_the_phase_has_the_signature_that_the_program_prints(
    bundle: BundleFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = []
    answer = podium.answer
    monkeypatch.setattr(podium, "answer", lambda *words: answers.append(answer(*words)) or answers[-1])
    import_bundle(path=bundle.path, by=None)
    assert answers[0]["signature"] == Phase.objects.get().signature


def test_the_command_prints_the_address(make: Make, bundle: BundleFolder, capsys: pytest.CaptureFixture[str]) -> None:
    make.user(username="organizer")
    call_command("import_challenge", bundle.path, organizer="Organizer")
    assert capsys.readouterr().out.splitlines()[-1].endswith("/challenges/animals/")


def test_the_command_reports_mistakes_of_the_truth_with_exit_3(
    bundle: BundleFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    add(bundle, "phases/main/truth/boxes.csv", INVERTED)
    with pytest.raises(CommandError) as caught:
        call_command("import_challenge", bundle.path)
    assert caught.value.returncode == 3
    assert "\nphases/main/truth/boxes.csv:4: truth_inverted_box " in capsys.readouterr().err


def test_the_command_reports_mistakes_of_the_bundle_with_exit_1(
    bundle: BundleFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle.sheet(phase="    finals: 0\n")
    with pytest.raises(CommandError) as caught:
        call_command("import_challenge", bundle.path)
    assert caught.value.returncode == 1
    assert "\nchallenge.yaml:6: bad_value phases[0].finals: " in capsys.readouterr().err


@pytest.mark.parametrize("words", [("nowhere",), (".", "--organizer", "nobody")])
def test_the_command_reports_missing_files_and_users(words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        call_command("import_challenge", *words)


def test_a_truth_with_subfolders_is_stored_completely(tmp_path: Path, make: Make) -> None:
    files = {
        "challenge.yaml": "slug: raw\ntitle: Raw\nphases:\n  - {slug: main, track: flickr30k-grounding}\n",
        "phases/main/truth/split.txt": "7\n",
        "phases/main/truth/Sentences/7.txt": "[/EN#1/people A man] waits .\n",
        "phases/main/truth/Annotations/7.xml": "<annotation><object><name>1</name><bndbox><xmin>1</xmin><ymin>1</ymin>"
        "<xmax>9</xmax><ymax>9</ymax></bndbox></object></annotation>",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    import_bundle(path=tmp_path, by=None)
    truth = Phase.objects.get().truth
    assert truth is not None
    with ZipFile(truth.source.path) as source:
        assert source.namelist() == ["Annotations/7.xml", "Sentences/7.txt", "salt.txt", "split.txt"]


def test_a_duplicated_box_causes_warnings_that_strict_turns_into_mistakes(
    bundle: BundleFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    add(bundle, "phases/main/truth/boxes.csv", "a,/m/cat,0.1,0.5,0.1,0.5,0\n")
    with pytest.raises(CommandError):
        call_command("import_challenge", bundle.path, strict=True)
    told = capsys.readouterr().err
    assert "phases/main/truth/boxes.csv:4: truth_duplicate " in told
    assert "1 object cannot be matched" in told
    assert not Challenge.objects.exists()
    call_command("import_challenge", bundle.path)
    said = capsys.readouterr()
    assert "phases/main/truth/boxes.csv:4: warning: truth_duplicate " in said.err
    assert "phase main: ceiling: all 0.62500 (1 object cannot be matched)" in said.out


def test_a_cycle_in_the_hierarchy_is_refused_with_its_location(
    bundle: BundleFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    cat = {"LabelName": "/m/cat", "Subcategory": [{"LabelName": "/m/dog", "Subcategory": [{"LabelName": "/m/cat"}]}]}
    bundle.write("phases/main/truth/hierarchy.json", json.dumps({"LabelName": "root", "Subcategory": [cat]}))
    with pytest.raises(CommandError) as caught:
        call_command("import_challenge", bundle.path)
    assert caught.value.returncode == 3
    told = capsys.readouterr().err
    assert "\nphases/main/truth/hierarchy.json: truth_hierarchy_cycle $.Subcategory[0]" in told
