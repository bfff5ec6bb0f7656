"""Tests the scoring rules of ObjectNet on a few images, and the defects of submitted rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.problems import Findings, InvalidTruth
from evaluator.report import SplitReport
from evaluator.request import ScoringRequest
from evaluator.scoring import check, prepare, score

ANSWERS = {"set/a.png": 7, "b.png": 7, "c.png": 9, "d.png": 9}
CONTROLS = (
    "file,background,rotation,viewpoint\na.png,desk,0,top\nb.png,sink,0,top\nc.png,desk,90,top\nd.png,sink,90,top\n"
)
NOTHING = ",-1,0" * 5


def row(file: str, *guesses: object) -> str:
    return file + "".join(f",{guess},0.5" for guess in [*guesses, *[-1] * 5][:5]) + "\n"


def truth(tmp_path: Path, answers: Any = ANSWERS, **files: str) -> Path:
    folder = tmp_path / "truth"
    folder.mkdir()
    (folder / "answers.json").write_text(answers if isinstance(answers, str) else json.dumps(answers))
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


def scored(tmp_path: Path, rows: str, *, parameters: Any = None, **files: str) -> dict[str, SplitReport]:
    path = tmp_path / "guesses.csv"
    path.write_text(rows)
    return dict(score(ScoringRequest("objectnet", truth(tmp_path, **files), path, parameters=parameters or {})).splits)


def checked(tmp_path: Path, rows: str) -> Findings:
    path = tmp_path / "guesses.csv"
    path.write_text(rows)
    return check("objectnet", path, truth=truth(tmp_path))


def test_guesses_are_ranked_by_their_order_and_not_by_confidence(tmp_path: Path) -> None:
    metrics = scored(tmp_path, "a.png,7,x,1,0.9,2,,3,nan,4,\n" + row("b.png", 1, 2, 3, 4, 7))["all"].metrics
    # Only one of the four images has a correct first guess; two images have no row in the submission.
    assert metrics["top1"] == 0.25
    assert metrics["top5"] == 0.5


def test_the_mean_over_classes_gives_classes_equal_weight(tmp_path: Path) -> None:
    answers = {f"{n}.png": 3 for n in range(8)} | {"x.png": 4}
    rows = "".join(row(f"{n}.png", 3) for n in range(8)) + row("x.png", 5, 4)
    path = tmp_path / "guesses.csv"
    path.write_text(rows)
    split = score(ScoringRequest("objectnet", truth(tmp_path, answers), path)).splits["all"]
    assert split.metrics == {"top1": 8 / 9, "top5": 1.0, "mean_class_top1": 0.5, "mean_class_top5": 1.0}
    assert split.classes == [
        {"label": "3", "name": "3", "top1": 1.0, "top5": 1.0, "truths": 8},
        {"label": "4", "name": "4", "top1": 0.0, "top5": 1.0, "truths": 1},
    ]


@pytest.mark.parametrize(("top_k", "found"), [(1, 0.0), (2, 0.25), (5, 0.25)])
def test_top_k_is_the_number_of_guesses_that_count(tmp_path: Path, top_k: int, found: float) -> None:
    assert scored(tmp_path, row("a.png", 1, 7), parameters={"top_k": top_k})["all"].metrics["top5"] == found


def test_a_missing_guess_is_never_correct(tmp_path: Path) -> None:
    assert scored(tmp_path, "a.png" + NOTHING + "\nb.png,,,,,,,,,,\n")["all"].metrics["top5"] == 0.0


def test_controls_are_reported_with_the_spread_between_best_and_worst(tmp_path: Path) -> None:
    split = scored(tmp_path, row("a.png", 7) + row("c.png", 9) + row("d.png", 9), controls=CONTROLS)["all"]
    assert split.tables["controls"][:2] == [
        {"control": "background", "value": "desk", "top1": 1.0, "top5": 1.0, "truths": 2},
        {"control": "background", "value": "sink", "top1": 0.5, "top5": 0.5, "truths": 2},
    ]
    assert [(row["control"], row["best"], row["worst"], row["spread"]) for row in split.tables["spreads"]] == [
        ("background", "desk", "sink", 0.5),
        ("rotation", "90", "0", 0.5),
        ("viewpoint", "top", "top", 0.0),
    ]


def test_a_split_contains_only_its_own_images(tmp_path: Path) -> None:
    usage = "ImageID,Usage\na.png,public\nb.png,private\nc.png,private\nd.png,ignored\n"
    splits = scored(tmp_path, row("a.png", 7) + row("c.png", 9), controls=CONTROLS, usage=usage)
    assert [splits[name].metrics["top1"] for name in ("all", "public", "private")] == [2 / 3, 1.0, 0.5]
    assert splits["public"].classes == [{"label": "7", "name": "7", "top1": 1.0, "top5": 1.0, "truths": 1}]
    assert [row["value"] for row in splits["public"].tables["controls"]] == ["desk", "0", "top"]


DEFECTS = [
    pytest.param(row("e.png", 7), "unknown_image", 1, "file", id="a file that is not in the truth"),
    pytest.param(row("a.png", 7) + row("set/a.png", 8), "duplicate_image", 2, "file", id="a repeated file"),
    pytest.param(row("a.png", "7.0"), "unknown_label", 1, "id1", id="an id that is not an integer"),
    pytest.param(row("a.png", 1, "007"), "unknown_label", 1, "id2", id="an id with leading zeros"),
    pytest.param(row("a.png", 313), "unknown_label", 1, "id1", id="an id above the largest"),
    pytest.param(row("a.png", -2), "unknown_label", 1, "id1", id="an id below -1"),
    pytest.param("a.png,7,0.5\n", "bad_width", 1, None, id="only one guess"),
    pytest.param(row("a.png", 7) + "\n" + row("b.png", 7), "bad_row", 2, None, id="a blank line"),
    pytest.param("", "empty", None, None, id="an empty file"),
]


@pytest.mark.parametrize(("rows", "code", "line", "column"), DEFECTS)
def test_a_defect_is_reported_with_its_location(
    tmp_path: Path, rows: str, code: str, line: int | None, column: str | None
) -> None:
    (problem,) = checked(tmp_path, rows).errors
    assert (problem.code, problem.line, problem.column) == (code, line, column)


def test_ids_are_checked_without_a_truth(tmp_path: Path) -> None:
    path = tmp_path / "guesses.csv"
    path.write_text(row("anything.png", 999))
    assert [problem.code for problem in check("objectnet", path).errors] == ["unknown_label"]


def test_missing_images_are_counted_in_a_notice(tmp_path: Path) -> None:
    findings = checked(tmp_path, row("a.png", 7))
    assert [(notice.code, notice.count) for notice in findings.notices] == [("missing_image", 3)]


@pytest.mark.parametrize(
    ("answers", "files", "file"),
    [
        ({"a.png": 313}, {}, "answers.json"),
        ({"a.png": "7"}, {}, "answers.json"),
        ({"a.png": True}, {}, "answers.json"),
        ([7], {}, "answers.json"),
        ('{"a.png": 7, "a.png": 8}', {}, "answers.json"),
        ({"x/a.png": 7, "y/a.png": 8}, {}, "answers.json"),
        (ANSWERS, {"classes": "400,Spoon\n"}, "classes.csv"),
        (ANSWERS, {"images": "ImageID\na.png\n"}, "answers.json"),
        (ANSWERS, {"controls": "file,background\na.png,desk\n"}, "controls.csv"),
    ],
)
def test_faults_of_a_truth_are_reported_with_their_file(
    tmp_path: Path, answers: Any, files: dict[str, str], file: str
) -> None:
    with pytest.raises(InvalidTruth) as caught:
        prepare("objectnet", truth(tmp_path, answers, **files), tmp_path / "t.podium")
    assert {problem.file for problem in caught.value.problems} == {file}
