"""Checks with a check kit (data for offline checks) use compiled kernels to accept valid files.

If a file has defects, the reference implementation reports all of them.
"""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from evaluator.files.source import Source
from evaluator.kit import Kit
from evaluator.problems import InvalidSubmission
from evaluator.request import ScoringRequest
from evaluator.scoring import check, check_with_kit, score, write_kit
from evaluator.tracks.classification.scorer import ClassificationScorer
from evaluator.tracks.detection.scorer import DetectionScorer
from tests.evaluator.conftest import Tiny
from tests.evaluator.kernels import cases  # Importing `cases` loads the compiled kernels, which fast paths need.

TRACK = "openimages-detection"
assert cases.IMAGES


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return a list that collects the paths of the files that the reference implementation reads."""
    paths: list[Path] = []
    read = DetectionScorer.read

    def noting(scorer: DetectionScorer, source: Source, *words: Any) -> Any:
        paths.append(source.path)
        return read(scorer, source, *words)

    monkeypatch.setattr(DetectionScorer, "read", noting)
    return paths


@pytest.fixture
def kit(tiny: Tiny, tmp_path: Path) -> Kit:
    write_kit(TRACK, tiny.truth, tmp_path / "kit")
    return Kit.load(tmp_path / "kit")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", ["kaggle", "long"])
def test_the_fast_path_checks_a_valid_file_with_a_kit_and_gives_the_notices_of_its_score(
    tiny: Tiny, kit: Kit, read: list[Path], shape: str, threads: int
) -> None:
    found = check_with_kit(kit, getattr(tiny, shape), threads=threads)
    assert (found.total, read) == (0, [])
    assert found.notices == score(ScoringRequest(TRACK, tiny.truth, getattr(tiny, shape))).notices
    assert found.notices


@pytest.mark.parametrize("shape", ["kaggle", "long"])
def test_a_check_with_a_truth_gives_the_notices_of_the_score(tiny: Tiny, shape: str) -> None:
    found = check(TRACK, getattr(tiny, shape), truth=tiny.truth)
    assert found.notices == score(ScoringRequest(TRACK, tiny.truth, getattr(tiny, shape))).notices


@pytest.mark.parametrize("shape", ["kaggle", "long"])
def test_the_fast_path_of_classification_gives_the_notices_of_the_score_with_a_kit(shape: str, tmp_path: Path) -> None:
    """The file has a confidence above 1, and an unknown image."""
    track, truth, submission = "openimages-classification", tmp_path / "truth", tmp_path / "submission.csv"
    truth.mkdir()
    (truth / "image_labels.csv").write_text("ImageID,LabelName,Confidence\na,cat,1\nb,cat,0\n")
    (truth / "classes.csv").write_text("cat,Cat\n")
    files = {"long": "ImageID,LabelName,Score\na,cat,1.5\nc,cat,0.5\n"}
    files["kaggle"] = "ImageId,PredictionString\na,cat 1.5\nc,cat 0.5\n"
    submission.write_text(files[shape])
    write_kit(track, truth, tmp_path / "kit")
    with patch.object(ClassificationScorer, "read", side_effect=AssertionError):
        found = check_with_kit(Kit.load(tmp_path / "kit"), submission)
    assert [(notice.code, notice.count) for notice in found.notices] == [("unknown_image", 1), ("confidence_range", 1)]
    assert found.notices == score(ScoringRequest(track, truth, submission)).notices


def test_a_bad_file_is_read_by_the_reference_implementation(tiny: Tiny, read: list[Path]) -> None:
    tiny.long.write_text(tiny.long.read_text() + "street,/m/01yrx,nan,0,1,0,1\n")
    found = check(TRACK, tiny.long, truth=tiny.truth)
    with pytest.raises(InvalidSubmission) as refused:
        score(ScoringRequest(TRACK, tiny.truth, tiny.long))
    assert found.as_dict() == refused.value.findings.as_dict()
    assert read == [tiny.long, tiny.long]


def test_without_a_truth_the_reference_implementation_checks_the_file_format(tiny: Tiny, read: list[Path]) -> None:
    assert check(TRACK, tiny.long).total == 0
    assert read == [tiny.long]
