"""Tests retrieval in both directions on three images, and the detection of defects in rankings."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluator.catalog import Limits
from evaluator.problems import Findings, InvalidTruth
from evaluator.report import SplitReport
from evaluator.request import Resources, ScoringRequest
from evaluator.scoring import check, prepare, score
from evaluator.tracks.retrieval.truth import Direction, Queries, RetrievalTruth

TRACK = "flickr30k-retrieval"
IMAGES = ["a", "b", "c"]
CAPTIONS = [f"{image}#{place}" for image in IMAGES for place in range(2)]
WRONG = {"a": "b", "b": "c", "c": "a"}


def truth(tmp_path: Path, gallery: Any = None, **files: str) -> Path:
    folder = tmp_path / "truth"
    folder.mkdir()
    text = gallery if isinstance(gallery, str) else json.dumps(gallery or {"images": IMAGES, "captions": CAPTIONS})
    (folder / "gallery.json").write_text(text)
    for name, content in files.items():
        (folder / f"{name}.csv").write_text(content)
    return folder


def lists(images: dict[str, Any] | None = None, captions: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a ranking for each query. All answers are wrong, except in the rankings passed as arguments."""
    return {
        "image_to_sentence": {image: [f"{WRONG[image]}#0"] for image in IMAGES} | (images or {}),
        "sentence_to_image": {caption: [WRONG[caption[0]]] for caption in CAPTIONS} | (captions or {}),
    }


def submission(tmp_path: Path, value: Any) -> Path:
    path = tmp_path / "lists.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def scored(tmp_path: Path, value: Any, **files: str) -> dict[str, SplitReport]:
    return dict(score(ScoringRequest(TRACK, truth(tmp_path, **files), submission(tmp_path, value))).splits)


def checked(tmp_path: Path, value: Any) -> Findings:
    return check(TRACK, submission(tmp_path, value), truth=truth(tmp_path))


def test_every_sentence_of_an_image_is_a_correct_answer(tmp_path: Path) -> None:
    metrics = scored(tmp_path, lists({"a": ["b#0", "c#0", "a#1", "a#0"], "b": ["b#0"]}))["all"].metrics
    assert [metrics[f"image_to_sentence_recall@{depth}"] for depth in (1, 5, 10)] == [1 / 3, 2 / 3, 2 / 3]
    assert metrics["sentence_to_image_recall@10"] == 0.0


def test_the_score_is_the_mean_of_six_recalls(tmp_path: Path) -> None:
    metrics = scored(tmp_path, lists({"a": ["a#0"]}, {"a#0": ["b", "a"], "b#1": ["b"]}))["all"].metrics
    six = [value for name, value in metrics.items() if name != "mean_recall"]
    assert six == [1 / 3, 1 / 3, 1 / 3, 1 / 6, 2 / 6, 2 / 6]
    assert metrics["mean_recall"] == pytest.approx(sum(x for x in six if x is not None) / 6, abs=1e-15)


def test_the_median_rank_needs_complete_rankings(tmp_path: Path) -> None:
    whole = {caption: sorted(IMAGES, key=lambda image, own=caption[0]: image == own) for caption in CAPTIONS}
    rows = scored(tmp_path, lists(captions=whole | {"a#0": ["a", "b", "c"], "a#1": ["a", "b", "c"]}))["all"].classes
    assert [(row["label"], row["median_rank"], row["truths"]) for row in rows] == [
        ("image_to_sentence", None, 3),
        ("sentence_to_image", 3.0, 6),
    ]


def test_a_split_has_the_queries_of_its_images_and_the_whole_gallery(tmp_path: Path) -> None:
    usage = "ImageID,Usage\na,Public\nb,Private\nc,Ignored\n"
    splits = scored(tmp_path, lists({"a": ["a#0"]}, {"b#0": ["b"]}), usage=usage)
    assert [splits[name].metrics["image_to_sentence_recall@1"] for name in ("all", "public", "private")] == [0.5, 1, 0]
    assert [splits[name].metrics["sentence_to_image_recall@1"] for name in ("all", "public", "private")] == [
        0.25,
        0.0,
        0.5,
    ]


def test_captions_of_a_gallery_may_be_objects(tmp_path: Path) -> None:
    captions = [{"caption_id": "x7", "image_id": "a", "text": "words"}, *CAPTIONS[2:]]
    path = submission(tmp_path, {
        "image_to_sentence": {"a": ["x7"], "b": [], "c": []},
        "sentence_to_image": {"x7": [], "b#0": [], "b#1": [], "c#0": [], "c#1": []},
    })  # fmt: skip
    split = score(ScoringRequest(TRACK, truth(tmp_path, {"images": IMAGES, "captions": captions}), path)).splits["all"]
    assert split.metrics["image_to_sentence_recall@1"] == 1 / 3


def test_the_order_of_queries_does_not_change_the_report(tmp_path: Path) -> None:
    value = lists({"b": ["b#1"]}, {"a#1": ["b", "a"], "c#0": ["c"]})
    backwards = {direction: dict(reversed(queries.items())) for direction, queries in value.items()}
    folder = truth(tmp_path, usage="ImageID,Usage\na,Public\nb,Private\nc,Public\n")
    first, second = (score(ScoringRequest(TRACK, folder, submission(tmp_path, each))) for each in (value, backwards))
    assert first.as_dict() == second.as_dict()


@pytest.mark.parametrize("position", [0, 2, 4])
def test_every_answer_is_looked_up_at_any_rank_of_the_correct_answer(
    position: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[object] = []

    class Recorded(frozenset[str]):
        def __contains__(self, answer: object) -> bool:
            looked_up.append(answer)
            return super().__contains__(answer)

    original = RetrievalTruth.queries

    def queries(self: RetrievalTruth, direction: Direction) -> Queries:
        found = original(self, direction)
        return replace(found, correct={code: Recorded(answers) for code, answers in found.correct.items()})

    monkeypatch.setattr(RetrievalTruth, "queries", queries)
    ranking = ["b#0", "b#1", "c#0", "c#1"]
    ranking.insert(position, "a#0")
    metrics = scored(tmp_path, lists({"a": ranking}))["all"].metrics
    assert metrics["image_to_sentence_recall@5"] == 1 / 3
    assert looked_up[: len(ranking)] == ranking


DEFECTS = [
    pytest.param([], "bad_json", "$", id="a list instead of an object"),
    pytest.param({"image_to_sentence": {}}, "bad_json", "$.sentence_to_image", id="only one direction"),
    pytest.param(lists() | {"more": {}}, "bad_json", "$.more", id="a third direction"),
    pytest.param(lists({"a": "a#0"}), "bad_json", "$.image_to_sentence.a", id="a string instead of a list"),
    pytest.param(lists({"a": ["a#0", 5]}), "bad_json", "$.image_to_sentence.a[1]", id="a number instead of an id"),
    pytest.param(lists({"a": [["a#0"]]}), "bad_json", "$.image_to_sentence.a[0]", id="a list instead of an id"),
    pytest.param(lists({"a": ["a#0", "b#0", "a#0"]}), "bad_json", "$.image_to_sentence.a", id="a repeated id"),
    pytest.param(lists({"a": ["a#0", "a#7"]}), "unknown_image", "$.image_to_sentence.a[1]", id="an unknown caption"),
    pytest.param(lists(captions={"a#0": ["z"]}), "unknown_image", "$.sentence_to_image.a#0[0]", id="an unknown image"),
    pytest.param(lists({"z": ["a#0"]}), "unknown_image", "$.image_to_sentence.z", id="an unknown query"),
    pytest.param('{"image_to_sentence": {"a": [], "a": []}, "sentence_to_image": {}}', "bad_json",
                 "$.image_to_sentence.a", id="a repeated query"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "code", "path"), DEFECTS)
def test_a_defect_is_reported_with_its_path(tmp_path: Path, value: Any, code: str, path: str) -> None:
    first = checked(tmp_path, value).errors[0]
    assert (first.code, first.column) == (code, path)


def test_a_missing_query_is_a_defect(tmp_path: Path) -> None:
    value = lists()
    del value["image_to_sentence"]["b"], value["sentence_to_image"]["c#1"]
    found = checked(tmp_path, value)
    assert [(p.code, p.image) for p in found.errors] == [("missing_image", "b"), ("missing_image", "c#1")]


def test_without_a_truth_only_the_file_format_is_checked(tmp_path: Path) -> None:
    path = submission(tmp_path, {"image_to_sentence": {"x": ["y"]}, "sentence_to_image": {}})
    assert check(TRACK, path).errors == []
    assert [p.code for p in check(TRACK, path, resources=Resources(limits=Limits(boxes=0))).errors] == ["too_many_rows"]


@pytest.mark.parametrize(
    "gallery",
    [
        "[",
        [],
        {"images": IMAGES},
        {"images": ["a", 5], "captions": ["a#0"]},
        {"images": ["a", "a"], "captions": ["a#0"]},
        {"images": ["a"], "captions": ["a#0", "a#0"]},
        {"images": ["a"], "captions": ["a#0", "no image"]},
        {"images": ["a"], "captions": ["a#0", 7]},
        {"images": ["a"], "captions": ["a#0", "b#0"]},
        {"images": ["a", "b"], "captions": ["a#0"]},
    ],
)
def test_a_faulty_gallery_is_refused(tmp_path: Path, gallery: Any) -> None:
    folder = truth(tmp_path, gallery if isinstance(gallery, str) else json.dumps(gallery))
    with pytest.raises(InvalidTruth) as caught:
        prepare(TRACK, folder, tmp_path / "t.podium")
    assert {(p.code, p.file) for p in caught.value.problems} == {("truth_bad_value", "gallery.json")}
