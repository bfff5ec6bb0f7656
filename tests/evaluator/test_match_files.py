"""Tests the rows of `podium score --matches`, which the fast path makes while the file is read a second time."""

import csv
import json
import random
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli import main, match_files
from evaluator.problems import ChangedSubmission
from evaluator.request import Bootstrap, ReportOptions, Resources, ScoringRequest
from evaluator.scoring import score
from tests.evaluator.conftest import Tiny
from tests.evaluator.kernels import (
    cases,  # Importing `cases` loads the kernels, so that the fast path scores the files.
)

MATCHES = ReportOptions(matches=True)
HEADER = "ImageID,LabelName,Score,XMin,XMax,YMin,YMax\n"
# In the file, rows of two images alternate. The second row has an unknown label, so it has no row in the result.
ALTERNATING = """\
street,/m/0bt9lr,0.7,0.6,0.9,0.6,0.9
garden,/m/unknown,0.5,0,1,0,1
kitchen,/m/01yrx,0.6,0.1,0.2,0.82,0.95
street,/m/01yrx,-0.0,0.2,0.6,0.2,0.6
kitchen,/m/01yrx,0.9,0.3,0.3,0.82,0.95
"""
EXPECTED = [
    ["street", "/m/0bt9lr", "0.7", "true_positive", "", "3", "/m/0bt9lr", "1.0"],
    ["street", "/m/01yrx", "-0.0", "true_positive", "", "2", "/m/01yrx", "1.0"],
    ["kitchen", "/m/01yrx", "0.6", "group_found", "", "5", "/m/01yrx", "1.0"],
    ["kitchen", "/m/01yrx", "0.9", "ignored", "no_area_or_confidence", "", "", ""],
]


def scored(tiny: Tiny, *words: object) -> int:
    return main([str(word) for word in ("score", tiny.track, "--truth", tiny.truth, "--submission", tiny.long, *words)])


def lines(path: Path) -> list[list[str]]:
    return list(csv.reader(path.read_text().splitlines()))


@pytest.mark.parametrize("fast", [True, False])
def test_the_rows_of_an_image_are_adjacent_and_images_are_in_the_order_of_the_file(
    tiny: Tiny, tmp_path: Path, *, fast: bool
) -> None:
    for listing in ("classes.csv", "hierarchy.json"):
        (tiny.truth / listing).unlink()
    tiny.long.write_text(HEADER + ALTERNATING)
    if fast:
        assert scored(tiny, "--matches", tmp_path / "m.csv") == 0
    else:
        with cases.reference_implementation():
            assert scored(tiny, "--matches", tmp_path / "m.csv") == 0
    rows = [[*row[1:4], *row[8:]] for row in lines(tmp_path / "m.csv")[1:] if row[8] != "missed"]
    assert rows == EXPECTED


def test_copies_for_ancestors_follow_their_prediction(tiny: Tiny, tmp_path: Path) -> None:
    animals = {"LabelName": "/m/0jbk", "Subcategory": [{"LabelName": "/m/01yrx"}, {"LabelName": "/m/0bt9lr"}]}
    (tiny.truth / "hierarchy.json").write_text(
        json.dumps({"LabelName": "root", "Subcategory": [animals, {"LabelName": "/m/0k4j"}]})
    )
    (tiny.truth / "classes.csv").unlink()
    tiny.long.write_text(HEADER + ALTERNATING.replace("garden,/m/unknown,0.5,0,1,0,1\n", ""))
    assert scored(tiny, "--set", "expand_predictions=true", "--matches", tmp_path / "m.csv") == 0
    labels = [row[2] for row in lines(tmp_path / "m.csv")[1:] if row[8] != "missed"]
    assert labels == [label for row in EXPECTED for label in (row[1], "/m/0jbk")]


def large(tmp_path: Path, layout: str) -> tuple[Path, Path]:
    """Write a ground truth, and a submission that is read in several blocks. Return both paths."""
    chance, truth = random.Random(3), tmp_path / "truth"
    truth.mkdir()
    images = [f"image{number:04}" for number in range(800)]
    boxes = [f"{image},cat,0,0.5,0,0.5,0\n" for image in images]
    (truth / "boxes.csv").write_text("ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\n" + "".join(boxes))
    (truth / "image_labels.csv").write_text("ImageID,LabelName,Confidence\n")
    scores = {image: [f"{chance.random()}" for _ in range(100)] for image in images}
    submission = tmp_path / f"{layout}.csv"
    if layout == "long":
        rows = [f"{image},cat,{text},0,0.5,0,0.6\n" for image in images for text in scores[image]]
        submission.write_text(HEADER + "".join(rows))
    else:
        strings = [f"{i}," + " ".join(f"cat {text} 0 0 0.5 0.6" for text in scores[i]) + "\n" for i in images]
        submission.write_text("ImageId,PredictionString\n" + "".join(strings))
    return truth, submission


def test_rows_are_made_while_the_file_is_read(tmp_path: Path) -> None:
    """If all rows were collected first, the file would have been read to its end before the first row."""
    seen: list[float] = []

    def progress(stage: str, fraction: float) -> None:
        if stage == "writing":
            seen.append(fraction)

    truth, submission = large(tmp_path, "kaggle")
    report = score(
        ScoringRequest(
            "openimages-detection", truth, submission, report=MATCHES, resources=Resources(progress=progress)
        )
    )
    assert (report.way, seen) == ("fast path", [])
    rows = report.matches.rows()
    next(rows)
    assert 0 < seen[-1] < 0.6
    assert sum(1 for _ in rows) == 800 * 100 - 1
    assert len(seen) > 1


@pytest.mark.parametrize("layout", ["kaggle", "long"])
def test_rows_of_a_file_that_has_changed_are_refused(tmp_path: Path, layout: str) -> None:
    truth, submission = large(tmp_path, layout)
    report = score(ScoringRequest("openimages-detection", truth, submission, report=MATCHES))
    with submission.open("a") as file:
        file.write("\n")
    with pytest.raises(ChangedSubmission):
        list(report.matches.rows())


def test_an_explanation_with_intervals_is_computed_by_the_fast_path(tmp_path: Path) -> None:
    truth, submission = large(tmp_path, "long")
    options: dict[str, Any] = {"report": ReportOptions(explanation=True, bootstrap=Bootstrap(20))}
    way, fast, reference = cases.both("openimages-detection", truth, submission, **options)
    assert (way, fast) == ("fast path", reference)
    assert fast["splits"]["all"]["intervals"]


def test_a_parquet_file_without_its_package_is_wrong_usage_and_names_the_package(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(match_files, "find_spec", lambda name: None)
    assert scored(tiny, "--matches", tmp_path / "m.parquet") == 64
    assert "pip install 'podium[parquet]'" in capsys.readouterr().err
    assert not (tmp_path / "m.parquet").exists()


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="needs pyarrow, which is optional")
def test_a_parquet_file_has_the_rows_of_the_csv_file(tiny: Tiny, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for name in ("m.csv", "m.parquet"):
        assert scored(tiny, "--matches", tmp_path / name) == 0
    table = parquet.read_table(tmp_path / "m.parquet")
    header, *rows = lines(tmp_path / "m.csv")
    cells = [["" if value is None else str(value) for value in row.values()] for row in table.to_pylist()]
    assert (table.column_names, cells) == (header, rows)
    assert table.schema.metadata[b"signature"].startswith(b"openimages-detection|")
    assert {str(table.schema.field(name).type) for name in ("Score", "XMin", "Overlap")} == {"double"}
    assert str(table.schema.field("TruthLine").type) == "int64"
