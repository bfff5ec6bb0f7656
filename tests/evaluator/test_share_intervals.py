"""Tests intervals for proportions near 0 and 1, whose bootstrap replicates are all equal or have few distinct values.

With 4,000 test sets of 300 images and 1,000 replicates, percentile intervals contained a true proportion of 0.998 in
44% of the test sets, and a true proportion of 0.99 in 88%. The intervals tested below contained these proportions in
98% and 97% of the test sets. Both kinds of intervals contained a true proportion of 0.9 in 94%.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.catalog import TRACKS
from evaluator.digits import Interval
from evaluator.metrics.bootstrap import Numbers, recentred_interval
from evaluator.metrics.share_intervals import Trials, share_interval, wilson_interval
from evaluator.request import ScoringRequest
from evaluator.scoring import ceiling, score, template
from evaluator.synthesis import synthesize
from tests.evaluator.options import with_intervals

IMAGES, SETS, REPLICATES = 300, 1000, 1000
MIDDLE = Trials(100, 100)

Rule = Callable[[Numbers, float], Interval | None]


def covered(rng: np.random.Generator, share: float, rule: Rule) -> float:
    """Return the fraction of simulated test sets whose interval contains the true proportion ``share``.

    Bootstrap replicates are drawn from a binomial distribution.
    """
    found = 0
    for _ in range(SETS):
        observed = rng.binomial(IMAGES, share) / IMAGES
        low, high = rule(rng.binomial(IMAGES, observed, REPLICATES) / IMAGES, observed) or (1.0, 0.0)
        found += low <= share <= high
    return found / SETS


def plain(replicates: Numbers, observed: float) -> Interval | None:
    return share_interval(replicates, observed, Trials(IMAGES, IMAGES), plain=True)


def test_percentiles_contain_a_share_of_0_998_in_fewer_than_half_of_all_test_sets() -> None:
    assert covered(np.random.default_rng(1), 0.998, recentred_interval) < 0.5


@pytest.mark.parametrize("share", [0.998, 0.002, 0.985, 0.97, 0.9, 0.5])
def test_the_interval_of_a_share_contains_it_in_at_least_93_of_100_test_sets(share: float) -> None:
    """With 1,000 test sets, the standard error of a fraction of 0.95 is 0.007."""
    assert covered(np.random.default_rng(2), share, plain) >= 0.93


def test_the_trials_of_an_image_count_by_their_effective_number() -> None:
    """Each of 300 images has five trials, which always have the same result.

    Therefore, the 1,500 trials contain no more information than 300 trials.
    """
    rng, together, apart = np.random.default_rng(3), [], 0
    for _ in range(SETS):
        missed = rng.binomial(IMAGES, 0.01)
        observed = 1 - missed / IMAGES
        replicates = rng.binomial(IMAGES, observed, 200) / IMAGES
        together.append(share_interval(replicates, observed, Trials(5 * IMAGES, IMAGES), plain=True))
        low, high = wilson_interval(observed, 5 * IMAGES)
        apart += low <= 0.99 <= high
    assert np.mean([low <= 0.99 <= high for low, high in together]) >= 0.92  # type: ignore[misc]
    assert apart / SETS < 0.8


@pytest.mark.parametrize("observed", [0.0, 1.0])
def test_if_all_replicates_are_equal_the_width_depends_on_the_number_of_images(observed: float) -> None:
    ends = share_interval(np.full(100, observed), observed, Trials(1500, 300), plain=True)
    assert ends == wilson_interval(observed, 300)


def test_if_all_replicates_are_equal_an_interval_at_one_half_also_has_width() -> None:
    """Half of the phrases of every image are found, so every bootstrap sample has the same proportion.

    Nevertheless, the interval must have some width, because the proportion could be different in other images.
    """
    assert share_interval(np.full(100, 0.5), 0.5, MIDDLE, plain=True) == pytest.approx((0.404, 0.596), abs=0.001)


@pytest.mark.parametrize(("hits", "by_wilson"), [(9, True), (10, False), (90, False), (91, True)])
def test_wilson_intervals_are_used_below_ten_hits_or_misses(hits: int, by_wilson: bool) -> None:
    observed = hits / 100
    replicates = np.random.default_rng(4).binomial(100, observed, 500) / 100
    ends = share_interval(replicates, observed, MIDDLE, plain=True)
    assert (ends == recentred_interval(replicates, observed)) != by_wilson
    size = observed * (1 - observed) / replicates.var()
    assert not by_wilson or ends == pytest.approx(wilson_interval(observed, size))


def test_a_mean_of_shares_has_percentiles_unless_all_replicates_are_equal() -> None:
    replicates = np.array([0.98, 1.0, 0.99])
    assert share_interval(replicates, 0.99, MIDDLE, plain=False) == recentred_interval(replicates, 0.99)
    assert share_interval(np.ones(9), 1.0, MIDDLE, plain=False) == wilson_interval(1.0, 100)


def test_undefined_replicates_are_left_out() -> None:
    assert share_interval(np.array([1.0, np.nan]), 1.0, MIDDLE, plain=True) == wilson_interval(1.0, 100)
    assert share_interval(np.array([np.nan]), 1.0, MIDDLE, plain=True) is None


@pytest.mark.parametrize("share", [0.0, 1e-9, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("size", [0.5, 1, 7.3, 1e6])
def test_a_wilson_interval_contains_its_share(share: float, size: float) -> None:
    low, high = wilson_interval(share, size)
    assert 0 <= low <= share <= high <= 1
    assert low < high


# The following tests compute confidence intervals for the metrics of tracks.


def answered(folder: Path, images: int, wrong: int) -> Any:
    (folder / "truth").mkdir()
    (folder / "truth" / "answers.json").write_text(json.dumps({f"{image}.png": image % 5 for image in range(images)}))
    rows = [f"{image}.png,{300 if image < wrong else image % 5},1,,,,,,,," for image in range(images)]
    (folder / "submission.csv").write_text("\n".join(rows) + "\n")
    return score(
        ScoringRequest("objectnet", folder / "truth", folder / "submission.csv", report=with_intervals(300))
    ).splits["all"]


def test_a_perfect_accuracy_has_an_interval_of_some_width(tmp_path: Path) -> None:
    split = answered(tmp_path, 300, 0)
    assert set(split.intervals) == {"top1", "top5", "mean_class_top1", "mean_class_top5"}
    for name, ends in split.intervals.items():
        assert split.metrics[name] == 1.0
        assert ends == wilson_interval(1.0, 300), name


def test_with_one_wrong_answer_of_300_the_interval_extends_above_the_score(tmp_path: Path) -> None:
    split = answered(tmp_path, 300, 1)
    assert split.intervals["top1"] == pytest.approx(wilson_interval(299 / 300, 300), abs=0.002)


@pytest.mark.parametrize("track", [name for name, track in TRACKS.items() if any(m.share for m in track.metrics)])
def test_an_empty_and_a_perfect_file_have_intervals_of_some_width(track: str, tmp_path: Path) -> None:
    """Only metrics that are declared as proportions are tested, because other intervals may have zero width."""
    synthesize(track, tmp_path / "world", images=20, seed=1, qualities=[0.6])
    truth, file = tmp_path / "world" / "truth", tmp_path / f"submission.{TRACKS[track].form.suffix}"
    for write in (template, ceiling):
        write(track, truth, file)
        split = score(ScoringRequest(track, truth, file, report=with_intervals(50))).splits["all"]
        for metric in TRACKS[track].metrics:
            if metric.share:
                low, high = split.intervals[metric.name]
                assert low < high, (write.__name__, metric.name)
                assert low <= (split.metrics[metric.name] or 0.0) <= high
