"""Synthesized challenges are reproducible byte for byte and valid, and scores increase with quality."""

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from evaluator.catalog import TRACKS
from evaluator.cli import main
from evaluator.request import ScoringRequest
from evaluator.scoring import check, prepare, score
from evaluator.synthesis import OccupiedFolder, synthesize, synthesizer_of
from evaluator.synthesis.boxes import boxes_within, clipped, jittered, random_boxes
from evaluator.synthesis.random_stream import MILLION, RandomStream
from evaluator.synthesis.text_columns import decimals, prediction_strings

# Maps tracks to the digests of synthesized challenges with 20 images and the default seeds. If a digest changes, the
# sha256 of the ground truth in the demo changes too.
DIGESTS = {
    "openimages-detection": "a3b1a81c6aead2ed",
    "openimages-relationships": "3bcadfbef6415271",
    "openimages-segmentation": "3552afd9fd6a3e2d",
    "openimages-classification": "483ba5bbd05f5cb4",
    "flickr30k-grounding": "4aebdd3642772852",
    "flickr30k-retrieval": "199e3c67e60e9673",
    "objectnet": "889fb5f0118fd9d5",
}
every_track = pytest.mark.parametrize("track", TRACKS)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def headline(track: str, out: Path, name: str) -> float:
    report = score(ScoringRequest(track, out / "truth", out / "submissions" / name))
    value = report.splits["all"].metrics[TRACKS[track].headline]
    assert value is not None
    return value


def submissions(track: str, quality: str) -> list[str]:
    """Return the names of files with the same synthesized submission, one file for each file layout."""
    form = TRACKS[track].form
    return [f"quality-{quality}{ending}.{form.suffix}" for ending in ("", "-long")[: len(form.shapes)]]


@every_track
def test_the_bytes_are_reproducible(track: str, tmp_path: Path) -> None:
    synthesize(track, tmp_path / "out", images=20)
    digest = sha256()
    for name, data in contents(tmp_path / "out").items():
        if name != "synthesis.json":
            digest.update(name.encode() + b"\0" + data)
    assert digest.hexdigest()[:16] == DIGESTS[track]


@every_track
def test_the_score_rises_with_quality(track: str, tmp_path: Path) -> None:
    synthesize(track, tmp_path, images=300)
    poor, fair, good = (headline(track, tmp_path, submissions(track, q)[0]) for q in ("0.30", "0.60", "0.90"))
    assert 0.1 < poor < 0.35 < fair < 0.7 < good < 0.95


@every_track
def test_all_file_layouts_contain_the_same_predictions(track: str, tmp_path: Path) -> None:
    synthesize(track, tmp_path, images=60, qualities=[0.5])
    assert len({headline(track, tmp_path, name) for name in submissions(track, "0.50")}) == 1


@every_track
def test_the_truth_has_no_fault_and_the_submissions_no_defect(track: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    made = synthesize(track, out, images=60)
    assert prepare(track, out / "truth", tmp_path / "truth.podium")["images"] == 60
    for name in made["files"]:
        if name.startswith("submissions/"):
            findings = check(track, out / name, truth=tmp_path / "truth.podium")
            assert (findings.errors, findings.notices) == ([], [])


@every_track
def test_the_truth_does_not_depend_on_the_submissions(track: str, tmp_path: Path) -> None:
    synthesize(track, tmp_path / "a", images=20)
    synthesize(track, tmp_path / "b", images=20, qualities=[0.45], submission_seed=9)
    assert contents(tmp_path / "a" / "truth") == contents(tmp_path / "b" / "truth")


@every_track
def test_a_submission_does_not_depend_on_the_others(track: str, tmp_path: Path) -> None:
    synthesize(track, tmp_path / "a", images=20, qualities=[0.3, 0.9])
    synthesize(track, tmp_path / "b", images=20, qualities=[0.9])
    assert contents(tmp_path / "b" / "submissions").items() <= contents(tmp_path / "a" / "submissions").items()


@every_track
def test_submissions_of_equal_quality_differ_by_their_seed(track: str, tmp_path: Path) -> None:
    synthesize(track, tmp_path / "a", images=100, qualities=[0.6])
    synthesize(track, tmp_path / "b", images=100, qualities=[0.6], submission_seed=1)
    one, other = (headline(track, tmp_path / name, submissions(track, "0.60")[0]) for name in "ab")
    assert one != other
    assert one == pytest.approx(other, abs=0.1)


@every_track
def test_a_different_seed_gives_a_different_truth(track: str, tmp_path: Path) -> None:
    synthesize(track, tmp_path / "a", images=5)
    synthesize(track, tmp_path / "b", images=5, seed=1)
    one, other = (set((tmp_path / name / "truth" / "images.csv").read_text().split()) for name in "ab")
    assert len(one & other) == 1  # The header is the only line that the two image lists have in common.


@pytest.mark.parametrize("track", [name for name, track in TRACKS.items() if not synthesizer_of(track).single_scene])
def test_more_blocks_do_not_change_the_first_images(
    track: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluator.synthesis.IMAGES_PER_BLOCK", 10)
    fractions: list[float] = []
    synthesize(track, tmp_path / "a", images=20, progress=lambda stage, fraction: fractions.append(fraction))
    synthesize(track, tmp_path / "b", images=25)
    few, more = (contents(tmp_path / name) for name in "ab")
    assert fractions == [0.5, 1.0]
    assert all(more[name].startswith(data) for name, data in few.items() if name != "synthesis.json")
    assert more["truth/images.csv"].count(b"\n") == 26


@every_track
@pytest.mark.parametrize("quality", [0.0, 1.0])
def test_extreme_qualities_and_single_images_can_be_synthesized(track: str, quality: float, tmp_path: Path) -> None:
    synthesize(track, tmp_path, images=1, boxes_per_image=1, qualities=[quality])
    for name in submissions(track, f"{quality:.2f}"):
        assert not check(track, tmp_path / "submissions" / name, truth=tmp_path / "truth").total


def test_detection_has_groups_negative_labels_empty_images_and_unverified_classes(tmp_path: Path) -> None:
    synthesize("openimages-detection", tmp_path, images=200, qualities=[0.5])
    truth = tmp_path / "truth"
    boxes = [line.split(",") for line in (truth / "boxes.csv").read_text().splitlines()[1:]]
    labels = [line.split(",") for line in (truth / "image_labels.csv").read_text().splitlines()[1:]]
    assert {row[6] for row in boxes} == {"0", "1"}
    assert {row[2] for row in labels} == {"0", "1"}
    assert {row[0] for row in boxes} < set((truth / "images.csv").read_text().split())  # Some images have no boxes.
    assert len((truth / "classes.csv").read_text().splitlines()) >= 25
    seen = {(row[0], row[1]) for row in boxes}
    denied = {(row[0], row[1]) for row in labels if row[2] == "0"}
    assert not seen & denied
    assert seen - {(row[0], row[1]) for row in labels}  # Some boxes have a class without a verified label.


def test_every_class_is_in_the_hierarchy_once_or_twice(tmp_path: Path) -> None:
    synthesize("openimages-detection", tmp_path, images=1)
    text = (tmp_path / "truth" / "hierarchy.json").read_text()
    assert json.loads(text)["LabelName"] == "/m/0bl9f"
    for line in (tmp_path / "truth" / "classes.csv").read_text().splitlines():
        assert text.count(f'"{line.split(",")[0]}"') == (2 if line.endswith(",Tomato") else 1)


def test_relationships_have_attributes_pairs_and_negatives(tmp_path: Path) -> None:
    synthesize("openimages-relationships", tmp_path, images=200, qualities=[0.5])
    truth = tmp_path / "truth"
    rows = [line.split(",") for line in (truth / "relationships.csv").read_text().splitlines()[1:]]
    labels = (truth / "image_labels.csv").read_text().splitlines()[1:]
    assert {row[3] for row in rows} == {
        line.split(",")[0] for line in (truth / "relations.csv").read_text().split("\n") if line
    }
    assert all((row[4:8] == row[8:12]) == (row[3] == "is") for row in rows)
    assert {line[-2:] for line in labels} == {",0", ",1"}


def test_a_folder_with_other_files_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(OccupiedFolder, match=r"thesis\.txt"):
        synthesize("openimages-detection", tmp_path, images=1)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_an_earlier_synthesis_is_replaced_completely(tmp_path: Path) -> None:
    out = tmp_path / "out"
    synthesize("openimages-detection", out, images=1, qualities=[0.1, 0.2])
    made = synthesize("openimages-relationships", out, images=1, qualities=[0.3])
    assert {"synthesis.json", *made["files"]} == set(contents(out))
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_earlier_synthesis_with_an_added_file_is_not_replaced(tmp_path: Path) -> None:
    synthesize("openimages-detection", tmp_path, images=1)
    (tmp_path / "submissions" / "mine.csv").write_text("")
    with pytest.raises(OccupiedFolder):
        synthesize("openimages-detection", tmp_path, images=1)


def test_a_failure_leaves_no_files_behind(tmp_path: Path) -> None:
    def full(stage: str, fraction: float) -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        synthesize("openimages-detection", tmp_path / "out", images=1, progress=full)
    assert not list(tmp_path.iterdir())


def test_the_command_line_lists_the_files_that_it_has_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["synthesize", "openimages-detection", "--out", str(out), "--images", "3", "--quality", "0.9"]
    assert main([*words, "--quality", "0.9", "--quality", "0.25", "--boxes-per-image", "2"]) == 0
    printed = capsys.readouterr().out.split()
    assert [str(Path(line).relative_to(out)) for line in printed if "submissions" in line] == [
        "submissions/quality-0.25-long.csv",
        "submissions/quality-0.25.csv",
        "submissions/quality-0.90-long.csv",
        "submissions/quality-0.90.csv",
    ]
    assert all(Path(line).is_file() for line in printed)


def test_streams_with_different_keys_are_different() -> None:
    assert not (RandomStream(1, 2).uniform(8) == RandomStream(2, 1).uniform(8)).any()


def test_uniform_numbers_fill_the_unit_interval() -> None:
    numbers = RandomStream(0).uniform(10_000)
    assert 0.0 <= numbers.min() < 0.001
    assert 0.999 < numbers.max() < 1.0


@pytest.mark.parametrize("make", [jittered, boxes_within], ids=["jittered", "boxes_within"])
def test_boxes_stay_in_the_image_and_are_never_empty(make: object) -> None:
    boxes = random_boxes(RandomStream(0), 2_000)
    moved = (
        jittered(RandomStream(1), boxes, by=1.0)
        if make is jittered
        else boxes_within(RandomStream(1), boxes, share=0.01)
    )
    for each in (boxes, moved, clipped(np.full((1, 4), 2.0))):
        assert each.min() >= 0
        assert each.max() <= MILLION
        assert (each[:, 0] < each[:, 1]).all()
        assert (each[:, 2] < each[:, 3]).all()


def test_formatted_decimals_are_read_back_as_the_same_numbers() -> None:
    millionths = np.concatenate([np.arange(0, MILLION, 997), [MILLION]])
    assert [round(float(text) * MILLION) for text in decimals(millionths)] == millionths.tolist()


def test_images_without_predictions_have_a_line_with_an_empty_string() -> None:
    ids = np.array([b"a", b"b", b"c"])
    cells = np.array([b"x", b"y"])
    assert prediction_strings(ids, np.array([1, 1]), cells) == b"b,x y\na,\nc,\n"
    assert prediction_strings(ids, np.array([], dtype=np.int64), cells[:0]) == b"a,\nb,\nc,\n"
