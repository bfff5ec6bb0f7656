"""Both implementations explain pairs equally, even if many of them share labels, boxes and confidences."""

import random
from collections import Counter
from pathlib import Path

from evaluator.request import Bootstrap, ReportOptions, Resources
from tests.evaluator.kernels import cases
from tests.fuzz.files import borders

TRACK = "openimages-relationships"
EXPLAINED = ReportOptions(explanation=True, curves=True, matches=True)
CASES = 60
LABELS, RELATIONS = ["cat", "dog", "owl"], ["on", "at", "by"]
# Some boxes overlap each other by less than the IoU threshold, and some by more.
BOXES = ["0,0,0.5,1", "0.5,0,1,1", "0,0,1,1", "0,0,0.8,1", "0,0,0.2,0.5", "0.05,0,0.5,1"]
CONFIDENCES = [["0.5"], ["0.5", "0.9"], ["0", "-0.0", "0.5"], [f"0.{number}" for number in range(1, 100)]]


def triplet(chance: random.Random, images: list[str], labels: list[str], relations: list[str]) -> list[str]:
    return [chance.choice(images), chance.choice(labels), chance.choice(labels), chance.choice(relations)]


def in_truth_order(box: str) -> str:
    x_min, y_min, x_max, y_max = box.split(",")
    return f"{x_min},{x_max},{y_min},{y_max}"


def dense_truth(chance: random.Random, folder: Path, triplets: list[str], images: list[str]) -> Path:
    """Write a ground truth folder. Each optional file is left out with a probability of 1/2."""
    folder.mkdir()
    header = ",".join([*cases.PAIR[:4], *(f"{edge}{n}" for n in (1, 2) for edge in ("XMin", "XMax", "YMin", "YMax"))])
    (folder / "relationships.csv").write_text("\n".join([header, *triplets]) + "\n")
    verified = [f"{i},{label},{chance.randint(0, 1)}" for i in images for label in LABELS if chance.random() < 0.4]
    files = {
        "images.csv": ["ImageID", *images],
        "image_labels.csv": ["ImageID,LabelName,Confidence", *verified],
        "classes.csv": [f"{label},name" for label in [*LABELS, "yak"]],
        "relations.csv": [f"{relation},name of {relation}" for relation in [*RELATIONS, "near"]],
        "usage.csv": ["ImageID,Usage", *(f"{i},{chance.choice(['Public', 'Private', 'Ignored'])}" for i in images)],
    }
    for name, lines in files.items():
        if chance.random() < 0.5:
            (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def dense_case(seed: int, folder: Path) -> tuple[random.Random, Path, Path]:
    """Write a ground truth and a submission. Return them and the random number generator."""
    chance = random.Random(f"dense {seed}")
    boxes, images = chance.sample(BOXES, 4), [f"image{number}" for number in range(chance.randint(1, 6))]
    labels, relations = LABELS[: chance.randint(1, 3)], RELATIONS[: chance.randint(1, 3)]
    triplets = [
        ",".join([*triplet(chance, images, labels, relations), *map(in_truth_order, chance.choices(boxes, k=2))])
        for _ in range(chance.choice([0, 3, 10, 40]))
    ]
    labels, relations = [*labels * 5, "yak"], [*relations, "near"]
    confidences = chance.choice(CONFIDENCES)
    rows = []
    for _ in range(chance.choice([10, 100, 500])):
        named, edges = triplet(chance, images, labels, relations), ",".join(chance.choices(boxes, k=2)).split(",")
        rows.append([*named, chance.choice(confidences), *edges])
    strings: dict[str, list[str]] = {}
    for row in rows:
        strings.setdefault(row[0], []).extend(row[column] for column in cases.TOKENS)
    lines = ["ImageId,PredictionString", *(f"{image},{' '.join(tokens)}" for image, tokens in strings.items())]
    if chance.random() < 0.5:
        lines = [",".join(row) for row in [cases.PAIR, *rows]]
    submission = folder / f"{seed}.csv"
    submission.write_text("\n".join(lines) + "\n")
    return chance, dense_truth(chance, folder / f"truth{seed}", triplets, images), submission


def test_both_implementations_explain_dense_files_equally(tmp_path: Path) -> None:
    """Some files are read in many blocks, so that any thread may read the first of several equal pairs."""
    seen = Counter[str]()
    for seed in range(CASES):
        chance, truth, submission = dense_case(seed, tmp_path)
        parameters = {"iou_threshold": chance.choice([0.05, 0.3, 0.5, 0.8])}
        resources = Resources(threads=chance.choice([1, 2, 3]))
        with borders(chance.choice([1_000, 5_000, 1 << 20]), 4_096, 1 << 20):
            way, fast = cases.answer(
                TRACK, truth, submission, parameters=parameters, resources=resources, report=EXPLAINED
            )
        with cases.reference_implementation():
            _, reference = cases.answer(TRACK, truth, submission, parameters=parameters, report=EXPLAINED)
        assert (seed, way, fast) == (seed, "fast path", reference)
        for row in fast["splits"]["all"]["errors"]:
            seen[row["kind"]] += row["false_positives"]
            seen[f"missed: {row['kind']}"] += row["misses"]
    fixable = {"localization", "relation", "subject", "object"}
    expected = {*fixable, *(f"missed: {kind}" for kind in {*fixable, "missed"}), "duplicate", "several", "background"}
    assert {kind for kind, count in seen.items() if count} == expected


def test_the_order_of_equally_confident_pairs_changes_no_table(tmp_path: Path) -> None:
    """Two pairs with the same boxes and confidence would hit the triplet if their only error were fixed.

    One has a wrong relation, and one has a wrong subject, so the gains depend on which of them hits it.
    """
    folder, boxes = tmp_path / "truth", "0.1,0.4,0.1,0.4,0.5,0.9,0.5,0.9"
    folder.mkdir()
    header = ",".join([*cases.PAIR[:4], *(f"{edge}{n}" for n in (1, 2) for edge in ("XMin", "XMax", "YMin", "YMax"))])
    triplets = [header, f"i,man,dog,holds,{boxes}", f"j,woman,dog,eats,{boxes}", ""]
    (folder / "relationships.csv").write_text("\n".join(triplets))
    (folder / "image_labels.csv").write_text("ImageID,LabelName,Confidence\ni,woman,0\n")
    pairs, found = [f"i,man,dog,eats,{boxes},0.5", f"i,woman,dog,holds,{boxes},0.5"], []
    for number, rows in enumerate([pairs, pairs[::-1]]):
        submission = tmp_path / f"{number}.csv"
        submission.write_text("\n".join([f"{header},Score", *rows, ""]))
        way, fast, reference = cases.both(TRACK, folder, submission, report=ReportOptions(explanation=True))
        assert (way, fast) == ("fast path", reference)
        found.append(fast["splits"]["all"]["errors"])
    assert found[0] == found[1]
    assert [row["kind"] for row in found[0] if row["misses"]] == ["relation", "missed"]


def test_an_explanation_with_intervals_is_computed_by_the_fast_path(tmp_path: Path) -> None:
    _, truth, submission = dense_case(3, tmp_path)
    report = ReportOptions(explanation=True, bootstrap=Bootstrap(20))
    way, fast, reference = cases.both(TRACK, truth, submission, report=report)
    assert (way, fast) == ("fast path", reference)


def test_an_explanation_with_the_rows_of_all_matches_is_computed_by_the_fast_path(tmp_path: Path) -> None:
    _, truth, submission = dense_case(3, tmp_path)
    way, fast, reference = cases.both(TRACK, truth, submission, report=ReportOptions(matches=True))
    assert (way, fast) == ("fast path", reference)
