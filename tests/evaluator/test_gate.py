"""Tests the acceptance gate: checks that a ground truth and the evaluator must pass before a phase accepts submissions.

A valid ground truth of every track passes. A faulty ground truth or evaluator fails the corresponding check.
"""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from evaluator import ceiling, gate
from evaluator.catalog import GATE_CHECKS, TRACKS, Limits
from evaluator.gate import Trial, run_check
from evaluator.report import Report, SplitReport
from evaluator.request import Resources
from evaluator.scoring import prepare
from evaluator.synthesis import synthesize

DETECTION = "openimages-detection"
NAMES = [check.name for check in GATE_CHECKS]

TrialOf = Callable[..., Trial]


@pytest.fixture
def trial_of(tmp_path: Path) -> TrialOf:
    """Return a function that prepares a synthesized ground truth, and returns a `Trial`, which gate checks examine.

    The argument `change` of this function can modify the ground truth folder before it is prepared.
    """

    def make(track: str = DETECTION, change: Callable[[Path], None] = lambda truth: None, **fields: Any) -> Trial:
        synthesize(track, tmp_path / "made", images=12, seed=5, qualities=(0.6,))
        change(tmp_path / "made" / "truth")
        parameters = fields.get("parameters", {})
        prepare(track, tmp_path / "made" / "truth", tmp_path / "t.podium", parameters=parameters)
        (tmp_path / "tried").mkdir()
        return Trial(track, tmp_path / "t.podium", workspace=tmp_path / "tried", **{"parameters": {}, **fields})

    return make


def failed(trial: Trial) -> list[str]:
    return [name for name in NAMES if not run_check(name, trial).passed]


def stub(score_of: Callable[[Path], float]) -> Callable[[Any], Report]:
    """Return a scorer that accepts every file and gives it the scores that `score_of` returns."""

    def score(request: Any) -> Report:
        split = SplitReport("mAP", {"mAP": score_of(request.submission)}, [])
        return Report(DETECTION, "signature", {}, {"all": split})

    return score


@pytest.mark.parametrize("track", TRACKS)
def test_the_synthesized_truth_of_every_track_passes(track: str, trial_of: TrialOf) -> None:
    assert failed(trial_of(track)) == []


def test_a_phase_that_requires_all_images_passes(trial_of: TrialOf) -> None:
    assert failed(trial_of(parameters={"require_all_images": True})) == []


def test_a_split_without_objects_fails_the_ceiling(trial_of: TrialOf) -> None:
    def hide(truth: Path) -> None:
        with_objects = {line.split(",")[0] for line in (truth / "boxes.csv").read_text().splitlines()[1:]}
        images = (truth / "images.csv").read_text().splitlines()[1:]
        images = [*images, "image-without-objects"]
        (truth / "images.csv").write_text("\n".join(["ImageID", *images]) + "\n")
        usages = [f"{image},{'Private' if image in with_objects else 'Public'}" for image in images]
        (truth / "usage.csv").write_text("\n".join(["ImageID,Usage", *usages]) + "\n")

    trial = trial_of(change=hide)
    assert run_check("ceiling", trial).got.endswith("public undefined, private 1.00000")
    assert failed(trial) == ["ceiling"]


def test_a_sample_that_is_rejected_fails_the_template(trial_of: TrialOf, tmp_path: Path) -> None:
    sample = tmp_path / "sample.csv"
    sample.write_text("ImageId,PredictionString\nno-such-image,\n")
    trial = trial_of(sample=sample)
    assert run_check("template", trial).got == "rejected: unknown_image"
    assert failed(trial) == ["template"]


def test_an_evaluator_that_accepts_every_file_fails_empty_broken_and_order(
    trial_of: TrialOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (gate, ceiling):
        monkeypatch.setattr(module, "score", stub(lambda path: 0.5))
    assert failed(trial_of()) == ["empty", "broken", "order"]


def test_an_evaluator_whose_scores_change_fails_repeat(trial_of: TrialOf, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = count(1)
    monkeypatch.setattr(gate, "score", stub(lambda path: 1 / next(numbers)))
    assert not run_check("repeat", trial_of()).passed


def test_an_evaluator_that_ranks_the_worse_file_higher_fails_order(
    trial_of: TrialOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "score", stub(lambda path: 1.5 if path.stem == "half" else 1.0))
    assert not run_check("order", trial_of()).passed


def test_a_truth_that_is_rejected_as_a_submission_fails_the_ceiling_with_codes_only(trial_of: TrialOf) -> None:
    trial = trial_of(resources=Resources(limits=Limits(boxes=1)))
    result = run_check("ceiling", trial)
    assert (result.passed, result.got) == (False, "rejected: too_many_rows")
