"""The files that the evaluator writes for participants do not depend on the annotations in the ground truth."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.catalog import TRACKS
from evaluator.problems import InvalidSubmission, InvalidTruth
from evaluator.request import ScoringRequest, TruthOptions
from evaluator.scoring import candidates, prepare, score, template
from evaluator.synthesis import synthesize

RETRIEVAL, SEGMENTATION = "flickr30k-retrieval", "openimages-segmentation"
IMAGES = ["sea.jpg", "sky.jpg", "sun.jpg"]
OPAQUE = {"k3": "sun.jpg", "p9": "sea.jpg", "a7": "sky.jpg", "z1": "sea.jpg", "c5": "sun.jpg", "m2": "sky.jpg"}
BOX = "0.0,0.5,0.0,0.5"
HEADERS = {
    "boxes.csv": "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\n",
    "masks.csv": "ImageID,LabelName,ImageWidth,ImageHeight,XMin,XMax,YMin,YMax,IsGroupOf,Mask\n",
    "image_labels.csv": "ImageID,LabelName,Confidence\n",
    "images.csv": "ImageID,Width,Height\n",
    "classes.csv": "",
}
MASK = "eJyzMDI28jcAAUM/UwATLQLD"  # An encoded mask of 8 × 6 pixels.
ROWS = {
    "boxes.csv": f"a,cat,{BOX},0\n",
    "masks.csv": f"a,cat,8,6,{BOX},0,{MASK}\n",
    "image_labels.csv": "a,cat,1\nb,cat,1\n",
    "images.csv": "a,8,6\nb,9,7\n",
    "classes.csv": "cat,Cat\n",
}


def codes(track: str, folder: Path, tmp_path: Path, *, hidden: bool = True) -> set[str]:
    try:
        prepare(track, folder, tmp_path / "truth.podium", opening=TruthOptions(hidden=hidden))
    except InvalidTruth as error:
        return set(error.findings.counts)
    return set()


def gallery(tmp_path: Path, captions: dict[str, str], images: list[str] = IMAGES) -> Path:
    folder = tmp_path / "truth"
    folder.mkdir(exist_ok=True)
    entries = [{"caption_id": name, "image_id": image, "text": name.upper()} for name, image in captions.items()]
    (folder / "gallery.json").write_text(json.dumps({"images": images, "captions": entries}))
    return folder


def numbered(names: list[str]) -> dict[str, str]:
    """Map captions to images: the first three to the first image, the next three to the second image, and so on."""
    return {name: IMAGES[place // 3] for place, name in enumerate(names)}


REVEALING: list[Any] = [
    pytest.param({f"{image}#{n}": image for n in (0, 1) for image in IMAGES}, id="the image id and a number"),
    pytest.param({f"{image[:3]}-{n}": image for n in (0, 1) for image in IMAGES}, id="the id without extension"),
    pytest.param({f"C:{image.upper()}:{n}": image for n in (0, 1) for image in IMAGES}, id="the id in upper case"),
    pytest.param(numbered(["k3", "p9", "a7", "z1", "c5", "m2", "b8", "y4", "q6"]), id="ids sorted by image"),
    pytest.param(dict(reversed(numbered([*"kpazcmbyq"]).items())), id="ids sorted by image, reversed"),
    pytest.param({f"c{n}": IMAGES[n // 4] for n in (10, 3, 7, 0, 9, 5, 11, 2, 4)}, id="numbers sorted by image"),
    pytest.param({f"c{n}": f"{9 - n // 5}.jpg" for n in range(50)} | {"c50": "0.jpg"}, id="captions grouped by image"),
]  # fmt: skip


@pytest.mark.parametrize("captions", REVEALING)
def test_caption_ids_that_reveal_their_image_are_refused(captions: dict[str, str], tmp_path: Path) -> None:
    folder = gallery(tmp_path, captions, sorted(set(captions.values())))
    assert codes(RETRIEVAL, folder, tmp_path) == {"truth_reveals_answers"}


def test_revealing_caption_ids_are_allowed_if_the_truth_is_not_hidden(tmp_path: Path) -> None:
    folder = gallery(tmp_path, {f"{image}#{n}": image for image in IMAGES for n in (0, 1)})
    assert codes(RETRIEVAL, folder, tmp_path, hidden=False) == set()


def test_opaque_caption_ids_are_accepted(tmp_path: Path) -> None:
    assert codes(RETRIEVAL, gallery(tmp_path, OPAQUE), tmp_path) == set()


@pytest.mark.parametrize("track", TRACKS)
def test_the_synthesized_truth_of_every_track_may_be_hidden(track: str, tmp_path: Path) -> None:
    synthesize(track, tmp_path / "world", images=40, qualities=[])
    assert codes(track, tmp_path / "world" / "truth", tmp_path) == set()


@pytest.mark.parametrize("write", [template, candidates])
def test_files_for_participants_do_not_depend_on_which_caption_belongs_to_which_image(
    write: Callable[[str, Path, Path], None], tmp_path: Path
) -> None:
    others = dict(zip(OPAQUE, [*list(OPAQUE.values())[1:], OPAQUE["k3"]], strict=True))
    given = []
    for captions in (OPAQUE, others, dict(reversed(OPAQUE.items()))):
        write(RETRIEVAL, gallery(tmp_path, captions), tmp_path / "out.json")
        given.append((tmp_path / "out.json").read_bytes())
    assert given == [given[0]] * 3


def test_the_order_of_the_retrieval_template_scores_no_better_than_chance(tmp_path: Path) -> None:
    """If the template listed captions by image, assigning them to images in this order would give a perfect score."""
    synthesize(RETRIEVAL, tmp_path / "world", images=200, qualities=[])
    template(RETRIEVAL, tmp_path / "world" / "truth", tmp_path / "sample.json")
    lists = json.loads((tmp_path / "sample.json").read_text())
    images, captions = list(lists["image_to_sentence"]), list(lists["sentence_to_image"])
    guess = {
        "image_to_sentence": {image: captions[5 * n : 5 * n + 5] for n, image in enumerate(images)},
        "sentence_to_image": {caption: [images[n // 5]] for n, caption in enumerate(captions)},
    }
    (tmp_path / "guess.json").write_text(json.dumps(guess))
    report = score(ScoringRequest(RETRIEVAL, tmp_path / "world" / "truth", tmp_path / "guess.json"))
    value = report.splits["all"].metrics["mean_recall"]
    assert value is not None
    assert value < 0.05


def test_candidates_are_all_images_and_all_captions_with_their_sentences(tmp_path: Path) -> None:
    candidates(RETRIEVAL, gallery(tmp_path, OPAQUE), tmp_path / "candidates.json")
    given = json.loads((tmp_path / "candidates.json").read_text())
    assert sorted(given["images"]) == IMAGES
    assert {each["caption_id"]: each["text"] for each in given["captions"]} == {name: name.upper() for name in OPAQUE}
    assert all(set(each) == {"caption_id", "text"} for each in given["captions"])


def masked(tmp_path: Path, **changed: str) -> Path:
    folder = tmp_path / "truth"
    folder.mkdir(exist_ok=True)
    for name, rows in {**ROWS, **{f"{stem}.csv": rows for stem, rows in changed.items()}}.items():
        (folder / name).write_text(HEADERS[name] + rows)
    return folder


def test_a_hidden_segmentation_truth_needs_the_size_of_every_image(tmp_path: Path) -> None:
    folder = masked(tmp_path)
    assert codes(SEGMENTATION, folder, tmp_path) == set()
    (folder / "images.csv").write_text("ImageID\na\nb\n")
    assert codes(SEGMENTATION, folder, tmp_path) == {"truth_bad_header"}
    (folder / "images.csv").unlink()
    assert codes(SEGMENTATION, folder, tmp_path) == {"truth_missing_file"}
    assert codes(SEGMENTATION, folder, tmp_path, hidden=False) == set()


@pytest.mark.parametrize(
    ("file", "rows"),
    [
        ("images", "a,8,6\nb,9,\n"),
        ("images", "a,8,6\nb,9,0\n"),
        ("images", "a,8,6\nb,9,7.5\n"),
        ("images", "a,8,6\na,8,7\nb,9,7\n"),
        ("masks", f"a,cat,9,6,{BOX},0,{MASK}\n"),
    ],
)
def test_sizes_that_contradict_each_other_are_faults(file: str, rows: str, tmp_path: Path) -> None:
    assert codes(SEGMENTATION, masked(tmp_path, **{file: rows}), tmp_path) == {"truth_bad_value"}


def test_whether_an_image_has_a_mask_changes_neither_sample_nor_defects(tmp_path: Path) -> None:
    (tmp_path / "wrong.csv").write_text("ImageID,ImageWidth,ImageHeight,PredictionString\na,1,1,\nb,1,1,\n")
    found = []
    for masks in (ROWS["masks.csv"], ""):
        folder = masked(tmp_path, masks=masks)
        template(SEGMENTATION, folder, tmp_path / "sample.csv")
        with pytest.raises(InvalidSubmission) as raised:
            score(ScoringRequest(SEGMENTATION, folder, tmp_path / "wrong.csv"))
        found.append(((tmp_path / "sample.csv").read_text(), raised.value.findings.as_dict()))
    assert found[0] == found[1]
    assert found[0][0].splitlines()[1:] == ["a,8,6,", "b,9,7,"]
    assert found[0][1]["errors"][0]["message"].endswith("8 pixels")
