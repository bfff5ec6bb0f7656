"""Tests the rules of phrase grounding on two sentences, the defects of submissions, and both ground truth formats."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluator.catalog import Limits
from evaluator.kernels import CROWD
from evaluator.problems import Findings, InvalidTruth
from evaluator.report import SplitReport
from evaluator.request import Resources, ScoringRequest
from evaluator.scoring import check, prepare, score
from evaluator.tracks.grounding import scorer
from evaluator.truth import Truth

TRACK = "flickr30k-grounding"
LEFT, RIGHT, ALL, FAR = [0, 0, 10, 10], [10, 0, 20, 10], [0, 0, 20, 10], [90, 90, 99, 99]


def phrase(image: str, sentence: int, index: int, kinds: list[str], *boxes: list[int]) -> dict[str, Any]:
    place = {"image_id": image, "sentence_id": sentence, "phrase_index": index}
    return place | {"phrase": "words", "types": kinds, "boxes": list(boxes)}


PHRASES = [
    phrase("a", 0, 0, ["people"], LEFT, RIGHT),
    phrase("a", 0, 3, ["other"], FAR),
    phrase("b", 1, 0, ["people", "scene"], LEFT),
]


def truth(tmp_path: Path, phrases: list[Any] = PHRASES, **files: str) -> Path:
    folder = tmp_path / "truth"
    folder.mkdir(exist_ok=True)
    lines = [each if isinstance(each, str) else json.dumps(each) for each in phrases]
    (folder / "phrases.jsonl").write_text("\n".join(lines) + "\n")
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


def entry(image: str, sentence: int, *lists: list[list[float]]) -> dict[str, Any]:
    return {"image_id": image, "sentence_id": sentence, "boxes": list(lists)}


def submission(tmp_path: Path, value: Any) -> Path:
    path = tmp_path / "boxes.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def scored(tmp_path: Path, first: list[Any], second: list[Any], third: list[Any], **parameters: Any) -> SplitReport:
    path = submission(tmp_path, [entry("a", 0, first, second), entry("b", 1, third)])
    return score(ScoringRequest(TRACK, truth(tmp_path), path, parameters=parameters)).splits["all"]


def checked(tmp_path: Path, value: Any, **files: str) -> Findings:
    return check(TRACK, submission(tmp_path, value), truth=truth(tmp_path, **files))


@pytest.mark.parametrize(("rule", "box"), [("merged", LEFT), ("any", ALL)])
def test_an_overlap_of_one_half_is_enough(tmp_path: Path, rule: str, box: list[int]) -> None:
    assert scored(tmp_path, [box], [], [], box_rule=rule).metrics["recall@1"] == 1 / 3


def test_with_the_rule_merged_the_box_around_all_boxes_is_compared(tmp_path: Path) -> None:
    # The IoU of the prediction is 200 / 320 with the box around both boxes, and 100 / 320 with each single box.
    wide = [0, 0, 20, 16]
    assert scored(tmp_path, [wide], [], [], box_rule="merged").metrics["recall@1"] == 1 / 3


def test_with_the_rule_any_each_box_matches_but_not_the_box_around_all_boxes(tmp_path: Path) -> None:
    wide = [0, 0, 20, 16]
    assert scored(tmp_path, [wide], [], [], box_rule="any").metrics["recall@1"] == 0.0


def test_the_rank_of_the_first_hit_determines_the_recall(tmp_path: Path) -> None:
    metrics = scored(tmp_path, [FAR] * 4 + [ALL], [LEFT] * 9 + [FAR], [FAR] * 10 + [LEFT]).metrics
    assert metrics == {"recall@1": 0.0, "recall@5": 1 / 3, "recall@10": 2 / 3, "upper_bound": 1.0}


def test_a_phrase_of_two_types_counts_in_both(tmp_path: Path) -> None:
    rows = {row["label"]: row for row in scored(tmp_path, [], [], [LEFT]).classes}
    assert [(name, rows[name]["recall@1"], rows[name]["truths"]) for name in ("other", "people", "scene")] == [
        ("other", 0.0, 1),
        ("people", 0.5, 2),
        ("scene", 1.0, 1),
    ]


def test_a_phrase_is_in_the_split_of_its_image(tmp_path: Path) -> None:
    path = submission(tmp_path, [entry("b", 1, [LEFT]), entry("a", 0, [], [])])
    folder = truth(tmp_path, usage="ImageID,Usage\na,Public\nb,Private\n")
    splits = score(ScoringRequest(TRACK, folder, path)).splits
    assert [splits[name].metrics["recall@1"] for name in ("all", "public", "private")] == [1 / 3, 0.0, 1.0]
    assert [row["recall@1"] for row in splits["public"].classes] == [0.0, 0.0]


GOOD = [entry("a", 0, [], []), entry("b", 1, [])]
DEFECTS = [
    pytest.param({}, "bad_json", "$", id="an object"),
    pytest.param("[[[", "bad_json", None, id="truncated"),
    pytest.param("[" * 100_000, "bad_json", None, id="nested deeply"),
    pytest.param("", "empty", None, id="an empty file"),
    pytest.param("PK\x03\x04", "bad_json", None, id="a zip archive"),
    pytest.param('[{"image_id": "a", "image_id": "a"}]', "bad_json", "$[0].image_id", id="a repeated key"),
    pytest.param([*GOOD, 5], "bad_json", "$[2]", id="a number instead of a sentence"),
    pytest.param([GOOD[0] | {"sentence_id": "0"}], "bad_json", "$[0].sentence_id", id="a number as a string"),
    pytest.param([GOOD[0] | {"sentence_id": True}], "bad_json", "$[0].sentence_id", id="true instead of a number"),
    pytest.param([GOOD[0] | {"image_id": 1}], "bad_json", "$[0].image_id", id="an id that is not a string"),
    pytest.param([GOOD[0] | {"score": 1}], "bad_json", "$[0].score", id="an unknown key"),
    pytest.param([{"image_id": "a", "boxes": []}], "bad_json", "$[0].sentence_id", id="a missing key"),
    pytest.param([entry("a", 0, [], [[1, 2, 3]]), GOOD[1]], "bad_json", "$[0].boxes[1][0]", id="three coordinates"),
    pytest.param([entry("a", 0, [], [[1, 2, 3, "4"]]), GOOD[1]], "bad_json", "$[0].boxes[1][0][3]", id="a string"),
    pytest.param([entry("a", 0, [], [[1, 2, 3, None]]), GOOD[1]], "bad_json", "$[0].boxes[1][0][3]", id="null"),
    pytest.param([entry("a", 0, [], [[1, 2, 3, False]]), GOOD[1]], "bad_json", "$[0].boxes[1][0][3]", id="false"),
    pytest.param([entry("a", 0, [], [5]), GOOD[1]], "bad_json", "$[0].boxes[1][0]", id="a number instead of a box"),
    pytest.param([entry("a", 0, [], 5), GOOD[1]], "bad_json", "$[0].boxes[1]", id="a number instead of a list"),
    pytest.param(json.dumps([entry("a", 0, [], [[1, 2, 3, 7.25]]), GOOD[1]]).replace("7.25", "NaN"), "not_finite",
                 "$[0].boxes[1][0][3]", id="NaN"),
    pytest.param([entry("a", 0, [], [[1, 2, 3, 10**400]]), GOOD[1]], "not_finite", "$[0].boxes[1][0][3]", id="huge"),
    pytest.param([entry("a", 0, []), GOOD[1]], "bad_json", "$[0].boxes", id="a missing list"),
    pytest.param([GOOD[0]], "missing_image", "$", id="a missing sentence"),
    pytest.param([*GOOD, GOOD[0]], "duplicate_image", "$[2]", id="a repeated sentence"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "code", "path"), DEFECTS)
def test_a_defect_is_reported_with_its_path(tmp_path: Path, value: Any, code: str, path: str | None) -> None:
    first = checked(tmp_path, value).errors[0]
    assert (first.code, first.column) == (code, path)


@pytest.mark.parametrize("spelled", ["\\u0000", "\\ud800", "x" * 3000])
def test_defects_with_unusual_ids_can_be_stored(tmp_path: Path, spelled: str) -> None:
    value = f'[{{"image_id": "{spelled}", "sentence_id": 0, "boxes": [], "{spelled}": 1}}]'
    found = [*checked(tmp_path, value).errors, *checked(tmp_path, value.replace(f', "{spelled}": 1', "")).errors]
    for problem in found:
        for told in (problem.message, problem.column or "", problem.image or ""):
            assert "\0" not in told.encode().decode()
            assert len(told) <= 256


def test_an_integer_with_too_many_digits_is_reported_as_such(tmp_path: Path) -> None:
    (problem,) = checked(tmp_path, f"[{'1' * 5000}]").errors
    assert (problem.code, problem.message) == ("bad_json", "an integer has more than 4,300 digits")


def test_invalid_json_is_reported_with_its_line(tmp_path: Path) -> None:
    assert checked(tmp_path, '[\n{"image_id": x}]').errors[0].line == 2


def test_every_defect_of_boxes_and_sentences_is_reported_at_once(tmp_path: Path) -> None:
    found = checked(tmp_path, [entry("a", 0, [[1, 2, 3, "x"]], [[1, 2]])])
    assert found.counts == {"bad_json": 2, "missing_image": 1}


def test_sentences_that_are_not_evaluated_are_counted_in_a_notice(tmp_path: Path) -> None:
    findings = checked(tmp_path, [*GOOD, entry("a", 4, [ALL]), entry("z", 0)])
    assert (findings.errors, [(n.code, n.count) for n in findings.notices][:1]) == ([], [("unknown_sentence", 2)])


def test_an_image_that_is_not_listed_is_a_defect(tmp_path: Path) -> None:
    findings = checked(tmp_path, [*GOOD, entry("a", 4, [ALL]), entry("z", 0)], images="ImageID\na\nb\n")
    assert [(p.code, p.column, p.image) for p in findings.errors] == [("unknown_image", "$[3]", "z")]


def test_without_a_truth_only_the_file_format_is_checked(tmp_path: Path) -> None:
    assert check(TRACK, submission(tmp_path, [entry("anything", 7, [])])).errors == []


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    path = submission(tmp_path, GOOD)
    assert [p.code for p in check(TRACK, path, resources=Resources(limits=Limits(json_bytes=10))).errors] == [
        "too_large"
    ]
    path = submission(tmp_path, [entry("a", 0, [ALL] * 3)])
    assert [p.code for p in check(TRACK, path, resources=Resources(limits=Limits(boxes=2))).errors] == ["too_many_rows"]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ("{", "truth_bad_value"),
        ('{"a": 1, "a": 1}', "truth_bad_value"),
        ([], "truth_bad_value"),
        (PHRASES[0] | {"image_id": 7}, "truth_bad_value"),
        (PHRASES[0] | {"types": [7]}, "truth_bad_value"),
        (PHRASES[0] | {"boxes": []}, "truth_bad_value"),
        (PHRASES[0] | {"boxes": [[1, 2, 3]]}, "truth_bad_value"),
        (PHRASES[0] | {"boxes": [[5, 0, 1, 1]]}, "truth_inverted_box"),
        (PHRASES[1], "truth_bad_value"),  # A phrase may not occur twice in phrases.jsonl.
    ],
)
def test_a_faulty_phrase_is_reported_with_its_line(tmp_path: Path, wrong: Any, code: str) -> None:
    with pytest.raises(InvalidTruth) as caught:
        prepare(TRACK, truth(tmp_path, [*PHRASES[1:], wrong]), tmp_path / "t.podium")
    assert [(p.code, p.file, p.line) for p in caught.value.problems] == [(code, "phrases.jsonl", 3)]


def published(tmp_path: Path, sentences: str, annotation: str) -> Path:
    folder = tmp_path / "published"
    for name, text in {"split.txt": "a\n", "Sentences/a.txt": sentences, "Annotations/a.xml": annotation}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def thing(*names: str) -> str:
    box = "<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>11</xmax><ymax>11</ymax></bndbox>"
    return "<object>" + "".join(f"<name>{name}</name>" for name in names) + box + "</object>"


def test_the_published_files_can_be_used_as_a_truth(tmp_path: Path) -> None:
    text = (
        "[/EN#1/people A man] in [/EN#0/notvisual the end] on [/EN#2/scene a road] .\nnobody\n[/EN#3/people/scene Two]"
    )
    annotation = "<annotation>" + thing("1", "3") + thing("3") + "<object><name>2</name><scene>1</scene></object>"
    prepare(TRACK, published(tmp_path, text, annotation + "</annotation>"), tmp_path / "t.podium")
    found = Truth.load(tmp_path / "t.podium")
    assert list(found.texts["sentences"]) == ["a#0", "a#2"]
    assert found.arrays["boxes"].tolist() == [[0.0, 10.0, 0.0, 10.0]] * 3
    assert found.arrays["boxes_from"].tolist() == [0, 1, 3]
    assert found.arrays["types"].tolist() == [[1, 0], [1, 1]]


@pytest.mark.parametrize("missing", ["Sentences/a.txt", "Annotations/a.xml", "split.txt"])
def test_a_missing_published_file_is_a_fault(tmp_path: Path, missing: str) -> None:
    folder = published(tmp_path, "[/EN#1/people A man]", f"<annotation>{thing('1')}</annotation>")
    (folder / missing).unlink()
    with pytest.raises(InvalidTruth) as caught:
        prepare(TRACK, folder, tmp_path / "t.podium")
    # A folder without the image list or without any sentence matches neither of the two ground truth formats.
    assert caught.value.problems[0].code == "truth_missing_file"


@pytest.mark.parametrize("box_rule", ["any", "merged"])
def test_long_and_short_lists_give_the_same_result(box_rule: str, tmp_path: Path) -> None:
    """Lists of more than ``CROWD`` predicted boxes are scored by different code than shorter lists."""
    found = [ALL if box_rule == "merged" else RIGHT]
    long = scored(tmp_path, [[90, 90, 99, 99]] * CROWD + found, [], [], box_rule=box_rule)
    short = scored(tmp_path, found, [], [], box_rule=box_rule)
    assert long.metrics["upper_bound"] == short.metrics["upper_bound"]
    assert (long.metrics["recall@1"], short.metrics["recall@1"]) == (0.0, 1 / 3)


@pytest.mark.parametrize("boxes", [[LEFT], [LEFT, RIGHT], [LEFT, RIGHT, ALL, FAR]])
def test_the_work_for_a_long_list_does_not_depend_on_the_number_of_boxes(
    boxes: list[list[int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs: list[int] = []
    original = scorer.intersection_over_union

    def counted(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> NDArray[np.float64]:
        pairs.append(len(ours))
        return original(ours, theirs)

    monkeypatch.setattr(scorer, "intersection_over_union", counted)
    phrases = [phrase("a", 0, 0, ["people"], *boxes)]
    path = submission(tmp_path, [entry("a", 0, [LEFT] * 5_000)])
    score(ScoringRequest(TRACK, truth(tmp_path, phrases), path, parameters={"box_rule": "any"}))
    assert sum(pairs) == 0
