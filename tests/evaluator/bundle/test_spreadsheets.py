"""Files that a spreadsheet or archive program has changed are rejected with a message that explains what to do."""

import io
import zipfile
from pathlib import Path

import pytest

from evaluator.cli import main
from evaluator.synthesis import synthesize

SHEET = """\
slug: animals
title: Animals
contact: a@example.org
phases:
  - slug: main
    track: openimages-detection
"""
TRUTH = "phases/main/truth"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "bundle"
    synthesize("openimages-detection", tmp_path / "made", images=4, qualities=())
    (folder / TRUTH).parent.mkdir(parents=True)
    (tmp_path / "made" / "truth").rename(folder / TRUTH)
    (folder / "challenge.yaml").write_text(SHEET)
    return folder


@pytest.mark.parametrize(
    ("replaced", "message"),
    [
        ((b",", b";"), "separated by semicolons"),
        ((b",", b"\t"), "separated by tabs"),
        ((b"ImageID", b"sep=,\nImageID"), "remove the line that starts with sep="),
        ((b"ImageID", b"PK\x03\x04\xff"), "is an Excel workbook or a zip file"),
        ((b"ImageID", b"\xff\xfeImageID"), "is UTF-16, not UTF-8"),
        ((b",0\n", b",FALSE\n"), "is not a number; write 1 for true and 0 for false"),
    ],
)
def test_a_spreadsheet_is_refused_with_its_cause(
    replaced: tuple[bytes, bytes], message: str, bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = bundle / TRUTH / "boxes.csv"
    file.write_bytes(file.read_bytes().replace(*replaced))
    assert main(["check-bundle", str(bundle)]) == 3
    assert message in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Challenge.yaml", "rename Challenge.yaml"),
        ("challenge.yml", "rename challenge.yml"),
        ("a/b/challenge.yaml", "must be in the top-level folder of the bundle, and not at a/b/challenge.yaml"),
        ("notes.txt", "put it in the top-level folder of the bundle"),
    ],
)
def test_a_misplaced_sheet_is_found(
    name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(name, SHEET)
        archive.writestr("rules.md", "Be fair.")
    (tmp_path / "b.zip").write_bytes(content.getvalue())
    assert main(["check-bundle", str(tmp_path / "b.zip")]) == 2
    assert message in "".join(capsys.readouterr())


def test_a_folder_with_a_capital_letter_is_warned_about(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (bundle / "phases").rename(bundle / "Phases")
    assert main(["check-bundle", str(bundle)]) == 3
    assert "Phases: warning: unread_file is ignored; did you mean phases?" in "".join(capsys.readouterr())


def test_usage_and_split_are_one_mistake_and_no_failure(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    images = (bundle / TRUTH / "images.csv").read_text().split()[1:]
    rows = "".join(f"{image.partition(',')[0]},Public\n" for image in images)
    (bundle / TRUTH / "usage.csv").write_text(f"ImageID,Usage\n{rows}")
    (bundle / "challenge.yaml").write_text(f"{SHEET}    split: {{public: 0.3}}\n")
    assert main(["check-bundle", str(bundle)]) == 2
    assert "split_and_usage" in "".join(capsys.readouterr())
