"""In every track, changing one ground truth annotation changes no output for participants, except for scores."""

import json
import random
from collections.abc import Callable
from itertools import product
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from evaluator.catalog import TRACKS
from evaluator.problems import InvalidSubmission
from evaluator.request import Resources, ScoringRequest
from evaluator.scoring import score, write_kit
from evaluator.synthesis import synthesize

Fact = Callable[[Path], None]
DAMAGED = 12
LISTS = ("classes.csv", "hierarchy.json")
PIECES = [b"-0.5", b"nan", b"1e400", b"x", b"", b'"', b"\n\n", b"\0", b"-1", b"9", b"/m/yak", b"\xff", b"{", b"]"]
WITH_LABELS = ("openimages-detection", "openimages-segmentation", "openimages-classification")


def line(file: str, change: Callable[[str], str]) -> Fact:
    """Return a function that applies ``change`` to the first line below the header of a ground truth file."""

    def apply(folder: Path) -> None:
        header, first, *others = (folder / file).read_text().splitlines()
        (folder / file).write_text("\n".join([header, change(first), *others]) + "\n")

    return apply


def another(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.removesuffix(old) + new if text.endswith(old) else text.removesuffix(new) + old


def document(file: str, change: Callable[[Any], None]) -> Fact:
    def apply(folder: Path) -> None:
        content = json.loads((folder / file).read_text())
        change(content)
        (folder / file).write_text(json.dumps(content))

    return apply


def moved(text: str) -> str:
    phrase = json.loads(text)
    phrase["boxes"] = [[1, 1, 20, 20]]
    return json.dumps(phrase)


def phrase_moved(folder: Path) -> None:
    first, *others = (folder / "phrases.jsonl").read_text().splitlines()
    (folder / "phrases.jsonl").write_text("\n".join([moved(first), *others]) + "\n")


def captions_swapped(gallery: Any) -> None:
    one, other = gallery["captions"][0], gallery["captions"][-1]
    one["image_id"], other["image_id"] = other["image_id"], one["image_id"]


def answer_changed(answers: Any) -> None:
    first = next(iter(answers))
    answers[first] = 4 if answers[first] != 4 else 12


def label_told(label: str) -> Fact:
    return line("image_labels.csv", lambda first: f"{first}\n{first.partition(',')[0]},{label},0")


def of_another_class(*files: str) -> Fact:
    """Return a function that changes the class of the first object in each of the given ground truth files."""

    def apply(folder: Path) -> None:
        for file in files:
            line(file, lambda first: first.replace(first.split(",")[1], "/m/09d5_", 1))(folder)

    return apply


SIGN = {"an opposite label": line("image_labels.csv", another(",1", ",0"))}
FACTS: dict[str, dict[str, Fact]] = {
    "openimages-detection": SIGN
    | {"an object of a different class": of_another_class("boxes.csv")}
    | {"one more label": label_told("/m/09d5_"), "a group": line("boxes.csv", another(",0", ",1"))},
    "openimages-relationships": {"a moved triplet": line("relationships.csv", another("0", "1"))},
    "openimages-segmentation": SIGN
    | {"an object of a different class": of_another_class("boxes.csv", "masks.csv")}
    | {"one more label": label_told("/m/09d5_")},
    "openimages-classification": SIGN | {"one more label": label_told("/m/09d5_")},
    "flickr30k-grounding": {"a moved phrase": phrase_moved},
    "flickr30k-retrieval": {"swapped captions": document("gallery.json", captions_swapped)},
    "objectnet": {"a different answer": document("answers.json", answer_changed)},
}


PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "openimages-detection": [
        {},
        {"protocol": "fiftyone"},
        {"protocol": "fiftyone", "classwise": False},
        {"expand_predictions": True},
    ],
}


def private(folder: Path) -> None:
    """Change the usage of the first image in the ground truth folder from public to private."""
    line("usage.csv", another(",Public", ",Private"))(folder)


def told(track: str, truth: Path, submission: Path, parameters: dict[str, Any]) -> dict[str, Any]:
    steps: list[tuple[str, float]] = []
    try:
        report = score(
            ScoringRequest(
                track,
                truth,
                submission,
                parameters=parameters,
                resources=Resources(progress=lambda *step: steps.append(step)),
            )
        )
    except InvalidSubmission as error:
        return {"refused": error.findings.as_dict(), "steps": steps}
    return {"way": report.way, "notices": report.as_dict()["notices"], "steps": steps}


def submissions(made: Path, track: str) -> list[Path]:
    """Return the paths of synthesized submissions, of damaged copies, and of copies with an unknown label."""
    sound = sorted((made / "submissions").iterdir())
    files, chance = list(sound), random.Random(track)
    for number in range(DAMAGED):
        content = bytearray(chance.choice(sound).read_bytes())
        for _ in range(chance.choice([1, 1, 2])):
            at = chance.randint(0, len(content))
            content[at : at + chance.choice([0, 1, 3])] = chance.choice(PIECES)
        files.append(made / f"damaged{number}")
        files[-1].write_bytes(content)
    for path in sound:
        files.append(made / f"unknown label in {path.name}")
        files[-1].write_text(path.read_text().replace("/m/0bt9lr", "/m/yak"))
    return files


def kit_of(track: str, truth: Path) -> bytes:
    kit = truth.with_name(f"{truth.name} kit")
    write_kit(track, truth, kit)
    return kit.read_bytes()


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("track", TRACKS)
def test_changing_one_fact_of_the_truth_changes_only_scores(track: str, listed: bool, tmp_path: Path) -> None:
    made = tmp_path / "made"
    synthesize(track, made, images=12, seed=3, qualities=(0.6,))
    truth = made / "truth"
    images = [row.partition(",")[0] for row in (truth / "images.csv").read_text().split()[1:]]
    (truth / "usage.csv").write_text("\n".join(["ImageID,Usage", *(f"{image},Public" for image in images)]) + "\n")
    facts = FACTS[track] | {"a private image": private}
    if not listed:
        for name in LISTS:
            (truth / name).unlink(missing_ok=True)
        if track in WITH_LABELS:
            facts["an unlisted label"] = label_told("/m/yak")
    for name, fact in facts.items():
        copytree(truth, tmp_path / name)
        fact(tmp_path / name)
    assert {kit_of(track, tmp_path / name) for name in facts} == {kit_of(track, truth)}
    ends = set()
    options = PARAMETERS.get(track, [{}])
    for submission, parameters in product(submissions(made, track), options):
        expected = told(track, truth, submission, parameters)
        ends.add("refused" if "refused" in expected else "way")
        assert {name: told(track, tmp_path / name, submission, parameters) for name in facts} == dict.fromkeys(
            facts, expected
        )
    assert ends == {"way", "refused"}
