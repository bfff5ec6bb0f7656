"""With a check kit (public data about a ground truth), `podium check` finds the same defects as the server."""

import gzip
import json
from pathlib import Path
from shutil import copyfile

import pytest

from evaluator.catalog import TRACKS, Limits
from evaluator.cli import main
from evaluator.kit import Kit
from evaluator.problems import InvalidKit
from evaluator.scoring import check_with_kit, write_kit
from evaluator.synthesis import synthesize

DETECTION = "openimages-detection"
BOX = "0.1,0.5,0.1,0.5"


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    folder = tmp_path / "truth"
    folder.mkdir()
    (folder / "boxes.csv").write_text(
        f"ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\na,/m/cat,{BOX},0\na,/m/dog,{BOX},0\nb,/m/dog,{BOX},1\n"
    )
    (folder / "image_labels.csv").write_text("ImageID,LabelName,Confidence\na,/m/cat,1\nb,/m/dog,1\n")
    return folder


def kit(truth: Path, **more: Limits) -> Path:
    out = truth.with_name("kit.json")
    write_kit(DETECTION, truth, out, **more)
    return out


@pytest.mark.parametrize("track", TRACKS)
def test_a_kit_that_is_read_and_written_again_has_the_same_bytes(track: str, tmp_path: Path) -> None:
    synthesize(track, tmp_path / "made", images=5, qualities=())
    write_kit(track, tmp_path / "made" / "truth", tmp_path / "kit")
    Kit.load(tmp_path / "kit").save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "kit").read_bytes()


def test_labels_that_only_annotations_contain_are_not_in_the_kit(truth: Path) -> None:
    assert b"/m/" not in kit(truth).read_bytes()


def test_labels_of_the_hierarchy_are_in_the_kit_and_others_are_not(truth: Path) -> None:
    (truth / "hierarchy.json").write_text(
        json.dumps({"LabelName": "/m/0", "Subcategory": [{"LabelName": "/m/cat"}, {"LabelName": "/m/dog"}]})
    )
    assert json.loads(kit(truth).read_bytes())["texts"]["labels"] == ["/m/cat", "/m/dog"]


def test_labels_of_the_class_list_have_their_names(truth: Path) -> None:
    (truth / "classes.csv").write_text("/m/dog,Dog\n/m/cat,Cat\n")
    texts = json.loads(kit(truth).read_bytes())["texts"]
    assert (texts["labels"], texts["names"]) == (["/m/cat", "/m/dog"], ["Cat", "Dog"])


def test_the_limits_of_the_kit_apply(truth: Path, tmp_path: Path) -> None:
    submission = tmp_path / "two.csv"
    submission.write_text(f"ImageID,LabelName,Score,XMin,XMax,YMin,YMax\na,/m/cat,1,{BOX}\na,/m/cat,1,{BOX}\n")
    for boxes, codes in ((2, []), (1, ["too_many_rows"])):
        opened = Kit.load(kit(truth, limits=Limits(boxes=boxes)))
        assert list(check_with_kit(opened, submission).counts) == codes


def test_a_gzipped_kit_is_read(truth: Path, tmp_path: Path) -> None:
    (tmp_path / "zipped").write_bytes(gzip.compress(kit(truth).read_bytes()))
    assert Kit.load(tmp_path / "zipped").truth.texts["images"] == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        (b"ImageId\n", "download the kit"),
        (b"[]", "download the kit"),
        (b'{"podium_kit": 2, "track": "objectnet", "evaluator": "9.0"}', "written by podium 9.0"),
        (b'{"podium_kit": 1, "track": "chess", "evaluator": "9.0"}', "written by podium 9.0"),
        (b'{"podium_kit": 1, "track": "objectnet"}', "is damaged; download it again"),
        (b"\x1f\x8bx", "download the kit"),
    ],
)
def test_a_file_that_is_not_a_kit_is_refused_with_advice(
    content: bytes, advice: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kit").write_bytes(content)
    with pytest.raises(InvalidKit, match=advice):
        Kit.load(tmp_path / "kit")
    assert main(["check", "--kit", str(tmp_path / "kit"), "--submission", str(tmp_path / "kit")]) == 64
    assert advice in capsys.readouterr().err


def test_podium_check_takes_the_track_from_the_kit(
    truth: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["prepare", DETECTION, "--truth", str(truth), "--out", str(tmp_path / "t")]
    assert main([*words, "--kit", str(tmp_path / "kit"), "--limit", "boxes=7"]) == 0
    submission = tmp_path / "one.csv"
    submission.write_text(f"ImageID,LabelName,Score,XMin,XMax,YMin,YMax\na,/m/cat,1,{BOX}\n")
    words = ["check", "--kit", str(tmp_path / "kit"), "--submission", str(submission)]
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 0
    copyfile(submission, tmp_path / "copy.csv")
    with submission.open("a") as file:
        file.write("c,/m/cat,1,0,1,0,x\n")
    assert main([*words, "--json"]) == 2
    assert main([*words, "--set", "iou_threshold=0.1"]) == 64
    assert main(["check", "objectnet", *words[1:]]) == 64
    assert main(["check", "--submission", str(submission)]) == 64


def test_the_file_can_be_given_without_the_submission_option(
    truth: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    submission = tmp_path / "one.csv"
    submission.write_text(f"ImageID,LabelName,Score,XMin,XMax,YMin,YMax\na,/m/cat,1,{BOX}\n")
    assert main(["check", "--kit", str(kit(truth)), str(submission)]) == 0
    assert main(["check", str(submission)]) == 64
    assert "--challenge CHALLENGE" in capsys.readouterr().err


@pytest.mark.parametrize("limit", ["boxes", "boxes=-1", "chairs=3"])
def test_an_unknown_limit_is_wrong_usage(limit: str, truth: Path, tmp_path: Path) -> None:
    words = ["prepare", DETECTION, "--truth", str(truth), "--out", str(tmp_path / "t")]
    assert main([*words, "--kit", str(tmp_path / "kit"), "--limit", limit]) == 64


def test_a_kit_of_a_different_evaluator_version_is_used_with_a_warning(
    truth: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(kit(truth).read_bytes()) | {"evaluator": "0.9"}
    (tmp_path / "old").write_text(json.dumps(content))
    (tmp_path / "s.csv").write_text("ImageId,PredictionString\na,/m/cat 1 0 0 1 1\n")
    assert main(["check", "--kit", str(tmp_path / "old"), "--submission", str(tmp_path / "s.csv")]) == 0
    assert "written by podium 0.9" in capsys.readouterr().err
