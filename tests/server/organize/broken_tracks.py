"""Test cases for bundles and ground truths with plausible errors, for all tracks. See also `broken_bundles.py`."""

import json
from collections.abc import Mapping

from tests.server.organize.broken_bundles import (
    CAT,
    MAIN,
    TRUTH,
    YAML,
    Broken,
    boxes,
    challenge,
    file,
    labels,
    phase,
    sheet,
    tree,
)
from tests.server.organize.conftest import BOXES, LABELS, SHEET

RELATIONSHIPS, SEGMENTATION = "openimages-relationships", "openimages-segmentation"
CLASSIFICATION, OBJECTNET = "openimages-classification", "objectnet"
GROUNDING, RETRIEVAL = "flickr30k-grounding", "flickr30k-retrieval"
IMAGES = "ImageID\na\nb\n"
RELATED = (
    "ImageID,LabelName1,LabelName2,RelationshipLabel,XMin1,XMax1,YMin1,YMax1,XMin2,XMax2,YMin2,YMax2\n"
    "a,/m/man,/m/horse,rides,0.1,0.5,0.1,0.5,0.2,0.6,0.2,0.6\nb,/m/man,/m/cat,holds,0.1,0.5,0.1,0.5,0.2,0.6,0.2,0.6\n"
)
MASK = "eJyzMDI28jcAAUM/UwATLQLD"  # An encoded mask of 8 x 6 pixels.
MASKS = (
    "ImageID,LabelName,ImageWidth,ImageHeight,XMin,XMax,YMin,YMax,IsGroupOf,Mask\n"
    f"a,/m/cat,8,6,0.1,0.5,0.1,0.5,0,{MASK}\nb,/m/dog,8,6,0.2,0.6,0.2,0.6,0,{MASK}\n"
)
PHRASE = {"image_id": "a", "sentence_id": 0, "phrase_index": 0, "types": ["people"], "boxes": [[1, 1, 50, 50]]}
CAPTIONS = [{"caption_id": "x1", "image_id": "a"}, {"caption_id": "x2", "image_id": "b"}]


def lines(*phrases: object) -> str:
    return "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in phrases)


def gallery(images: list[object], captions: list[object]) -> str:
    return json.dumps({"images": images, "captions": captions})


SECOND = PHRASE | {"image_id": "b"}
VALID: Mapping[str, Mapping[str, str]] = {
    "": {"boxes.csv": BOXES, "image_labels.csv": LABELS},
    RELATIONSHIPS: {"relationships.csv": RELATED, "images.csv": IMAGES},
    SEGMENTATION: {
        "boxes.csv": BOXES,
        "masks.csv": MASKS,
        "image_labels.csv": LABELS,
        "images.csv": "ImageID,Width,Height\na,8,6\nb,8,6\n",
    },
    CLASSIFICATION: {"image_labels.csv": f"{LABELS}a,/m/dog,0\nb,/m/cat,0\n", "images.csv": IMAGES},
    GROUNDING: {"phrases.jsonl": lines(PHRASE, SECOND), "images.csv": IMAGES},
    RETRIEVAL: {"gallery.json": gallery(["a", "b"], [*CAPTIONS])},
    OBJECTNET: {"answers.json": '{"a.png": 4, "b.png": 12}', "classes.csv": "4,Air freshener\n12,Backpack\n"},
}


def of(
    track: str, name: str, path: str, content: str | None, code: str, line: int | None = None,
    column: str | None = None, *, at: str = "", warns: bool = False,
) -> Broken:  # fmt: skip
    """Return a test case in which the ground truth file `path` has the given content.

    The error must be reported in the file `at` or, if `at` is empty, in the changed file.
    """
    written = {**dict.fromkeys(VALID[""]), **VALID[track], path: content}
    files = {f"{TRUTH}{file}": text for file, text in written.items()}
    sheet = ("openimages-detection", track)
    return Broken(name, (code, f"{TRUTH}{at or path}", line, column), sheet=sheet, files=files, warns=warns)


def header(text: str) -> str:
    return text.partition("\n")[0] + "\n"


NOTHING = "truth_nothing_to_score"
SHEETS = (
    sheet("truth value for a title", "title: Animals", "title: yes", "bad_value", 2, "title"),
    sheet("binary title", "title: Animals", "title: !!binary aGk=", "bad_value", 2, "title"),
    challenge("contact without an address", "contact: room 5", "bad_contact", "contact", warns=True),
    challenge(
        "joining after the end",
        "closes_at: 2099-01-01T00:00:00Z\njoin_until: 2099-02-01T00:00:00Z",
        "no_effect",
        "join_until",
        4,
        warns=True,
    ),
    phase("mapping for a number", "finals: {a: 1}", "bad_value", ".finals"),
    phase("negative number", "quota: {per_day: -1}", "bad_value", ".quota.per_day"),
    phase("number that is too large", "quota: {per_day: 99999999999}", "bad_value", ".quota.per_day"),
    phase("truth value for a number", "quota: {total: true}", "bad_value", ".quota.total"),
    phase("number for a mapping", "feedback: 3", "bad_value", ".feedback"),
    phase("merge key", "<<: {finals: 3}", "unknown_key", ".<<"),
    phase("alias inside itself", "quota: &q {per_day: *q}", "bad_value", ".quota.per_day"),
    phase("many aliases", f"baselines: [&b {{name: B, file: b.csv}}, {'*b, ' * 100}]", "too_large", ".baselines"),
    phase("finals above total", "finals: 5\n    quota: {total: 3, per_day: 1}", "contradicting_quota", ".quota", 4,
          warns=True),
    file("UTF-16 sheet", YAML, SHEET.encode("utf-16"), "encoding", 1),
    file("NUL in YAML", YAML, f"{SHEET}\0", "bad_yaml", 6),
    file("NUL in a page", "rules.md", "Be\0fair.", "encoding", 1),
    file("empty page", "rules.md", "\n", "empty_page", warns=True),
    file("logo", "logo.png", "x", "unread_file", warns=True),
    file("sample with a wrong name", f"{MAIN}sample-submission.csv", "x", "unread_file", warns=True),
    file("sample of another format", f"{MAIN}sample_submission.json", "[]", "unread_file", warns=True),
    Broken("unlisted baseline", ("unread_file", f"{MAIN}baselines", None, None), warns=True,
           files={f"{MAIN}baselines/b.csv": "x"}),
    Broken("usage as a folder", ("unread_file", f"{MAIN}usage.csv", None, None), warns=True,
           files={f"{MAIN}usage.csv/a.txt": "x"}),
    Broken("truth next to its folder", ("truth_missing_file", f"{TRUTH}boxes.csv", None, None),
           files={f"{TRUTH}boxes.csv": None, f"{MAIN}boxes.csv": BOXES}),
)  # fmt: skip
DETECTION = (
    file("no boxes at all", f"{TRUTH}boxes.csv", header(BOXES), NOTHING),
    file("no labels at all", f"{TRUTH}image_labels.csv", header(LABELS), "truth_no_rows", 1, warns=True),
    boxes("group-of flag of 2", "a,/m/cat,0.1,0.3,0.1,0.5,2", "truth_group_of", "IsGroupOf", warns=True),
    boxes("quote that is not closed", 'a,"/m/cat,0.1,0.5,0.1,0.5,0', "truth_bad_value", None),
    boxes("NUL in a label", "a,/m/c\0at,0.1,0.5,0.1,0.5,0", "truth_bad_value", None),
    labels("label verified twice", "a,/m/cat,1", "truth_duplicate", "LabelName", warns=True),
    file("usage of unknown images", f"{MAIN}usage.csv", "ImageID,Usage\na,Public\nb,Public\na.jpg,Public\n",
         "truth_unknown_image", 4, "ImageID", warns=True),
    file("class in one half", f"{MAIN}usage.csv", "ImageID,Usage\na,Public\nb,Private\n", "truth_class_in_one_half",
         warns=True),
    file("image listed twice", f"{TRUTH}images.csv", f"{IMAGES}a\n", "truth_duplicate", 4, "ImageID", warns=True),
    file("classes with a header", f"{TRUTH}classes.csv", "Label,Name\n/m/cat,Cat\n/m/dog,Dog\n", "truth_header", 1,
         warns=True),
    file("one name for two classes", f"{TRUTH}classes.csv", "/m/cat,Pet\n/m/dog,pet\n", "truth_same_name", 2,
         warns=True),
    file("hierarchy as a list", f"{TRUTH}hierarchy.json", "[]", "truth_bad_value", column="$"),
    file("hierarchy of names", f"{TRUTH}hierarchy.json", tree(CAT, "/m/dog"), "truth_bad_value",
         column="$.Subcategory[1]"),
    file("salt of one digit", f"{TRUTH}salt.txt", "0" * 32, "truth_weak_salt", 1, warns=True),
)  # fmt: skip
TRACKS = (
    of(RELATIONSHIPS, "no triplets", "relationships.csv", header(RELATED), NOTHING),
    of(RELATIONSHIPS, "unlisted relation", "relations.csv", "rides,rides\n", "truth_unknown_label", 3,
       "RelationshipLabel", at="relationships.csv"),
    of(RELATIONSHIPS, "second box inverted", "relationships.csv", RELATED.replace("0.2,0.6\nb", "0.6,0.2\nb"),
       "truth_inverted_box", 2, "YMin2"),
    of(SEGMENTATION, "no masks", "masks.csv", header(MASKS), NOTHING),
    of(SEGMENTATION, "run lengths for a mask", "masks.csv", MASKS.replace(MASK, "12 3 40 5", 1), "truth_bad_value", 2,
       "Mask"),
    of(SEGMENTATION, "width and height swapped", "masks.csv", MASKS.replace(",8,6,", ",6,8,", 1), "truth_bad_value", 2,
       "ImageWidth"),
    of(SEGMENTATION, "images without sizes", "images.csv", IMAGES, "truth_bad_header"),
    of(SEGMENTATION, "mask of another box", "masks.csv", MASKS.replace("0.1", "0.2", 1), "truth_mask_without_box", 2,
       "ImageID", warns=True),
    of(CLASSIFICATION, "nothing present", "image_labels.csv", LABELS.replace(",1\n", ",0\n"), NOTHING),
    of(CLASSIFICATION, "confidences in percent", "image_labels.csv", f"{LABELS}b,/m/cat,100\n", "truth_confidence", 4,
       "Confidence", warns=True),
    of(GROUNDING, "no phrases", "phrases.jsonl", "\n", NOTHING),
    of(GROUNDING, "broken line", "phrases.jsonl", lines(PHRASE, "{image_id", SECOND), "truth_bad_value", 2),
    of(GROUNDING, "negative sentence", "phrases.jsonl", lines(SECOND, PHRASE | {"sentence_id": -1}), "truth_bad_value",
       2, "sentence_id"),
    of(GROUNDING, "phrase of an unlisted image", "phrases.jsonl", lines(PHRASE, SECOND, PHRASE | {"image_id": "a.jpg"}),
       "truth_bad_value", 3),
    of(GROUNDING, "boxes as width and height", "phrases.jsonl", lines(SECOND, PHRASE | {"boxes": [[90, 90, 9, 9]]}),
       "truth_inverted_box", 2),
    of(GROUNDING, "half a character", "phrases.jsonl", lines(PHRASE, SECOND | {"types": ["\ud800"]}), "truth_bad_value",
       2),
    of(GROUNDING, "two kinds of files", "split.txt", "a\n", "truth_ignored", warns=True),
    of(RETRIEVAL, "no gallery", "gallery.json", gallery([], []), NOTHING),
    of(RETRIEVAL, "caption of an unknown image", "gallery.json",
       gallery(["a", "b"], [*CAPTIONS, {"caption_id": "x3", "image_id": "c"}]), "truth_bad_value", None,
       "$.captions[2]"),
    of(RETRIEVAL, "number for a caption id", "gallery.json", gallery(["a", "b"], [*CAPTIONS, {"caption_id": 3}]),
       "truth_bad_value", None, "$.captions[2]"),
    of(RETRIEVAL, "image in the gallery twice", "gallery.json", gallery(["a", "b", "a"], [*CAPTIONS]),
       "truth_bad_value", None, "$.images[2]"),
    of(OBJECTNET, "no answers", "answers.json", "{}", "truth_bad_value"),
    of(OBJECTNET, "text for a class id", "answers.json", '{"a.png": "4", "b.png": 12}', "truth_bad_value", None,
       "$.a.png"),
    of(OBJECTNET, "list of class ids", "answers.json", '{"a.png": 4, "b.png": [12]}', "truth_bad_value", None,
       "$.b.png"),
    of(OBJECTNET, "names for class ids", "classes.csv", "4,Air freshener\nBackpack,12\n", "truth_unknown_label", 2),
    of(OBJECTNET, "class without a name", "classes.csv", "4,Air freshener\n", "truth_class_without_name", warns=True),
    of(OBJECTNET, "controls of an unknown file", "controls.csv",
       "file,background,rotation,viewpoint\na.png,bed,0,top\nb.png,bed,0,top\nc.png,bed,0,top\n", "truth_unknown_image",
       4, "file", warns=True),
    Broken("truth of another track", ("truth_missing_file", f"{TRUTH}relationships.csv", None, None),
           sheet=("openimages-detection", RELATIONSHIPS)),
    Broken("empty truth of another track", (NOTHING, f"{TRUTH}relationships.csv", None, None),
           sheet=("openimages-detection", RELATIONSHIPS), files={f"{TRUTH}relationships.csv": header(RELATED)}),
    of(CLASSIFICATION, "boxes for classification", "boxes.csv", BOXES, "unread_file", warns=True),
)  # fmt: skip
BROKEN_TRACKS = SHEETS + DETECTION + TRACKS
