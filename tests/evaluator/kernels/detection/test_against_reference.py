"""The fast path of detection gives the same answers as the reference implementation, to the last bit."""

import random
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.request import Resources
from tests.evaluator.kernels import cases

TRACK = "openimages-detection"
PARAMETERS: list[dict[str, Any]] = [
    {},
    {"group_of_weight": 0.0},
    {"group_of_weight": 0.3},
    {"iou_threshold": 0.3},
    {"expand_predictions": True},
    {"require_all_images": True},
    {"protocol": "fiftyone"},
    {"protocol": "fiftyone", "classwise": False},
]


def draw(seed: int, folder: Path) -> tuple[random.Random, Path, Path]:
    chance = random.Random(seed)
    submission = folder / "submission.csv"
    submission.write_bytes(cases.detection_file(chance))
    return chance, cases.truth(chance, Path(mkdtemp(dir=folder)) / "truth"), submission


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**48), parameters=st.sampled_from(PARAMETERS), threads=st.sampled_from([1, 1, 2, 3]))
def test_valid_files_get_equal_answers(seed: int, parameters: dict[str, Any], threads: int, tmp_path: Path) -> None:
    _, truth, submission = draw(seed, tmp_path)
    _, fast, reference = cases.both(
        TRACK, truth, submission, parameters=parameters, resources=Resources(threads=threads)
    )
    assert fast == reference


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**48))
def test_damaged_files_get_equal_answers(seed: int, tmp_path: Path) -> None:
    chance, truth, submission = draw(seed, tmp_path)
    submission.write_bytes(cases.mutated(chance, submission.read_bytes()))
    _, fast, reference = cases.both(TRACK, truth, submission)
    assert fast == reference


def test_most_valid_files_are_scored_by_the_fast_path(tmp_path: Path) -> None:
    """Without this, the reference implementation would mostly be compared with itself."""
    ways = []
    for seed in range(60):
        _, truth, submission = draw(seed, tmp_path)
        ways.append(cases.answer(TRACK, truth, submission)[0])
    assert ways.count("fast path") > 30


TRUTH = {
    "boxes.csv": "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\na,cat,0,0.5,0,0.5,0\nb,cat,0,1,0,1,1\n",
    "image_labels.csv": "ImageID,LabelName,Confidence\na,cat,1\nb,cat,1\n",
}
CAT = "cat 0.5 0 0 0.5 0.5"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    folder = tmp_path / "truth"
    folder.mkdir()
    for name, text in TRUTH.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("rows", "way"),
    [
        ("", "fast path"),
        ("a,", "fast path"),
        (f"a,{CAT}", "fast path"),
        (f"a,{CAT}\r\n", "fast path"),
        (f"a,{CAT}\n\n \n", "fast path"),
        (f"z,{CAT}", "fast path"),
        (f"z,{CAT}\nz,{CAT}", "rejected"),
        (f"a,{CAT}\na,{CAT}", "rejected"),
        (f"a,{CAT} dog 0.5 0 0 1 1", "fast path"),
        (f'"a",{CAT}', "reference implementation: quotes, blank lines or other special syntax"),
        (f"a,{CAT}\rb,{CAT}", "reference implementation: quotes, blank lines or other special syntax"),
        ("a,cat -0.5 0 0 0.5 0.5", "reference implementation: negative confidences"),
        (f"a,{' '.join([CAT] * 10_000)}", "fast path"),
        (f"a,{' '.join([CAT] * 10_001)}", "fast path"),
        (f"a,{' '.join([CAT] * 100_000)}", "fast path"),
        (f"a,{' '.join([CAT.replace('cat', 'dog')] * 100_000)}", "fast path"),
    ],
)
def test_the_way_a_file_is_scored_depends_on_its_form(small: Path, tmp_path: Path, rows: str, way: str) -> None:
    submission = tmp_path / "submission.csv"
    submission.write_text(f"ImageId,PredictionString\n{rows}")
    taken, fast, reference = cases.both(TRACK, small, submission)
    assert taken == way
    assert fast == reference


def test_a_line_longer_than_many_blocks_is_scored_by_the_fast_path(small: Path, tmp_path: Path) -> None:
    submission = tmp_path / "submission.csv"
    long = " ".join([f"dog 0.5 0 0 0.5 0.{number}" for number in range(1, 300_000)])
    submission.write_text(f"ImageId,PredictionString\nb,{CAT}\na,{CAT} {long} {CAT}\nz,{CAT}\n")
    assert submission.stat().st_size > 5 << 20
    taken, fast, reference = cases.both(TRACK, small, submission, resources=Resources(threads=2))
    assert taken == "fast path"
    assert fast == reference


@pytest.mark.parametrize("shape", ["kaggle", "long"])
def test_any_number_of_threads_gives_the_same_report(tmp_path: Path, shape: str) -> None:
    """The file has many blocks, and the rows of an image are distributed over all of them."""
    chance = random.Random(5)
    folder = tmp_path / "truth"
    folder.mkdir()
    images = [f"image{number}" for number in range(2_500)]
    boxes = ["ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf"]
    rows: list[tuple[str, list[str]]] = []
    for image in images:
        for _ in range(3):
            x, y = (sorted(chance.choices(cases.EDGES, k=2), key=float) for _ in range(2))
            label = chance.choice(["cat", "dog"])
            boxes.append(f"{image},{label},{x[0]},{x[1]},{y[0]},{y[1]},{int(chance.random() < 0.2)}")
            for _ in range(12):
                rows.append((image, [label, chance.choice(cases.CONFIDENCES), x[0], y[0], x[1], y[1]]))
    (folder / "boxes.csv").write_text("\n".join(boxes))
    (folder / "image_labels.csv").write_text("ImageID,LabelName,Confidence\n")
    submission = tmp_path / "submission.csv"
    if shape == "long":
        chance.shuffle(rows)
        text = "ImageID,LabelName,Score,XMin,YMin,XMax,YMax\n" + "".join(f"{i},{','.join(p)}\n" for i, p in rows)
    else:
        strings: dict[str, list[str]] = {}
        for image, prediction in rows:
            strings.setdefault(image, []).extend(prediction)
        text = "ImageId,PredictionString\n" + "".join(f"{i},{' '.join(tokens)}\n" for i, tokens in strings.items())
    submission.write_text(text)
    assert submission.stat().st_size > 2 << 20
    answers = [
        cases.answer(TRACK, folder, submission, resources=Resources(threads=threads)) for threads in (1, 2, 3, 7)
    ]
    assert [way for way, _ in answers] == ["fast path"] * 4
    with cases.reference_implementation():
        reference = cases.answer(TRACK, folder, submission)[1]
    assert all(fast == reference for _, fast in answers)
