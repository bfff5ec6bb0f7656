"""The fast path of relationships gives the same answers as the reference implementation, to the last bit."""

import random
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.request import Resources
from tests.evaluator.kernels import cases

TRACK = "openimages-relationships"
PARAMETERS: list[dict[str, Any]] = [{}, {"iou_threshold": 0.3}, {"weights": (0.2, 0.3, 0.5)}]


def draw(seed: int, folder: Path) -> tuple[random.Random, Path, Path]:
    chance = random.Random(seed)
    submission = folder / "submission.csv"
    submission.write_bytes(cases.pair_file(chance))
    return chance, cases.pair_truth(chance, Path(mkdtemp(dir=folder)) / "truth"), submission


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
    assert ways.count("fast path") > 25


def test_some_drawn_files_have_true_positives(tmp_path: Path) -> None:
    scores = []
    for seed in range(60):
        _, truth, submission = draw(seed, tmp_path)
        way, report = cases.answer(TRACK, truth, submission)
        scores.append(report["splits"]["all"]["metrics"]["score"] if way == "fast path" else None)
    assert sum(bool(score) for score in scores) > 5


@pytest.mark.parametrize("shape", ["kaggle", "long"])
def test_any_number_of_threads_gives_the_same_report(tmp_path: Path, shape: str) -> None:
    """The file has many blocks, and the rows of an image are distributed over all of them."""
    chance = random.Random(6)
    truth = ["ImageID,LabelName1,LabelName2,RelationshipLabel,XMin1,XMax1,YMin1,YMax1,XMin2,XMax2,YMin2,YMax2"]
    rows: dict[str, list[list[str]]] = {}
    for image in (f"image{number}" for number in range(500)):
        for _ in range(60):
            labels = [chance.choice(["cat", "dog"]), "mat", chance.choice(["on", "under"])]
            edges = [*cases.box(chance), *cases.box(chance)]
            x1, y1, xx1, yy1, x2, y2, xx2, yy2 = edges
            sound = all(float(low) <= float(high) for low, high in ((x1, xx1), (y1, yy1), (x2, xx2), (y2, yy2)))
            if sound and chance.random() < 0.1:
                truth.append(",".join([image, *labels, x1, xx1, y1, yy1, x2, xx2, y2, yy2]))
            row = [image, *labels, chance.choice(cases.CONFIDENCES), *edges]
            rows.setdefault(image, []).extend([row, [*row[:4], chance.choice(cases.CONFIDENCES), *row[5:]]])
    folder = tmp_path / "truth"
    folder.mkdir()
    (folder / "relationships.csv").write_text("\n".join(truth))
    if shape == "long":
        lines = [",".join(row) for found in rows.values() for row in found]
        chance.shuffle(lines)
        lines.insert(0, ",".join(cases.PAIR))
    else:
        strings = {i: " ".join(row[column] for row in found for column in cases.TOKENS) for i, found in rows.items()}
        lines = ["ImageId,PredictionString", *(f"{image},{text}" for image, text in strings.items())]
    submission = tmp_path / "submission.csv"
    submission.write_text("\n".join(lines))
    assert submission.stat().st_size > 3 << 19
    way, fast, reference = cases.both(TRACK, folder, submission, resources=Resources(threads=1))
    assert (way, fast) == ("fast path", reference)
    for threads in (2, 3, 5):
        assert cases.answer(TRACK, folder, submission, resources=Resources(threads=threads)) == ("fast path", fast)
