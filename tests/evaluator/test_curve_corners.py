"""Simplified precision-recall curves have fewer points than the original ones, but the same area."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.metrics.average_precision import (
    Curve,
    average_precision,
    precision_recall,
    stepwise_average_precision,
)
from evaluator.metrics.curve_points import simplified

seeds = st.integers(0, 2**48)


def area(curve: Curve) -> float:
    envelope = np.maximum.accumulate(curve.precisions[::-1])[::-1]
    return float(np.sum(np.diff(curve.recalls, prepend=0.0) * envelope))


def columns(seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the confidences of up to 200 random predictions, whether each is a hit, and the number of objects.

    There are few distinct confidences, and about half of the predictions are hits.
    """
    chance = random.Random(seed)
    count = chance.randint(1, 200)
    confidences = [chance.randint(0, 30) for _ in range(count)]
    return np.array(confidences, float), np.array(chance.choices([0.0, 1.0], k=count)), float(count)


@given(seed=seeds)
def test_omitted_points_do_not_change_the_area(seed: int) -> None:
    confidences, hits, truths = columns(seed)
    kept = simplified(precision_recall(confidences, hits, truths))
    assert area(kept) == pytest.approx(average_precision(confidences, hits, truths), abs=1e-12)


@given(seed=seeds)
def test_without_interpolation_omitted_points_do_not_change_the_area_either(seed: int) -> None:
    confidences, hits, truths = columns(seed)
    kept = simplified(precision_recall(confidences, hits, truths), interpolated=False)
    area = float(np.sum(np.diff(kept.recalls, prepend=0.0) * kept.precisions))
    assert area == pytest.approx(stepwise_average_precision(confidences, hits, truths), abs=1e-12)


@given(seed=seeds, most=st.integers(2, 12))
def test_limiting_the_number_of_points_reduces_the_area_by_less_than_one_step(seed: int, most: int) -> None:
    confidences, hits, truths = columns(seed)
    whole = precision_recall(confidences, hits, truths)
    kept = simplified(whole, most)
    lost = average_precision(confidences, hits, truths) - area(kept)
    assert -1e-12 <= lost < 1 / (most - 1)
    assert len(kept.recalls) <= most + 2


@given(seed=seeds, most=st.integers(2, 12))
def test_every_point_is_on_the_full_curve_and_the_ends_are_exact(seed: int, most: int) -> None:
    whole = precision_recall(*columns(seed))
    kept = simplified(whole, most)
    points = set(zip(whole.confidences, whole.recalls, whole.precisions, strict=True))
    assert set(zip(kept.confidences, kept.recalls, kept.precisions, strict=True)) <= points
    for column in ("confidences", "recalls", "precisions"):
        for end in (0, -1):
            assert getattr(kept, column)[end] == getattr(whole, column)[end]


def test_a_confidence_of_minus_zero_is_zero_in_a_curve() -> None:
    curve = precision_recall(np.array([-0.0, 0.0, -0.0]), np.array([1.0, 0.0, 1.0]), 2)
    assert [str(confidence) for confidence in curve.confidences.tolist()] == ["0.0"]
