"""With FiftyOne's rules, the fast path gives the same results as the reference implementation, to the last bit."""

import json
import random
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

from evaluator.kernels import CROWD
from evaluator.kernels.detection import images_in_turn
from evaluator.request import ReportOptions, Resources
from evaluator.tracks.detection.fast import fiftyone_reader
from tests.evaluator.kernels import cases, overfull
from tests.evaluator.options import with_intervals

TRACK = "openimages-detection"
LABELS = cases.LABELS[:3]
CONFIDENCES = ["0.5", "0.5", "0.9", "1", "0", "-0.0", "-0.5", "-1", "-10", "-11"]
# Few distinct boxes, so that many overlaps are equal to each other, to 1 or to a threshold.
EDGES = [f"{low / 4},{high / 4}" for low, high in combinations(range(5), 2)]
REPORTS = [ReportOptions(), ReportOptions(curves=True), with_intervals(20)]


def dense_truth(chance: random.Random, folder: Path) -> Path:
    """Write a ground truth with many boxes in few images. Some of their classes are not in image_labels.csv."""
    folder.mkdir()
    images = cases.IMAGES[: chance.randint(1, 3)]
    boxes = ["ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf"]
    for _ in range(chance.choice([0, 5, 40])):
        edges = f"{chance.choice(EDGES)},{chance.choice(EDGES)}"
        boxes.append(f"{chance.choice(images)},{chance.choice(LABELS)},{edges},{int(chance.random() < 0.3)}")
    labels = [pair for pair in product(cases.IMAGES, LABELS) if chance.random() < 0.7]
    verified = [f"{image},{label},{chance.randint(0, 1)}" for image, label in labels]
    files = {
        "boxes.csv": boxes,
        "image_labels.csv": ["ImageID,LabelName,Confidence", *verified],
        "usage.csv": [
            "ImageID,Usage",
            *(f"{i},{chance.choice(['Public', 'Private', 'Ignored'])}" for i in cases.IMAGES),
        ],
    }
    for name, lines in files.items():
        if name != "usage.csv" or chance.random() < 0.5:
            (folder / name).write_text("\n".join(lines) + "\n")
    if chance.random() < 0.5:
        (folder / "hierarchy.json").write_text(json.dumps(chance.choice([cases.TREE, cases.NET])))
    return folder


def predictions(chance: random.Random) -> overfull.Rows:
    """Return predictions for a few images, some of which are crowded. Many are equal, or equally confident."""
    rows: overfull.Rows = []
    confidences = CONFIDENCES[: chance.choice([1, 4, 6, len(CONFIDENCES)])]
    for image in chance.sample(cases.IMAGES, chance.randint(0, 3)):
        few = [*LABELS[: chance.randint(1, len(LABELS))], *(["/m/yak"] if chance.random() < 0.3 else [])]
        for _ in range(chance.choice([1, 30, CROWD, CROWD + 1, 700])):
            (x_min, x_max), (y_min, y_max) = (chance.choice(EDGES).split(",") for _ in range(2))
            confidence = chance.choice(confidences) if chance.random() < 0.9 else repr(chance.random())
            box = [x_min, y_min, x_max, y_max] if chance.random() < 0.95 else [x_max, y_min, x_min, y_max]
            rows.append([image, chance.choice(few), confidence, *box])
    return rows


@pytest.mark.parametrize("shape", ["kaggle", "long"])
@pytest.mark.parametrize("seed", range(60))
def test_dense_images_are_scored_as_by_the_reference_implementation(seed: int, shape: str, tmp_path: Path) -> None:
    chance = random.Random(seed)
    truth, submission = dense_truth(chance, tmp_path / "truth"), tmp_path / "submission.csv"
    submission.write_text(overfull.file(chance, predictions(chance), shape))
    parameters: dict[str, Any] = {
        "protocol": "fiftyone",
        "iou_threshold": chance.choice([0.5, 0.5, 0.25, 1.0, 1e-9]),
        "expand_predictions": chance.random() < 0.3,
        "expand_hierarchy": chance.random() < 0.8,
    }
    options = {"report": REPORTS[seed % 3], "resources": Resources(threads=1 + seed % 2)}
    way, fast, reference = cases.both(TRACK, truth, submission, parameters=parameters, **options)
    assert way == "fast path"
    assert json.dumps(fast, sort_keys=True) == json.dumps(reference, sort_keys=True)


@pytest.mark.parametrize("shape", ["kaggle", "long"])
def test_the_order_of_rows_does_not_matter(shape: str, tmp_path: Path) -> None:
    chance = random.Random(9)
    truth, submission, answers = dense_truth(chance, tmp_path / "truth"), tmp_path / "submission.csv", []
    rows = [row for _ in range(4) for row in predictions(chance)]
    for _ in range(4):
        chance.shuffle(rows)
        submission.write_text(overfull.file(chance, rows, shape))
        answers.append(cases.answer(TRACK, truth, submission, parameters={"protocol": "fiftyone"}))
    assert answers == [answers[0]] * 4
    assert answers[0][0] == "fast path"
    assert answers[0][1]["splits"]["all"]["metrics"]["mAP"]


@pytest.mark.parametrize("shape", ["kaggle", "long"])
@pytest.mark.parametrize("seed", range(6))
def test_overfull_images_give_the_same_results(seed: int, shape: str, tmp_path: Path) -> None:
    """If an image has more than 10,000 predictions, the reference implementation scores the file."""
    chance = random.Random(seed)
    truth, submission = dense_truth(chance, tmp_path / "truth"), tmp_path / "submission.csv"
    rows = overfull.rows(chance, cases.IMAGES[:2], LABELS[:3])
    submission.write_text(overfull.file(chance, rows, shape))
    most = max([row[0] for row in rows].count(image) for image in cases.IMAGES[:2])
    way, fast, reference = cases.both(TRACK, truth, submission, parameters={"protocol": "fiftyone"})
    assert way.endswith("an image with more than 10,000 predictions" if most > 10_000 else "fast path")
    assert fast == reference


@pytest.mark.parametrize("shape", ["kaggle", "long"])
@pytest.mark.parametrize("crowd", [0, CROWD])
def test_the_entries_of_groups_and_their_predictions_fit_into_the_arrays(
    crowd: int, shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of many group-of boxes is matched by an equal prediction, so each of these boxes becomes a curve entry."""
    truth, submission = tmp_path / "truth", tmp_path / "submission.csv"
    truth.mkdir()
    edges = [f"0,{size / 1000},0,1" for size in range(2, 2 + CROWD)]
    (truth / "boxes.csv").write_text(
        "\n".join(["ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf", *(f"a,cat,{edge},1" for edge in edges)])
    )
    (truth / "image_labels.csv").write_text("ImageID,LabelName,Confidence\na,cat,1\n")
    found = [["a", "cat", "0.5", "0", "0", f"{size / 1000}", "1"] for size in range(2, 2 + CROWD)]
    submission.write_text(
        overfull.file(random.Random(1), found + [["a", "dog", "0.5", "0", "0", "1", "1"]] * crowd, shape)
    )
    used = []

    def checked(*values: Any) -> bool:
        state = values[2]
        done = bool(images_in_turn.match_images(*values))
        used.append((int(state.counts[0]), len(state.codes)))
        return done

    monkeypatch.setattr(fiftyone_reader, "match_images", checked)
    way, fast, reference = cases.both(TRACK, truth, submission, parameters={"protocol": "fiftyone"})
    assert (way, fast) == ("fast path", reference)
    assert all(entries <= room for entries, room in used)
    # A prediction that matches a group-of box has an entry of its own only if the image is crowded.
    assert sum(entries for entries, _ in used) == (2 * CROWD + crowd if crowd else CROWD)
    assert fast["splits"]["all"]["classes"][0]["true_positives"] == CROWD
