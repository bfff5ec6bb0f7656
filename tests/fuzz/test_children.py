"""If a fuzzing process crashes or hangs, its seed is reported, and the cases of all other seeds still run."""

import os
import signal
import time
from collections import Counter

import numpy as np
import pytest

from tests.fuzz import children
from tests.fuzz.children import Outcome, tried

HERE = "tests.fuzz.test_children"


def counted(seed: int) -> tuple[Counter[str], list[str]]:
    return Counter(["even" if seed % 2 == 0 else "odd"]), []


def complaining(seed: int) -> tuple[Counter[str], list[str]]:
    if seed == 6:
        raise ZeroDivisionError("six")
    return Counter(), [f"{seed} is wrong"] if seed == 3 else []


def dying(seed: int) -> tuple[Counter[str], list[str]]:
    if seed in (2, 3):
        os.kill(os.getpid(), signal.SIGSEGV)
    return counted(seed)


def hanging(seed: int) -> tuple[Counter[str], list[str]]:
    if seed == 1:
        time.sleep(1000)
    return counted(seed)


def reading_out_of_bounds(seed: int) -> tuple[Counter[str], list[str]]:
    """Call a kernel that parses a number. With seed 1, the kernel reads past the end of its buffer.

    This crashes the process, or raises an IndexError if numba checks bounds.
    """
    from evaluator.kernels.text.decimals import numbers_between_blanks
    from tests.fuzz.guarded import BEYOND_BYTES, guarded

    text = b" 1234567890123456 " + bytes(0 if seed == 1 else BEYOND_BYTES)
    numbers_between_blanks(guarded(np.frombuffer(text, np.uint8)), np.empty(1), np.empty(1, np.int64))
    return counted(seed)


def outcome(job: str, seeds: range, **environment: str) -> Outcome:
    *_, last = tried(f"{HERE}:{job}", seeds, processes=2, environment=environment)
    return last


def test_every_seed_is_tried_once() -> None:
    found = outcome("counted", range(11))
    assert (found.seeds, found.counts, found.failures) == (11, {"even": 6, "odd": 5}, [])


def test_failures_and_exceptions_are_reported_with_their_seed() -> None:
    found = outcome("complaining", range(8))
    assert found.seeds == 8
    assert sorted(found.failures) == ["3 is wrong", "seed 6 raised ZeroDivisionError: six"]


def test_a_process_that_crashes_is_reported_with_its_seed_and_the_others_are_tried() -> None:
    found = outcome("dying", range(8))
    assert (found.seeds, sorted(found.deaths)) == (8, [2, 3])
    assert sorted(found.failures) == [f"{HERE}:dying: the process ended with SIGSEGV at seed {seed}" for seed in (2, 3)]


def test_a_process_that_hangs_is_ended_and_reported_with_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "MAX_SECONDS", 3.0)
    found = outcome("hanging", range(4))
    assert (found.seeds, found.deaths) == (4, [1])
    assert "SIGKILL at seed 1" in found.failures[0]


def test_a_kernel_that_reads_beyond_its_block_crashes_its_process() -> None:
    assert outcome("reading_out_of_bounds", range(2)).deaths == [1]


def test_a_kernel_that_reads_beyond_its_block_raises_an_index_error_with_bounds_checks() -> None:
    found = outcome("reading_out_of_bounds", range(2), NUMBA_BOUNDSCHECK="1")
    assert (found.failures, found.deaths) == (["seed 1 raised IndexError: index is out of bounds"], [])
