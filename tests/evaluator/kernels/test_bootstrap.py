"""The bootstrap kernels agree with the reference implementation.

They also agree with scores on test sets in which images are repeated as often as the bootstrap drew them.
"""

import random
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator import bootstrap
from evaluator.draws import LANES
from evaluator.kernels.curves import bootstrap as kernels
from evaluator.metrics import bootstrap as numpy_bootstrap
from evaluator.metrics.average_precision import average_precision, stepwise_average_precision
from evaluator.metrics.resampling import HIT, MISS, PARTIAL_HIT, CurveSteps, ImageGroups
from evaluator.problems import InvalidSubmission
from evaluator.report import Report
from evaluator.request import Resources, ScoringRequest
from evaluator.scoring import score
from tests.evaluator.kernels import cases
from tests.evaluator.options import with_intervals

CURVES = 3


def weights_of(rng: np.random.Generator, images: int) -> numpy_bootstrap.Weights:
    """Return random bootstrap weights of a kind that is chosen at random.

    The weights are Poisson-distributed, or only 0, 1 and 255 occur, or most weights are 0.
    """
    kind = rng.integers(4)
    if kind < 2:
        return rng.poisson(1, (images, LANES)).astype(np.uint8)
    return rng.choice([0, 1, 255] if kind == 2 else [0, 0, 0, 1], (images, LANES)).astype(np.uint8)


@pytest.mark.parametrize("hit_share", [0.001, 0.3])
def test_long_curves_and_long_steps_have_the_areas_of_the_reference(hit_share: float) -> None:
    """Some steps of the curve end after the first KEPT_ENTRIES entries, so the kernels do not keep their sums.

    If hits are rare, most steps have more entries than can be added in one 16-bit sum.
    """
    rng = np.random.default_rng(0)
    entries = kernels.KEPT_ENTRIES + 10_000
    kinds = np.where(rng.random(entries) < hit_share, HIT, MISS).astype(np.uint8)
    rows = rng.integers(0, 50, entries).astype(np.int32)
    steps = CurveSteps.of(np.zeros(entries, np.int64), rng.random(entries), kinds, rows, 1)
    weights, positives = rng.integers(0, 256, (50, LANES)).astype(np.uint8), np.full((1, LANES), 1e7)
    expected = numpy_bootstrap.average_precisions(weights, steps, positives, 1.0)
    assert np.array_equal(kernels.average_precisions(weights, steps, positives, 1.0), expected)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**48), partial=st.sampled_from([0.3, 0.5, 1.0]), envelope=st.booleans())
def test_areas_equal_those_of_the_reference_and_of_copied_predictions(
    seed: int, partial: float, envelope: bool
) -> None:
    """The random cases include ties, negative confidences, images with weight 0 or outside the split, and curves
    without entries.
    """
    rng = np.random.default_rng(seed)
    images, entries = int(rng.integers(1, 12)), int(rng.choice([0, 1, 5, 60, 2_000]))
    curves = rng.integers(0, CURVES - rng.integers(2), entries)
    confidences = rng.choice([rng.random(entries), rng.integers(-2, 4, entries) / 2, rng.choice([0.0, -0.0], entries)])
    kinds = rng.choice([HIT, PARTIAL_HIT, MISS], entries, p=rng.dirichlet([1, 0.5, 1])).astype(np.uint8)
    rows = rng.integers(-1, images, entries).astype(np.int32)
    weights, steps = weights_of(rng, images), CurveSteps.of(curves, confidences, kinds, rows, CURVES, envelope=envelope)
    area = average_precision if envelope else stepwise_average_precision
    positives = numpy_bootstrap.sums(weights, ImageGroups.of(curves, rows, CURVES)) + rng.integers(
        0, 2, (CURVES, LANES)
    )
    fast = kernels.average_precisions(weights, steps, positives, partial)
    assert np.array_equal(fast, numpy_bootstrap.average_precisions(weights, steps, positives, partial), equal_nan=True)
    for curve in range(CURVES):
        for lane in (0, LANES - 1):
            copies = np.repeat(np.arange(entries), np.where((rows >= 0) & (curves == curve), weights[rows, lane], 0))
            counts = np.array([1.0, partial, 0.0])[kinds[copies]]
            expected = area(confidences[copies], counts, positives[curve, lane])
            assert fast[curve, lane] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**48))
def test_sums_equal_the_weights_summed_row_by_row(seed: int) -> None:
    rng = np.random.default_rng(seed)
    images, entries = int(rng.integers(1, 12)), int(rng.choice([0, 1, 50, 3_000]))
    groups, rows = rng.integers(0, CURVES, entries), rng.integers(-1, images, entries).astype(np.int32)
    weights, grouped = weights_of(rng, images), ImageGroups.of(groups, rows, CURVES)
    expected = [weights[rows[(groups == group) & (rows >= 0)]].sum(axis=0, dtype=int) for group in range(CURVES)]
    for engine in (kernels, numpy_bootstrap):
        assert np.array_equal(engine.sums(weights, grouped), expected)


def test_reference_sums_do_not_depend_on_the_size_of_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_bootstrap, "ROWS_AT_ONCE", 3)
    groups = ImageGroups(np.zeros(10, np.int32), np.array([0, 1, 7, 7, 10, 10]))
    assert numpy_bootstrap.sums(np.ones((1, 1), np.uint8), groups).ravel().tolist() == [0, 1, 6, 0, 3, 0]


@pytest.mark.parametrize("rows", [[0, 3], [0, 2**31 - 1]])
def test_rows_out_of_range_are_refused(rows: list[int]) -> None:
    """The functions that call the compiled loops check indices and shapes, because the loops themselves do not."""
    weights, indices = np.ones((3, LANES), np.uint8), np.array(rows, np.int32)
    with pytest.raises(IndexError):
        kernels.sums(weights, ImageGroups(indices, np.array([2])))
    with pytest.raises(IndexError):
        kernels.average_precisions(
            weights, CurveSteps(indices, np.array([[2, 2, 2]]), np.array([0, 1])), np.ones((1, 64)), 1
        )
    with pytest.raises(ValueError, match="a block of"):
        kernels.sums(np.ones((9, 7), np.uint8), ImageGroups(indices[:1], np.array([1])))


PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "openimages-detection": [{}, {"group_of_weight": 0.0}, {"group_of_weight": 0.3}, {"expand_predictions": True}],
    "openimages-relationships": [{}, {"weights": (0.2, 0.3, 0.5)}],
    "openimages-classification": [{}],
}


def replicates_of(report: Report) -> dict[tuple[str, str], list[float]]:
    """Return the bootstrap replicates by split and metric, converted to strings so that NaN equals NaN."""
    return {
        (name, metric): list(map(repr, values.tolist()))
        for name, split in report.splits.items()
        for metric, values in split.replicates.items()
    }


def scored(request: ScoringRequest) -> Report | None:
    try:
        return score(request)
    except InvalidSubmission:
        return None


@pytest.mark.parametrize("track", cases.FILES)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**48), threads=st.sampled_from([1, 2, 3]))
def test_both_implementations_give_equal_replicates(track: str, seed: int, threads: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    submission = tmp_path / "submission.csv"
    submission.write_bytes(cases.FILES[track](chance))
    truth = cases.TRUTHS[track](chance, Path(mkdtemp(dir=tmp_path)) / "truth")
    parameters, report = chance.choice(PARAMETERS[track]), with_intervals(70, seed)
    request = ScoringRequest(track, truth, submission, parameters, report=report, resources=Resources(threads=threads))
    fast = scored(request)
    with cases.reference_implementation(), patch.object(bootstrap, "engine", lambda: numpy_bootstrap):
        reference = scored(request)
    if fast is None or reference is None:
        assert fast is reference
        return
    assert fast.as_dict() == reference.as_dict()
    assert replicates_of(fast) == replicates_of(reference)
