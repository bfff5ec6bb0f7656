"""The results of a track's fast path (compiled kernels) are bit-identical to those of its reference implementation."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.catalog import TRACKS
from evaluator.request import ReportOptions, Resources
from tests.evaluator.kernels import cases

PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "openimages-detection": [
        {},
        {"group_of_weight": 0.0},
        {"group_of_weight": 0.3},
        {"iou_threshold": 0.3},
        {"expand_predictions": True},
        {"expand_predictions": True, "expand_hierarchy": False},
        {"require_all_images": True},
        {"protocol": "fiftyone"},
        {"protocol": "fiftyone", "iou_threshold": 0.3},
        {"protocol": "fiftyone", "iou_threshold": 1.0},
        {"protocol": "fiftyone", "expand_predictions": True},
        {"protocol": "fiftyone", "classwise": False},
    ],
    "openimages-relationships": [{}, {"iou_threshold": 0.3}, {"weights": (0.2, 0.3, 0.5)}],
    "openimages-classification": [{}],
}
EXPLAINED = ReportOptions(explanation=True, curves=True, matches=True)
DRAWN_FILES = 120
EXAMPLES = settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)
every_track = pytest.mark.parametrize("track", cases.FILES)


def draw(track: str, seed: int, folder: Path) -> tuple[random.Random, Path, Path]:
    chance = random.Random(seed)
    submission = folder / "submission.csv"
    submission.write_bytes(cases.FILES[track](chance))
    return chance, cases.TRUTHS[track](chance, Path(mkdtemp(dir=folder)) / "truth"), submission


def test_every_fast_path_is_compared() -> None:
    assert set(PARAMETERS) == set(cases.FILES) == {name for name, track in TRACKS.items() if track.modules.fast_path}


@every_track
@EXAMPLES
@given(seed=st.integers(0, 2**48), chosen=st.integers(0, 2**16), threads=st.sampled_from([1, 1, 2, 3]))
def test_both_implementations_give_equal_results_for_undamaged_files(
    track: str, seed: int, chosen: int, threads: int, tmp_path: Path
) -> None:
    _, truth, submission = draw(track, seed, tmp_path)
    parameters = PARAMETERS[track][chosen % len(PARAMETERS[track])]
    resources = Resources(threads=threads)
    _, fast, reference = cases.both(track, truth, submission, parameters=parameters, resources=resources)
    assert fast == reference


@every_track
@EXAMPLES
@given(seed=st.integers(0, 2**48), chosen=st.integers(0, 2**16), threads=st.sampled_from([1, 2]))
def test_both_implementations_give_equal_explanations(
    track: str, seed: int, chosen: int, threads: int, tmp_path: Path
) -> None:
    _, truth, submission = draw(track, seed, tmp_path)
    parameters = PARAMETERS[track][chosen % len(PARAMETERS[track])]
    options = {"parameters": parameters, "resources": Resources(threads=threads), "report": EXPLAINED}
    _, fast, reference = cases.both(track, truth, submission, **options)
    assert fast == reference


@every_track
@EXAMPLES
@given(seed=st.integers(0, 2**48))
def test_both_implementations_give_equal_results_for_damaged_files(track: str, seed: int, tmp_path: Path) -> None:
    chance, truth, submission = draw(track, seed, tmp_path)
    submission.write_bytes(cases.mutated(chance, submission.read_bytes()))
    _, fast, reference = cases.both(track, truth, submission)
    assert fast == reference


@pytest.mark.parametrize(
    ("track", "enough"),
    [("openimages-detection", 60), ("openimages-relationships", 50), ("openimages-classification", 60)],
)
def test_many_random_files_are_scored_by_the_fast_path_and_some_have_hits(
    track: str, enough: int, tmp_path: Path
) -> None:
    """Without such files, the other tests would compare the reference implementation with itself, or scores of 0."""
    scores = []
    for seed in range(DRAWN_FILES):
        _, truth, submission = draw(track, seed, tmp_path)
        way, report = cases.answer(track, truth, submission)
        if way == "fast path":
            scores.append(report["splits"]["all"]["metrics"][TRACKS[track].headline])
    assert len(scores) > enough
    assert sum(bool(score) for score in scores) > 5


@dataclass(frozen=True)
class Large:
    """A ground truth, and the rows of a submission that is large enough to be read in many blocks.

    The first column of ``rows`` is the image. ``tokens`` are the indices of the other columns, in the order in which a
    prediction string contains them.
    """

    truth: dict[str, str]
    header: list[str]
    rows: list[list[str]]
    tokens: list[int]

    def content(self, shape: str, chance: random.Random) -> str:
        if shape == "long":
            rows = [self.header, *chance.sample(self.rows, len(self.rows))]
            return "\n".join(",".join(row) for row in rows)
        strings: dict[str, list[str]] = {}
        for row in self.rows:
            strings.setdefault(row[0], []).extend(row[column] for column in self.tokens)
        return "\n".join(["ImageId,PredictionString", *(f"{image},{' '.join(strings[image])}" for image in strings)])


def many_boxes(chance: random.Random, confidences: list[str] = cases.CONFIDENCES) -> Large:
    header = ["ImageID", "LabelName", "Score", "XMin", "YMin", "XMax", "YMax"]
    boxes, rows = ["ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf"], []
    for image in (f"image{number}" for number in range(2_500)):
        for _ in range(3):
            x, y = (sorted(chance.choices(cases.EDGES, k=2), key=float) for _ in range(2))
            label = chance.choice(["cat", "dog"])
            boxes.append(f"{image},{label},{x[0]},{x[1]},{y[0]},{y[1]},{int(chance.random() < 0.2)}")
            rows += [[image, label, chance.choice(confidences), x[0], y[0], x[1], y[1]] for _ in range(12)]
    tree = {"LabelName": "root", "Subcategory": [{"LabelName": "dog", "Subcategory": [{"LabelName": "cat"}]}]}
    truth = {"boxes.csv": "\n".join(boxes), "image_labels.csv": "ImageID,LabelName,Confidence\n"}
    truth["hierarchy.json"] = json.dumps(tree)
    return Large(truth, header, rows, [1, 2, 3, 4, 5, 6])


def boxes_with_negative_confidences(chance: random.Random) -> Large:
    return many_boxes(chance, [*cases.CONFIDENCES, *cases.NEGATIVE])


def labelled_boxes(chance: random.Random) -> Large:
    """Return a case like :func:`many_boxes`, with negative confidences and the image labels that FiftyOne requires."""
    large = boxes_with_negative_confidences(chance)
    labels = [
        f"image{number},{label},1" for number in range(2_500) for label in ("cat", "dog") if chance.random() < 0.9
    ]
    truth = {"image_labels.csv": "\n".join(["ImageID,LabelName,Confidence", *labels])}
    return replace(large, truth=large.truth | truth)


def many_pairs(chance: random.Random) -> Large:
    triplets = ["ImageID,LabelName1,LabelName2,RelationshipLabel,XMin1,XMax1,YMin1,YMax1,XMin2,XMax2,YMin2,YMax2"]
    rows = []
    for image in (f"image{number}" for number in range(500)):
        for _ in range(60):
            labels = [chance.choice(["cat", "dog"]), "mat", chance.choice(["on", "under"])]
            edges = [*cases.box(chance), *cases.box(chance)]
            x1, y1, xx1, yy1, x2, y2, xx2, yy2 = edges
            sound = all(float(low) <= float(high) for low, high in ((x1, xx1), (y1, yy1), (x2, xx2), (y2, yy2)))
            if sound and chance.random() < 0.1:
                triplets.append(",".join([image, *labels, x1, xx1, y1, yy1, x2, xx2, y2, yy2]))
            rows += [[image, *labels, chance.choice(cases.CONFIDENCES), *edges] for _ in range(2)]
    return Large({"relationships.csv": "\n".join(triplets)}, cases.PAIR, rows, cases.TOKENS)


def many_labels(chance: random.Random, confidences: list[str] = cases.CONFIDENCES) -> Large:
    labels, rows = ["ImageID,LabelName,Confidence"], []
    for image in (f"image{number}" for number in range(2_500)):
        verified = chance.sample(cases.LABELS, 2)
        labels += [f"{image},{label},{chance.randint(0, 1)}" for label in verified]
        rows += [[image, chance.choice(cases.LABELS[:3]), chance.choice(confidences)] for _ in range(50)]
    return Large({"image_labels.csv": "\n".join(labels)}, ["ImageID", "LabelName", "Score"], rows, [1, 2])


def labels_with_negative_confidences(chance: random.Random) -> Large:
    return many_labels(chance, [*cases.CONFIDENCES, *cases.NEGATIVE])


@pytest.mark.parametrize("shape", ["kaggle", "long"])
@pytest.mark.parametrize(
    ("track", "made", "report", "parameters"),
    [
        ("openimages-detection", many_boxes, ReportOptions(), {}),
        ("openimages-detection", many_boxes, EXPLAINED, {}),
        ("openimages-detection", many_boxes, ReportOptions(), {"group_of_weight": 0.3}),
        ("openimages-detection", many_boxes, ReportOptions(), {"expand_predictions": True}),
        ("openimages-detection", many_boxes, EXPLAINED, {"expand_predictions": True}),
        ("openimages-detection", boxes_with_negative_confidences, ReportOptions(), {}),
        ("openimages-detection", boxes_with_negative_confidences, EXPLAINED, {}),
        ("openimages-detection", labelled_boxes, ReportOptions(curves=True), {"protocol": "fiftyone"}),
        ("openimages-detection", labelled_boxes, ReportOptions(), {"protocol": "fiftyone", "expand_predictions": True}),
        ("openimages-detection", labelled_boxes, EXPLAINED, {"protocol": "fiftyone", "expand_predictions": True}),
        ("openimages-relationships", many_pairs, ReportOptions(), {}),
        ("openimages-relationships", many_pairs, EXPLAINED, {}),
        ("openimages-classification", many_labels, ReportOptions(), {}),
        ("openimages-classification", many_labels, EXPLAINED, {}),
        ("openimages-classification", labels_with_negative_confidences, EXPLAINED, {}),
    ],
    ids=[
        *("detection", "explained", "partial weights", "expanded", "expanded and explained"),
        *("negative", "negative and explained", "FiftyOne", "FiftyOne, expanded", "FiftyOne, explained"),
        *("relationships", "explained relationships"),
        *("labels", "explained labels", "negative and explained labels"),
    ],
)
def test_any_number_of_threads_gives_the_same_report(
    track: str,
    made: Callable[[random.Random], Large],
    report: ReportOptions,
    parameters: dict[str, Any],
    shape: str,
    tmp_path: Path,
) -> None:
    """The file has many blocks. In the long layout, the rows of each image are in many different blocks."""
    large = made(chance := random.Random(5))
    folder, submission = tmp_path / "truth", tmp_path / "submission.csv"
    folder.mkdir()
    for name, text in large.truth.items():
        (folder / name).write_text(text)
    submission.write_text(large.content(shape, chance))
    assert submission.stat().st_size > 3 << 19
    options: dict[str, Any] = {"report": report, "parameters": parameters}
    way, fast, reference = cases.both(track, folder, submission, **options)
    assert (way, fast) == ("fast path", reference)
    for threads in (2, 3, 7):
        answer = cases.answer(track, folder, submission, **options, resources=Resources(threads=threads))
        assert answer == ("fast path", fast)
