"""A valid file is checked by the fast path; the reference implementation checks others, and reports all defects."""

from pathlib import Path
from typing import Any

import pytest

from evaluator.files.source import Source
from evaluator.problems import InvalidSubmission
from evaluator.request import Resources, ScoringRequest
from evaluator.scoring import check, score
from evaluator.tracks.detection.scorer import DetectionScorer
from tests.evaluator.conftest import Tiny
from tests.evaluator.kernels import cases  # loads the kernels

TRACK = "openimages-detection"
assert cases.IMAGES


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return a list to which the path of each file is appended that the reference implementation reads."""
    paths: list[Path] = []
    read = DetectionScorer.read

    def noting(scorer: DetectionScorer, source: Source, *words: Any) -> Any:
        paths.append(source.path)
        return read(scorer, source, *words)

    monkeypatch.setattr(DetectionScorer, "read", noting)
    return paths


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", ["kaggle", "long"])
def test_a_valid_file_is_read_only_once_and_has_the_notices_of_its_score(
    tiny: Tiny, read: list[Path], shape: str, threads: int
) -> None:
    found = check(TRACK, getattr(tiny, shape), truth=tiny.truth, resources=Resources(threads=threads))
    assert (found.total, read) == (0, [])
    assert found.notices == score(ScoringRequest(TRACK, tiny.truth, getattr(tiny, shape))).notices
    assert found.notices


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
