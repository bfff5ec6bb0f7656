"""From the response to a submission, participants learn nothing about the ground truth apart from the scores."""

import random
from pathlib import Path
from typing import Any

import pytest

from evaluator.catalog import Limits
from evaluator.problems import InvalidSubmission
from evaluator.request import Resources, ScoringRequest
from evaluator.scoring import score
from tests.evaluator.kernels import cases, overfull, private_facts

FILES = 200
TRUTHS_A_FILE = 2
# Names of changes to a ground truth that do not affect any score.
WITHOUT_EFFECT = {"the only label of a class", "an opposite label"}
PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "openimages-detection": [
        *[{}] * 6,
        {"require_all_images": True},
        {"group_of_weight": 0.0},
        {"group_of_weight": 0.3},
        {"expand_predictions": True},
        {"protocol": "fiftyone"},
        {"protocol": "fiftyone", "classwise": False},
    ],
    "openimages-relationships": [{}],
    "openimages-classification": [{}],
}


def visible_answer(
    track: str, truth: Path, submission: Path, parameters: dict[str, Any], limits: Limits
) -> dict[str, Any]:
    """Return everything that a participant sees when a file is scored, except the scores."""
    steps: list[tuple[str, float]] = []
    resources = Resources(limits, progress=lambda *step: steps.append(step))
    try:
        report = score(ScoringRequest(track, truth, submission, parameters=parameters, resources=resources))
    except InvalidSubmission as error:
        return {"refused": error.findings.as_dict(), "steps": steps}
    return {"way": report.way, "notices": report.as_dict()["notices"], "steps": steps}


@pytest.mark.parametrize(
    ("track", "listed_by"), [(track, way) for track, ways in private_facts.LISTED_BY.items() for way in ways]
)
def test_results_other_than_scores_do_not_depend_on_any_fact_of_the_truth(
    track: str, listed_by: str, tmp_path: Path
) -> None:
    truths = list(private_facts.neighbours(track, listed_by, tmp_path / "truths"))
    submission, ways = tmp_path / "submission.csv", []
    for seed in range(FILES // len(private_facts.LISTED_BY[track]) + 1):
        chance = random.Random(f"{listed_by} {seed}")
        submission.write_bytes(private_facts.file(track, chance))
        parameters = chance.choice(PARAMETERS[track])
        limits = Limits(boxes=chance.choice([50, 50_000])) if chance.random() < 0.1 else Limits()
        answers = {
            truth.name: visible_answer(track, truth, submission, parameters, limits)
            for truth in [truths[0], *chance.sample(truths[1:], TRUTHS_A_FILE)]
        }
        first = answers["as it is"]
        assert [name for name, answer in answers.items() if answer != first] == [], f"seed {seed}: {answers}"
        ways.append(first.get("way", "refused"))
    assert ways.count("fast path") > len(ways) / 5
    assert sum(way.startswith("reference") for way in ways) > 0
    assert ways.count("refused") > 5


@pytest.mark.parametrize("count", [10_000, 10_001])
@pytest.mark.parametrize("listed_by", private_facts.LISTED_BY["openimages-detection"])
def test_the_cap_reveals_nothing_about_any_class_of_any_image(listed_by: str, count: int, tmp_path: Path) -> None:
    """The submission has 10,000 or 10,001 boxes of a class in an image. At most 10,000 of them can be scored."""
    track, submission = "openimages-detection", tmp_path / "submission.csv"
    truths = list(private_facts.neighbours(track, listed_by, tmp_path / "truths"))
    for image in private_facts.IMAGES[:2]:
        for label in private_facts.LABELS:
            rows = [[image, label, "0.5", *cases.FEW_BOXES[index % 4]] for index in range(count)]
            submission.write_text(overfull.file(random.Random(1), rows, "kaggle"))
            answers = [visible_answer(track, truth, submission, {}, Limits()) for truth in truths]
            assert answers[0]["way"] == "fast path"
            assert answers == [answers[0]] * len(truths)


@pytest.mark.parametrize("track", private_facts.FACTS)
def test_every_fact_changes_the_scores_of_some_file(track: str, tmp_path: Path) -> None:
    """The other tests check that participants cannot see that a secret line of the ground truth was changed.

    These tests would prove nothing if such a change did not affect any score.
    """
    truths = list(private_facts.neighbours(track, private_facts.LISTED_BY[track][1], tmp_path / "truths"))
    unseen, submission = {truth.name for truth in truths[1:]}, tmp_path / "submission.csv"
    for seed in range(200):
        submission.write_bytes(private_facts.file(track, random.Random(f"scores {seed}")))
        try:
            splits = {
                truth.name: score(ScoringRequest(track, truth, submission)).as_dict()["splits"] for truth in truths
            }
        except InvalidSubmission:
            continue
        unseen -= {name for name in unseen if splits[name] != splits["as it is"]}
        if unseen <= WITHOUT_EFFECT:
            break
    assert unseen <= WITHOUT_EFFECT


def test_notices_that_depend_on_annotations_are_only_for_the_organizer(tmp_path: Path) -> None:
    """The command line prints notices that depend on annotations. The server neither stores them nor shows them."""
    truth = private_facts.written("openimages-detection", "open", tmp_path / "truth")
    submission = tmp_path / "submission.csv"
    submission.write_text("ImageID,LabelName,Score,XMin,XMax,YMin,YMax\none,yak,0.5,0,1,0,1\n")
    report = score(ScoringRequest("openimages-detection", truth, submission))
    assert report.as_dict()["notices"] == []
    assert [(n["code"], n["count"]) for n in report.for_organizer().as_dict()["notices"]] == [("unknown_label", 1)]


def test_labels_outside_the_hierarchy_are_counted_as_unknown(tmp_path: Path) -> None:
    """The submission has a label that occurs only in image_labels.csv, and one that occurs nowhere.

    Neither is in a public list, and labels are not expanded to ancestors, so both count as unknown.
    """
    truth = private_facts.written("openimages-detection", "hierarchy", tmp_path / "truth")
    with (truth / "image_labels.csv").open("a") as labels:
        labels.write("one,yak,1\n")
    submission = tmp_path / "submission.csv"
    submission.write_text("ImageID,LabelName,Score,XMin,XMax,YMin,YMax\none,yak,0.5,0,1,0,1\none,gnu,0.5,0,1,0,1\n")
    parameters = {"expand_hierarchy": False}
    way, fast, reference = cases.both("openimages-detection", truth, submission, parameters=parameters)
    assert (way, fast) == ("fast path", reference)
    report = score(ScoringRequest("openimages-detection", truth, submission, parameters=parameters))
    assert [(n.code, n.count) for n in report.notices] == [("unknown_label", 2)]
