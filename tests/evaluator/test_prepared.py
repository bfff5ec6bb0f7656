"""Damage to a prepared ground truth is detected before it can change a score."""

import json
import os
import random
from pathlib import Path

import pytest

from evaluator import file_states, prepared
from evaluator.catalog import TRACKS
from evaluator.cli import main
from evaluator.problems import DamagedTruth, PreparedOtherwise
from evaluator.request import Resources, ScoringRequest, TruthOptions
from evaluator.scoring import check, prepare, score
from evaluator.synthesis import synthesize
from evaluator.truth import Truth

DETECTION, FLIPS = "openimages-detection", 200


@pytest.fixture(params=TRACKS)
def made(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path, Path]:
    """Synthesize a challenge. Return the name of its track, its prepared ground truth, and a submission."""
    synthesize(request.param, tmp_path / "made", images=12, qualities=(0.6,))
    prepare(request.param, tmp_path / "made" / "truth", tmp_path / "t.podium")
    return request.param, tmp_path / "t.podium", next((tmp_path / "made" / "submissions").glob("quality-0.60.*"))


@pytest.fixture
def detection(tmp_path: Path) -> Path:
    synthesize(DETECTION, tmp_path / "made", images=12, qualities=())
    prepare(DETECTION, tmp_path / "made" / "truth", tmp_path / "t.podium")
    return tmp_path / "t.podium"


def flip(path: Path, place: int, bit: int = 0) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        (old,) = file.read(1)
        file.seek(place)
        file.write(bytes([old ^ (1 << bit)]))


def flips(size: int, chance: random.Random) -> list[tuple[int, int]]:
    """Return the positions (byte, bit) of bits to flip: one bit in each of the first 60 bytes, and others at random."""
    places = [*range(60), *(chance.randrange(size) for _ in range(FLIPS))]
    return [(place, chance.randrange(8)) for place in places]


def test_a_prepared_truth_names_the_parameters_that_it_depends_on(made: tuple[str, Path, Path]) -> None:
    track = TRACKS[made[0]]
    assert Truth.load(made[1]).parameters == track.shaping(track.resolve({}))


def test_a_truth_prepared_with_other_parameters_is_distinguished_from_invalid_parameters(detection: Path) -> None:
    submission = detection.parent / "none.csv"
    with pytest.raises(PreparedOtherwise, match="expand_hierarchy=True"):
        check(DETECTION, submission, truth=detection, parameters={"expand_hierarchy": False})
    with pytest.raises(PreparedOtherwise, match="not for objectnet"):
        check("objectnet", submission, truth=detection)


def test_complete_verification_detects_every_flipped_bit(made: tuple[str, Path, Path]) -> None:
    track, truth, submission = made
    for place, bit in flips(truth.stat().st_size, random.Random(7)):
        flip(truth, place, bit)
        with pytest.raises(DamagedTruth):
            score(ScoringRequest(track, truth, submission, opening=TruthOptions(verify=True)))
        flip(truth, place, bit)
    score(ScoringRequest(track, truth, submission, opening=TruthOptions(verify=True)))


def test_a_flipped_bit_is_detected_or_does_not_change_the_report(made: tuple[str, Path, Path]) -> None:
    track, truth, submission = made
    expected, noticed = score(ScoringRequest(track, truth, submission)).as_dict(), 0
    for place, bit in flips(truth.stat().st_size, random.Random(8)):
        flip(truth, place, bit)
        try:
            assert score(ScoringRequest(track, truth, submission)).as_dict() == expected
        except DamagedTruth:
            noticed += 1
        flip(truth, place, bit)
    assert noticed > FLIPS / 3


def test_an_undamaged_truth_with_an_unexpected_sha256_is_refused(detection: Path) -> None:
    sha256 = Truth.load(detection).sha256
    assert Truth.load(detection, expected=sha256).sha256 == sha256
    with pytest.raises(DamagedTruth, match="is not the expected truth"):
        Truth.load(detection, expected="0" * 64)


@pytest.mark.parametrize("damage", [slice(0, 0), slice(0, 40), slice(0, 500), slice(0, -128), slice(8, None)])
def test_a_truncated_file_is_detected(detection: Path, damage: slice) -> None:
    detection.write_bytes(detection.read_bytes()[damage])
    with pytest.raises(DamagedTruth):
        Truth.load(detection, whole=True)


def test_a_file_of_the_previous_format_must_be_prepared_again(detection: Path) -> None:
    content = detection.read_bytes()
    detection.write_bytes(b"PODIUM\x00\x04" + content[8:])
    with pytest.raises(DamagedTruth, match="prepare it again"):
        Truth.load(detection)


@pytest.mark.parametrize("place", [0, 7, 20, 50])
def test_the_command_line_reports_a_damaged_file_as_a_fault_of_the_truth(
    detection: Path, tmp_path: Path, place: int, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.csv").write_text("ImageId,PredictionString\n")
    flip(detection, place)
    words = ["score", DETECTION, "--truth", str(detection), "--submission", str(tmp_path / "s.csv"), "--json"]
    assert main(words) == 3
    (error,) = json.loads(capsys.readouterr().out)["errors"]
    assert (error["code"], error["file"]) == ("truth_bad_value", detection.name)
    assert "prepare it again" in error["message"]


def test_a_file_that_is_not_a_prepared_truth_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("ImageId,PredictionString\n")
    with pytest.raises(DamagedTruth):
        check(DETECTION, tmp_path / "s.csv", truth=tmp_path / "s.csv")


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that collects the size in bytes of each input that is hashed with SHA-256."""
    sizes: list[int] = []
    whole = prepared.sha256

    def counting(data: bytes = b"") -> object:
        sizes.append(memoryview(data).nbytes)
        return whole(data)

    monkeypatch.setattr(prepared, "sha256", counting)
    return sizes


def test_a_process_verifies_a_file_again_only_after_a_change(
    detection: Path, hashed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_states, "SETTLED_NS", 0)
    Truth.load(detection, whole=True)
    first, hashed[:] = sum(hashed), []
    Truth.load(detection, whole=True)
    assert sum(hashed) < first / 4  # If an unchanged ground truth file is opened again, only its header is hashed.
    for change in (lambda: os.utime(detection), lambda: detection.write_bytes(detection.read_bytes())):
        hashed.clear()
        change()
        Truth.load(detection, whole=True)
        assert sum(hashed) == first


def test_a_change_right_after_a_verification_is_detected(detection: Path) -> None:
    """File times have a resolution of a few milliseconds, so a file that was just written is always verified again."""
    Truth.load(detection, whole=True)
    flip(detection, detection.stat().st_size // 2)
    with pytest.raises(DamagedTruth):
        Truth.load(detection, whole=True)


def test_by_default_only_the_arrays_that_a_scoring_reads_are_verified(
    detection: Path, tmp_path: Path, hashed: list[int]
) -> None:
    (tmp_path / "s.csv").write_text("ImageId,PredictionString\n")
    score(ScoringRequest(DETECTION, detection, tmp_path / "s.csv", opening=TruthOptions(verify=True)))
    whole, hashed[:] = sum(hashed), []
    score(ScoringRequest(DETECTION, detection, tmp_path / "s.csv"))
    assert sum(hashed) < whole


def test_a_file_changed_during_scoring_gives_no_score(made: tuple[str, Path, Path]) -> None:
    track, truth, submission = made

    def change(stage: str, fraction: float) -> None:
        if stage == "scoring":
            flip(truth, truth.stat().st_size // 2)

    with pytest.raises(DamagedTruth):
        score(ScoringRequest(track, truth, submission, resources=Resources(progress=change)))


def test_a_file_removed_during_scoring_can_still_be_read(made: tuple[str, Path, Path]) -> None:
    track, truth, submission = made
    expected = score(ScoringRequest(track, truth, submission)).as_dict()
    found = score(
        ScoringRequest(
            track,
            truth,
            submission,
            opening=TruthOptions(verify=True),
            resources=Resources(progress=lambda *_: truth.unlink(missing_ok=True)),
        )
    )
    assert found.as_dict() == expected
