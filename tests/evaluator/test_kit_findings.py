"""In every track, an offline check with a check kit reports the same defects and notices as the server."""

import random
import re
from pathlib import Path
from typing import Any

import pytest

from evaluator.catalog import TRACKS, Limits
from evaluator.kit import Kit
from evaluator.problems import InvalidSubmission
from evaluator.request import Resources, ScoringRequest
from evaluator.scoring import check_with_kit, load_kernels, prepare, score, template, write_kit
from evaluator.synthesis import synthesize
from tests.fuzz import mutations

FILES = 100  # Number of files to check per track, both with and without public lists of classes, relations and images.
LIMITS = Limits(defects=200, boxes=4_000, images=1_000)
LISTS = ("classes.csv", "hierarchy.json", "relations.csv", "images.csv")
# Each pair is a string in a valid file and its replacement. The replacements produce, for example, names instead of
# ids, coordinates in pixels, and empty or inverted boxes.
REPLACED = [(b"/m/01yrx", b"Cat"), (b" 0.", b" 5"), (b",0.", b",5"), (b" 0.", b" 0 0."), (b",", b";"), (b"0.", b"-0.")]


@pytest.fixture(scope="module", autouse=True)
def kernels() -> None:
    # Small files are scored with compiled kernels only if the kernels are already loaded.
    load_kernels()


VALUE = re.compile(rb'"[^"]*"|-?[0-9]+(\.[0-9]+)?')


def other_value(chance: random.Random, data: bytes) -> bytes:
    """Replace a string or a number in a JSON file with another value."""
    found = list(VALUE.finditer(data))
    value, other = chance.choice(found), chance.choice(found).group()
    other = chance.choice([other, other, b'"unknown"', b"-1", b"0.5", b"null", b"[]"])
    return data[: value.start()] + other + data[value.end() :]


def on_server(request: ScoringRequest) -> dict[str, Any]:
    """Return the defects and notices of a submission as the participant sees them."""
    try:
        report = score(request)
    except InvalidSubmission as error:
        return error.findings.as_dict()
    return {"errors": [], "total": 0, "counts": {}, "notices": report.as_dict()["notices"]}


def damaged(chance: random.Random, sound: list[bytes]) -> bytes:
    content = chance.choice(sound)
    if chance.random() < 0.3:
        content = content.replace(*chance.choice(REPLACED))
    if content[:1] in b"[{" and chance.random() < 0.6:
        return other_value(chance, content)
    if chance.random() < 0.8:
        content = mutations.mutated(chance, content)
    return mutations.zipped(chance, content) if chance.random() < 0.1 else content


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "not listed"])
@pytest.mark.parametrize("track", TRACKS)
def test_a_check_with_a_kit_finds_the_same_defects_as_the_server(track: str, listed: bool, tmp_path: Path) -> None:
    made, truth, kit, submission = (tmp_path / name for name in ("made", "truth", "kit", "submission"))
    synthesize(track, made, images=12, seed=3, qualities=(0.6,))
    if not listed:
        for name in LISTS:
            (made / "truth" / name).unlink(missing_ok=True)
    prepare(track, made / "truth", truth)
    write_kit(track, truth, kit, limits=LIMITS)
    template(track, truth, tmp_path / "template")
    sound = [path.read_bytes() for path in [*sorted((made / "submissions").iterdir()), tmp_path / "template"]]
    chance, opened, ends = random.Random(f"{track} {listed}"), Kit.load(kit), set[str]()
    for number in range(FILES):
        submission.write_bytes(sound[number] if number < len(sound) else damaged(chance, sound))
        request = ScoringRequest(
            track, truth, submission, resources=Resources(LIMITS), rejects_nothing_to_score=number % 2 == 0
        )
        found = check_with_kit(opened, submission, force=not request.rejects_nothing_to_score).as_dict()
        assert found == on_server(request), submission.read_bytes()[:2000]
        ends |= {*found["counts"], *(notice["code"] for notice in found["notices"]), "sound" * (not found["total"])}
    assert {"sound", "nothing_to_score" if TRACKS[track].empty != "base rate" else "no_predictions"} <= ends
    assert len(ends - {""}) >= 5
