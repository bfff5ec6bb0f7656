"""The lines that `--tf-csv` writes have the names, order and exact values of the official Open Images tools."""

import csv
from pathlib import Path

import pytest

from evaluator.cli import main
from evaluator.cli.exits import Exit
from tests.evaluator.conftest import Tiny


def lines(capsys: pytest.CaptureFixture[str], track: str, truth: Path, submission: Path, out: Path) -> list[list[str]]:
    words = ["score", track, "--truth", truth, "--submission", submission, "--tf-csv", out]
    assert main([str(word) for word in words]) == 0
    capsys.readouterr()
    with out.open(newline="") as file:
        return list(csv.reader(file))


def test_detection_has_the_mean_first_then_every_class(
    tiny: Tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lines(capsys, tiny.track, tiny.truth, tiny.long, tmp_path / "m.csv") == [
        ["OpenImagesDetectionChallenge_Precision/mAP@0.5IOU", "0.5833333333333333"],
        ["OpenImagesDetectionChallenge_PerformanceByCategory/AP@0.5IOU//m/01yrx", "0.9166666666666666"],
        ["OpenImagesDetectionChallenge_PerformanceByCategory/AP@0.5IOU//m/0bt9lr", "0.25"],
        ["OpenImagesDetectionChallenge_PerformanceByCategory/AP@0.5IOU//m/0k4j", "nan"],
    ]


def test_line_endings_are_those_of_the_official_tool(
    tiny: Tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines(capsys, tiny.track, tiny.truth, tiny.long, tmp_path / "m.csv")
    assert (tmp_path / "m.csv").read_bytes().count(b"\r\n") == 4


def test_relationships_have_relations_and_phrases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The submission finds the only annotated relationship, so every value in the output is 1."""
    truth, submission = tmp_path / "truth", tmp_path / "s.csv"
    truth.mkdir()
    names = "ImageID,LabelName1,LabelName2,RelationshipLabel"
    boxes = ",".join(f"{side}{n}" for n in (1, 2) for side in ("XMin", "XMax", "YMin", "YMax"))
    (truth / "relationships.csv").write_text(f"{names},{boxes}\ni,man,horse,on,0,1,0,1,0,1,0,1\n")
    submission.write_text(f"{names},Score,{boxes}\ni,man,horse,on,0.5,0,1,0,1,0,1,0,1\n")
    assert lines(capsys, "openimages-relationships", truth, submission, tmp_path / "m.csv") == [
        ["VRDMetric_Relationships_weightedAP@0.5IOU", "1.0"],
        ["VRDMetric_Relationships_mAP@0.5IOU", "1.0"],
        ["VRDMetric_Relationships_Recall@50@0.5IOU", "1.0"],
        ["VRDMetric_Relationships_Recall@100@0.5IOU", "1.0"],
        ["VRDMetric_Relationships_AP@0.5IOU/on", "1.0"],
        ["VRDMetric_Phrases_weightedAP@0.5IOU", "1.0"],
        ["VRDMetric_Phrases_mAP@0.5IOU", "1.0"],
        ["VRDMetric_Phrases_AP@0.5IOU/on", "1.0"],
    ]


def test_numbers_of_another_protocol_are_not_written_under_the_official_names(
    tiny: Tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["score", tiny.track, "--truth", tiny.truth, "--submission", tiny.long, "--set", "protocol=fiftyone"]
    assert main([str(word) for word in [*words, "--tf-csv", tmp_path / "m.csv"]]) == Exit.WRONG_USAGE
    assert "--tf-csv" in capsys.readouterr().err
    assert not (tmp_path / "m.csv").exists()
