"""Exact and published intervals contain their score, and average precision never exceeds 1."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.catalog import TRACKS
from evaluator.digits import published, supported_decimals
from evaluator.metrics.average_precision import average_precision
from evaluator.metrics.bootstrap import recentred_interval
from evaluator.metrics.share_intervals import Trials, share_interval, wilson_interval
from evaluator.report import Report
from evaluator.request import ScoringRequest
from evaluator.scoring import score
from evaluator.synthesis import synthesize
from tests.evaluator.options import with_intervals

DETECTION = "openimages-detection"
BOX = "0.1,0.5,0.1,0.5"
shares = st.floats(0, 1)


def detection(folder: Path, images: int, *, rare: int = 0, group: int = 0) -> tuple[Path, Path]:
    """Write a ground truth with objects of class A in all images, and a submission that finds all of these objects.

    The first ``rare`` images also have an object of class B, which is not found.
    """
    truth = folder / "truth"
    truth.mkdir()
    rows = [f"{image},A,{BOX},{group}" for image in range(images)] + [f"{image},B,{BOX},0" for image in range(rare)]
    (truth / "boxes.csv").write_text("\n".join(["ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf", *rows, ""]))
    (truth / "image_labels.csv").write_text("ImageID,LabelName,Confidence\n")
    found = [f"{image},A,0.{image + 10},{BOX}" for image in range(images)]
    (folder / "submission.csv").write_text("\n".join(["ImageID,LabelName,Score,XMin,XMax,YMin,YMax", *found, ""]))
    return truth, folder / "submission.csv"


def assert_held(report: Report) -> None:
    for split in report.splits.values():
        for metric, interval in split.intervals.items():
            value = split.metrics[metric]
            assert value is not None
            for low, high in (interval, published(interval), published(interval, decimals=3)):
                assert low <= value <= high, (metric, interval)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_interval_of_a_mean_with_a_rare_class_contains_the_mean(seed: int, tmp_path: Path) -> None:
    """In some replicates, no image contains class B, so the mean is 1.0 instead of 0.5.

    These replicates raise the mean of all replicates, and recentring subtracts the difference from both ends of the
    interval. Both ends would then be below the score of 0.5 if the upper end were not moved back to the score.
    """
    truth, submission = detection(tmp_path, 100, rare=4)
    report = score(ScoringRequest(DETECTION, truth, submission, report=with_intervals(1000, seed=seed)))
    low, high = report.splits["all"].intervals["mAP"]
    assert report.splits["all"].metrics["mAP"] == high == 0.5
    assert low < high


@pytest.mark.parametrize("track", TRACKS)
def test_every_interval_of_every_track_contains_its_score(track: str, tmp_path: Path) -> None:
    synthesize(track, tmp_path, images=12, seed=5, qualities=[0.2, 0.6, 1.0])
    for submission in sorted((tmp_path / "submissions").iterdir()):
        assert_held(score(ScoringRequest(track, tmp_path / "truth", submission, report=with_intervals(60))))


@given(st.lists(shares, min_size=1, max_size=30), shares)
def test_a_recentred_interval_contains_the_score_for_any_replicates(replicates: list[float], observed: float) -> None:
    low, high = recentred_interval(np.array(replicates), observed) or (1.0, 0.0)
    assert 0 <= low <= observed <= high <= 1


@given(st.integers(1, 50), st.floats(0, 1), st.integers(0, 999), st.booleans())
def test_a_share_interval_contains_the_share_for_any_replicates(
    count: int, part: float, seed: int, plain: bool
) -> None:
    observed = round(part * count) / count
    replicates = np.random.default_rng(seed).binomial(count, observed, 20) / count
    low, high = share_interval(replicates, observed, Trials(count, count), plain=plain) or (1.0, 0.0)
    assert 0 <= low <= observed <= high <= 1


@given(shares, st.floats(0.1, 1e300))
def test_a_wilson_interval_contains_its_share_for_any_size(share: float, size: float) -> None:
    low, high = wilson_interval(share, size)
    assert 0 <= low <= share <= high <= 1


def test_replicates_that_differ_only_by_rounding_support_no_decimal() -> None:
    third = 1 / 3
    interval = recentred_interval(np.array([third, np.nextafter(third, 1), third]), third)
    assert interval == (third, third)
    assert supported_decimals(interval) == 0


def test_a_perfect_mean_average_precision_has_no_supported_decimal(tmp_path: Path) -> None:
    """All replicates are equal, so the interval has no width and does not show how much the score would vary."""
    truth, submission = detection(tmp_path, 30)
    split = score(ScoringRequest(DETECTION, truth, submission, report=with_intervals(50))).splits["all"]
    assert (split.metrics["mAP"], split.intervals["mAP"]) == (1.0, (1.0, 1.0))
    assert supported_decimals(split.intervals["mAP"]) == 0


@pytest.mark.parametrize(("weight", "images"), [(0.1, 15), (0.15, 58), (0.3, 7), (0.7, 33)])
def test_average_precision_is_1_if_all_groups_with_a_fractional_weight_are_found(
    weight: float, images: int, tmp_path: Path
) -> None:
    truth, submission = detection(tmp_path, images, group=1)
    report = score(
        ScoringRequest(DETECTION, truth, submission, parameters={"group_of_weight": weight}, report=with_intervals(50))
    )
    (row,) = report.splits["all"].classes
    assert (row["ap"], report.splits["all"].metrics["mAP"]) == (1.0, 1.0)
    assert_held(report)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=60), st.floats(0.001, 0.999))
def test_average_precision_is_at_most_1_and_does_not_depend_on_the_order(
    entries: list[tuple[int, int]], weight: float
) -> None:
    confidences = np.array([confidence / 10 for confidence, _ in entries])
    kinds = np.array([kind for _, kind in entries])
    weights = np.array([0.0, weight, 1.0])[kinds]
    truths = int((kinds == 2).sum()) + weight * int((kinds == 1).sum())
    areas = {average_precision(confidences[order], weights[order], truths) for order in orders(len(entries))}
    assert len({repr(area) for area in areas}) == 1
    assert truths == 0 or 0 <= areas.pop() <= 1


def orders(count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(count)
    return [np.arange(count), np.arange(count)[::-1], rng.permutation(count), rng.permutation(count)]
