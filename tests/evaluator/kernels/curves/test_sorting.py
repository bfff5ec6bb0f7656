"""The kernels sort keys as numpy does, however the keys are distributed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evaluator.kernels.curves.sorting import Scratch, ascending, sort_buckets
from evaluator.kernels.curves.variants import sort_curves

COUNT = 30_000
KEYS = st.lists(st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 40), st.integers(0, 63).map(lambda bit: 1 << bit)))
Keys = NDArray[np.uint64]


def distributions() -> dict[str, Keys]:
    rng = np.random.default_rng(20261127)
    confidences = {
        "uniform": rng.random(COUNT),
        "two decimals": np.round(rng.random(COUNT), 2),
        "equal": np.full(COUNT, 0.5),
        "nearly equal": 0.5 + rng.random(COUNT) * 1e-13,
        "all magnitudes": np.ldexp(rng.random(COUNT), -rng.integers(0, 1_000, COUNT)),
        "one far from the others": np.append(0.5 + rng.random(COUNT - 1) * 1e-13, 1e-300),
    }
    keys = {name: values.view(np.uint64) << np.uint64(1) for name, values in confidences.items()}
    powers = np.uint64(1) << (np.arange(COUNT, dtype=np.uint64) % np.uint64(64))
    return keys | {"powers of two": powers, "sorted": np.sort(powers), "descending": np.sort(powers)[::-1].copy()}


def buckets_of(keys: Keys, bounds: list[int]) -> NDArray[np.int64]:
    return np.array([0, *sorted(min(bound, len(keys)) for bound in bounds), len(keys)])


@settings(max_examples=300, deadline=None)
@given(KEYS, st.lists(st.integers(0, 60), max_size=4), st.integers(0, 4))
def test_each_bucket_is_sorted(numbers: list[int], bounds: list[int], first: int) -> None:
    keys = np.array(numbers, np.uint64)
    ends = buckets_of(keys, bounds)
    expected = [np.sort(keys[ends[at] : ends[at + 1]]) for at in range(len(ends) - 1)]
    middle = min(first, len(ends) - 1)
    for share in ((0, middle), (middle, len(ends) - 1)):
        sort_buckets(keys, ends, *share, Scratch.for_keys(len(keys)))
    assert keys.tolist() == np.concatenate(expected).tolist()


@pytest.mark.parametrize("name", distributions())
def test_keys_of_any_distribution_are_sorted(name: str) -> None:
    keys = distributions()[name]
    expected = np.sort(keys)
    sort_buckets(keys, np.array([0, COUNT]), 0, 1, Scratch.for_keys(COUNT))
    assert np.array_equal(keys, expected)


@pytest.mark.parametrize("name", distributions())
def test_equal_keys_keep_their_order(name: str) -> None:
    keys = distributions()[name]
    assert np.array_equal(ascending(keys.copy()), np.argsort(keys, kind="stable"))


@pytest.mark.parametrize("name", distributions())
def test_codes_move_with_their_keys(name: str) -> None:
    keys, codes = distributions()[name], np.arange(COUNT).astype(np.uint16)
    order = np.r_[np.argsort(keys[:1_000], kind="stable"), 1_000 + np.argsort(keys[1_000:], kind="stable")]
    expected = keys[order], codes[order]
    ends, scratch = np.array([0, 1_000, COUNT]), Scratch.for_keys(COUNT)
    sort_curves(keys, codes, ends, 0, 2, scratch, np.empty(COUNT, np.uint16))
    assert np.array_equal(keys, expected[0])
    assert np.array_equal(codes, expected[1])
