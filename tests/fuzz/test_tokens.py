"""Runs the part of `make fuzz` that parses random numbers, with a small number of cases."""

from collections import Counter

from tests.fuzz.tokens import BATCH, KINDS, answers

SEEDS = 200


def test_kernels_and_reference_implementation_read_equal_numbers() -> None:
    counts, failures = Counter[str](), list[str]()
    for seed in range(SEEDS):
        more, wrong = answers(seed)
        counts, failures = counts + more, failures + wrong
    assert not failures
    assert counts.total() == SEEDS * BATCH


def test_every_kind_of_number_is_drawn_and_most_are_valid() -> None:
    counts = Counter[str]()
    for seed in range(5):
        counts += answers(seed)[0]
    kinds = {kind.partition(":")[0] for kind in counts}
    assert len(kinds) == len(KINDS)
    assert 0.6 < sum(count for kind, count in counts.items() if kind.endswith("read")) / counts.total() < 0.95
