"""Data that depends only on a ground truth is computed once and kept. Keeping it does not change any result."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator import derived as module
from evaluator import draws, file_states
from evaluator.catalog import TRACKS
from evaluator.derived import KEPT_TRUTHS, derived
from evaluator.kernels.curves import bootstrap as kernels
from evaluator.request import Bootstrap, ReportOptions, ScoringRequest, TruthOptions
from evaluator.scoring import load_kernels, prepare, score
from evaluator.synthesis import synthesize
from evaluator.truth import Truth

DETECTION = "openimages-detection"
QUALITIES = (0.4, 0.8)


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove all kept data, and allow data to be kept even for ground truth files that were just written."""
    monkeypatch.setattr(file_states, "SETTLED_NS", 0)
    module._KEPT.clear()


@pytest.fixture
def calls() -> list[str]:
    return []


@pytest.fixture
def compute(calls: list[str]) -> Callable[[], int]:
    def count() -> int:
        calls.append("computed")
        return len(calls)

    return count


def prepared(track: str, folder: Path) -> Path:
    """Synthesize a challenge with public and private images, and return the path of its prepared ground truth."""
    synthesize(track, folder, images=40, qualities=QUALITIES)
    split = TruthOptions(split=(0.5, 1)) if not (folder / "truth" / "usage.csv").exists() else TruthOptions()
    prepare(track, folder / "truth", folder / "t.podium", opening=split)
    return folder / "t.podium"


def test_data_is_computed_once_for_all_submissions(
    tmp_path: Path, compute: Callable[[], int], calls: list[str]
) -> None:
    path = prepared(DETECTION, tmp_path)
    assert [derived(Truth.load(path), "number", compute) for _ in range(3)] == [1, 1, 1]
    assert derived(Truth.load(path), "another", compute) == 2


def test_data_is_computed_again_after_a_change_of_the_file(tmp_path: Path, compute: Callable[[], int]) -> None:
    path = prepared(DETECTION, tmp_path)
    derived(Truth.load(path), "number", compute)
    os.utime(path)
    assert derived(Truth.load(path), "number", compute) == 2


def test_data_of_a_file_that_was_just_written_is_not_kept(
    tmp_path: Path, compute: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_states, "SETTLED_NS", 10**12)
    path = prepared(DETECTION, tmp_path)
    assert [derived(Truth.load(path), "number", compute) for _ in range(2)] == [1, 2]


def test_data_of_a_part_of_a_ground_truth_is_not_kept(tmp_path: Path, compute: Callable[[], int]) -> None:
    """The reference implementation restricts ground truths to some objects.

    If the data of such a part were kept, it would be mixed with the data of the whole ground truth.
    """
    whole = Truth.load(prepared(DETECTION, tmp_path))
    derived(whole, "number", compute)
    part = Truth(whole.track, whole.sha256, whole.parameters, whole.flags, whole.texts, dict(whole.arrays))
    assert derived(part, "number", compute) == 2


def test_only_the_ground_truths_used_last_are_kept(tmp_path: Path, compute: Callable[[], int]) -> None:
    paths = [prepared(DETECTION, tmp_path / str(number)) for number in range(KEPT_TRUTHS + 1)]
    for path in paths:
        derived(Truth.load(path), "number", compute)
    assert len(module._KEPT) == KEPT_TRUTHS
    assert derived(Truth.load(paths[-1]), "number", compute) == KEPT_TRUTHS + 1
    assert derived(Truth.load(paths[0]), "number", compute) == KEPT_TRUTHS + 2


OPTIONS = [
    ReportOptions(bootstrap=Bootstrap(70)),
    ReportOptions(curves=True, explanation=True),
]


@pytest.mark.parametrize("options", OPTIONS, ids=["intervals", "explanation"])
@pytest.mark.parametrize("track", ["openimages-detection", "openimages-segmentation", "openimages-relationships"])
def test_the_second_submission_has_the_report_that_it_would_have_as_the_first(
    track: str, options: ReportOptions, tmp_path: Path
) -> None:
    load_kernels()
    truth = prepared(track, tmp_path)
    parameters = [{}, {"group_of_weight": 0.3}] if "group_of_weight" in TRACKS[track].resolve({}) else [{}]
    files = sorted((tmp_path / "submissions").glob("quality-*"))
    for chosen in parameters:
        requests = [ScoringRequest(track, truth, file, parameters=chosen, report=options) for file in files]
        after_others = [score(request).as_dict() for request in requests]
        alone = []
        for request in reversed(requests):
            module._KEPT.clear()
            alone.append(score(request).as_dict())
        assert after_others == alone[::-1]


def test_the_objects_are_summed_once_for_all_submissions(
    tmp_path: Path, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, sums = prepared(DETECTION, tmp_path), kernels.sums
    monkeypatch.setattr(kernels, "sums", lambda weights, groups: calls.append(groups.name) or sums(weights, groups))
    for file in sorted((tmp_path / "submissions").glob("quality-*")):
        score(ScoringRequest(DETECTION, truth, file, report=ReportOptions(bootstrap=Bootstrap(64))))
    splits = 3
    assert sorted(calls) == ["groups"] * splits + ["objects"] * splits


def test_stored_draws_are_verified_once_for_each_state_of_their_file(
    tmp_path: Path, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, sha256 = draws.Draws("5" * 64, 0, 0, 50, 64), draws.sha256
    draws.blocks_of(drawn, tmp_path)
    monkeypatch.setattr(draws, "sha256", lambda *data: calls.append("hashed") or sha256(*data))
    draws.blocks_of(drawn, tmp_path)
    assert calls == []
    os.utime(tmp_path / drawn.file_name)
    draws.blocks_of(drawn, tmp_path)
    assert calls == ["hashed"]
