"""In every track, the per-class results on public images do not depend on the classes in private images."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.catalog import TRACKS
from evaluator.request import ReportOptions, ScoringRequest
from evaluator.scoring import ceiling, score
from tests.evaluator.test_hidden_truth import MASK

USAGE = "ImageID,Usage\none,Public\ntwo,Private\n"
IMAGES = "ImageID,Width,Height\none,8,6\ntwo,8,6\n"
BOX = "0.0,0.5,0.0,0.5"
VERIFIED = "ImageID,LabelName,Confidence\none,cat,1\none,owl,0\ntwo,{},1\n"
BOXES = f"ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\none,cat,{BOX},0\ntwo,{{}},{BOX},0\n"
MASKS = (
    "ImageID,LabelName,ImageWidth,ImageHeight,XMin,XMax,YMin,YMax,IsGroupOf,Mask\n"
    f"one,cat,8,6,{BOX},0,{MASK}\ntwo,{{}},8,6,{BOX},0,{MASK}\n"
)
PAIRS = (
    "ImageID,LabelName1,LabelName2,RelationshipLabel,XMin1,XMax1,YMin1,YMax1,XMin2,XMax2,YMin2,YMax2\n"
    f"one,cat,mat,on,{BOX},{BOX}\ntwo,cat,mat,{{}},{BOX},{BOX}\n"
)
TREE = {"LabelName": "root", "Subcategory": [{"LabelName": name} for name in ("cat", "dog", "cow", "owl")]}
LISTS = {"classes.csv": "cat,Cat\ndog,Dog\ncow,Cow\nowl,Owl\nmat,Mat\n", "relations.csv": "on,on\ndog,dog\ncow,cow\n"}


def phrase(image: str, kind: str) -> str:
    told = {"image_id": image, "sentence_id": 0, "phrase_index": 0, "types": [kind], "boxes": [[0, 0, 5, 5]]}
    return json.dumps(told) + "\n"


def gallery(*images: str) -> str:
    """Return a retrieval gallery as JSON, with one caption for each of the given images, which may be repeated."""
    entries = [{"caption_id": caption, "image_id": image} for caption, image in zip("kqzab", images, strict=True)]
    return json.dumps({"images": ["one", "two", "six"], "captions": entries})


def files(track: str, private: str) -> dict[str, str]:
    """Return the files of a ground truth whose private image contains only the given class."""
    number, others = {"dog": (2, ("two", "six")), "cow": (3, ("six", "two"))}[private]
    per_track = {
        "openimages-detection": {"boxes.csv": BOXES, "image_labels.csv": VERIFIED},
        "openimages-segmentation": {"boxes.csv": BOXES, "masks.csv": MASKS, "image_labels.csv": VERIFIED},
        "openimages-classification": {"image_labels.csv": VERIFIED},
        "openimages-relationships": {"relationships.csv": PAIRS},
        "flickr30k-grounding": {"phrases.jsonl": phrase("one", "people") + phrase("two", private)},
        "flickr30k-retrieval": {"gallery.json": gallery("one", "one", "two", *others)},
        "objectnet": {
            "answers.json": json.dumps({"one": 1, "two": number}),
            "controls.csv": f"file,background,rotation,viewpoint\none,sea,left,top\ntwo,{private},right,low\n",
        },
    }
    usage = USAGE + ("six,Private\n" if track == "flickr30k-retrieval" else "")
    return {name: text.replace("{}", private) for name, text in per_track[track].items()} | {"usage.csv": usage}


def answer(track: str, truth: Path, to: Path) -> Path:
    """Write a submission with the correct answers.

    In some tracks, add predictions in the public image of "dog" and "cow", one of which occurs in the private image.
    """
    ceiling(track, truth, to / "submission")
    extra = {
        "openimages-detection": f"one,dog,0.5,{BOX}\none,cow,0.5,{BOX}\n",
        "openimages-classification": "one,dog,0.5\none,cow,0.5\n",
        "openimages-relationships": f"one,cat,mat,dog,0.5,{BOX},{BOX}\none,cat,mat,cow,0.5,{BOX},{BOX}\n",
    }
    with (to / "submission").open("a") as file:
        file.write(extra.get(track, ""))
    return to / "submission"


CASES: list[Any] = [
    *((track, {}, {}) for track in TRACKS),
    *(("openimages-" + name, {"hierarchy.json": json.dumps(TREE)}, {}) for name in
      ("detection", "segmentation", "classification")),
    *(("openimages-" + name, LISTS, {}) for name in ("detection", "relationships", "segmentation", "classification")),
    ("openimages-detection", {}, {"protocol": "fiftyone"}),
    ("openimages-detection", {}, {"protocol": "fiftyone", "classwise": False}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("track", "lists", "parameters"),
    [pytest.param(*case, id="-".join([case[0], *case[1], *map(str, case[2].values())])) for case in CASES],
)
def test_public_rows_do_not_depend_on_the_class_of_a_private_image(
    track: str, lists: dict[str, str], parameters: dict[str, Any], tmp_path: Path
) -> None:
    truths = []
    for private in ("dog", "cow"):
        truths.append(tmp_path / private)
        truths[-1].mkdir()
        known = {name: text for name, text in lists.items() if name in {f.name for f in TRACKS[track].truth_files}}
        sizes = {"images.csv": IMAGES} if track.startswith("openimages") else {}
        for name, text in (files(track, private) | sizes | known).items():
            (truths[-1] / name).write_text(text)
    submission = answer(track, truths[0], tmp_path)
    options = ReportOptions(curves=True, explanation=bool(TRACKS[track].modules.explanation))
    requests = [ScoringRequest(track, truth, submission, parameters, report=options) for truth in truths]
    reports = [score(request).for_organizer() for request in requests]
    public = [(report.as_dict()["splits"]["public"], report.curves["public"]) for report in reports]
    assert public[0] == public[1]
    assert public[0][0]["classes"]
    everything = [json.dumps(report.as_dict()["splits"]["all"]["classes"]) for report in reports]
    # In the retrieval track, every submission ranks both images, so its results per class do not depend on the class of
    # the private image.
    assert track == "flickr30k-retrieval" or lists == LISTS or everything[0] != everything[1]
