"""In every track, scores against a ground truth without annotations are undefined, and no error is raised.

The ceiling of a ground truth is the score of a submission that predicts exactly this ground truth. If such a submission
would be rejected, there is no ceiling.
"""

import json
from pathlib import Path

import pytest

from evaluator.catalog import TRACKS
from evaluator.cli import main
from evaluator.cli.exits import Exit
from evaluator.problems import InvalidSubmission, InvalidTruth
from evaluator.request import ScoringRequest
from evaluator.scoring import prepare, score
from evaluator.synthesis import synthesize
from tests.evaluator.options import with_intervals

NOTHING = {"answers.json": "{}", "gallery.json": '{"images": [], "captions": []}', "phrases.jsonl": ""}
CLOSED = {("flickr30k-retrieval", True), ("flickr30k-retrieval", False)}
KEPT = ("classes.csv", "relations.csv", "hierarchy.json")


def emptied(folder: Path, *, lists_images: bool) -> None:
    """Remove the annotations from a ground truth folder: only headers, the hierarchy and lists of labels remain.

    If ``lists_images`` is set, the image list is kept too.
    """
    for path in folder.iterdir():
        if path.name == "images.csv" and not lists_images:
            path.unlink()
        elif path.name in NOTHING:
            path.write_text(NOTHING[path.name])
        elif path.name not in (*KEPT, "images.csv"):
            path.write_text(path.read_text().partition("\n")[0] + "\n")


@pytest.mark.parametrize("lists_images", [True, False])
@pytest.mark.parametrize("track", [track for track in TRACKS if track != "objectnet"])
def test_a_truth_without_annotations_leaves_every_metric_undefined(
    track: str, lists_images: bool, tmp_path: Path
) -> None:
    synthesize(track, tmp_path / "world", images=3, qualities=[0.5])
    emptied(tmp_path / "world" / "truth", lists_images=lists_images)
    for submission in sorted((tmp_path / "world" / "submissions").iterdir()):
        # Submissions to the retrieval track refer to images and queries. Without annotations, all images and queries
        # are unknown, and an unknown image or query is a defect.
        if (track, lists_images) in CLOSED:
            with pytest.raises(InvalidSubmission):
                score(ScoringRequest(track, tmp_path / "world" / "truth", submission))
            continue
        report = score(ScoringRequest(track, tmp_path / "world" / "truth", submission, report=with_intervals(5)))
        assert set(report.splits["all"].metrics.values()) == {None}


@pytest.mark.parametrize("lists_images", [True, False])
def test_an_empty_list_of_answers_is_a_fault_of_its_file(lists_images: bool, tmp_path: Path) -> None:
    synthesize("objectnet", tmp_path / "world", images=3, qualities=[])
    emptied(tmp_path / "world" / "truth", lists_images=lists_images)
    with pytest.raises(InvalidTruth) as raised:
        prepare("objectnet", tmp_path / "world" / "truth", tmp_path / "truth.podium")
    assert [(one.code, one.file) for one in raised.value.findings.errors] == [("truth_bad_value", "answers.json")]


@pytest.mark.parametrize("lists_images", [True, False])
@pytest.mark.parametrize("track", TRACKS)
def test_the_ceiling_of_an_empty_truth_is_undefined_or_the_truth_is_at_fault(
    track: str, lists_images: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    synthesize(track, tmp_path / "world", images=3, qualities=[])
    emptied(tmp_path / "world" / "truth", lists_images=lists_images)
    files = ["--truth", str(tmp_path / "world/truth"), "--out", str(tmp_path / "o"), "--sample", str(tmp_path / "s")]
    code = main(["prepare", track, *files, "--ceiling", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert code == (Exit.INVALID_TRUTH if track == "objectnet" else Exit.DONE)
    if code == Exit.DONE:
        assert {one["score"] for one in told["ceiling"].values()} == {None}
        assert "truth_undefined" in {one["code"] for one in told["warnings"]}


def test_a_truth_that_is_rejected_as_its_own_prediction_has_no_ceiling_and_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The ground truth contains a label of 300 characters, which is too long for a submission."""
    (tmp_path / "image_labels.csv").write_text(f"ImageID,LabelName,Confidence\na,{'x' * 300},1\nb,cat,0\n")
    files = ["--truth", str(tmp_path), "--out", str(tmp_path / "truth.podium")]
    assert main(["prepare", "openimages-classification", *files, "--ceiling", "--json"]) == Exit.DONE
    told = json.loads(capsys.readouterr().out)
    assert told["ceiling"] == {"all": {"score": None, "unreachable": None}}
    assert [one["code"] for one in told["warnings"]][-1] == "truth_undefined"
