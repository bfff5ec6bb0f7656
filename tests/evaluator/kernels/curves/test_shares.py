"""Threads divide the work on curves. The results are the same as with one thread."""

from itertools import pairwise
from threading import Barrier

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluator.tracks.shared.curves import buckets as module
from evaluator.tracks.shared.curves.buckets import EntryBuckets, Segments
from evaluator.tracks.shared.curves.shares import WORTH_THREADS, for_each_share

CURVES = 50


def segments_of(*sizes: int) -> Segments:
    """Return segments of the given sizes, with random confidences, classes, halves and kinds of entries."""
    rng = np.random.default_rng(len(sizes))
    return [(rng.random(size).round(3), rng.integers(0, 4 * CURVES, size, np.uint32)) for size in sizes]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("entries", [0, 10, WORTH_THREADS, 4 * WORTH_THREADS])
def test_every_curve_is_in_one_share(entries: int, threads: int) -> None:
    ends = np.append(0, np.sort(np.random.default_rng(1).integers(0, entries + 1, CURVES)))
    ends[-1] = entries
    found: list[tuple[int, int]] = []
    for_each_share(ends, threads, lambda longest: longest, lambda _, *share: found.append(share))
    found.sort()
    assert (found[0][0], found[-1][1]) == (0, CURVES)
    assert all(stop == start for (_, stop), (start, _) in pairwise(found))


def test_scratch_memory_is_used_by_one_thread_at_a_time_and_fits_the_longest_curve() -> None:
    ends = np.array([0, WORTH_THREADS, 4 * WORTH_THREADS, 6 * WORTH_THREADS])
    made: list[int] = []
    used: list[int] = []
    together = Barrier(2, timeout=20)

    def new_scratch(longest: int) -> set[int]:
        made.append(longest)
        return set()

    def work(scratch: set[int], first: int, stop: int) -> None:
        """Fail if another thread uses the same memory, while both threads are in this function."""
        is_used = bool(scratch)
        scratch.add(first)
        together.wait()
        used.append(id(scratch))
        if is_used or len(scratch) > 1:
            together.abort()
            raise AssertionError("two threads use the same scratch memory")
        together.wait()
        scratch.clear()

    for_each_share(ends, 2, new_scratch, work)
    assert made == [3 * WORTH_THREADS] * 2
    assert len(set(used)) == 2


@pytest.mark.parametrize("sizes", [(0,), (1, 0), (3 * WORTH_THREADS,), (0, WORTH_THREADS, 7, 2 * WORTH_THREADS)])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_entries_are_sorted_in_the_same_way_by_all_numbers_of_threads(sizes: tuple[int, ...], threads: int) -> None:
    segments = segments_of(*sizes)
    confidences, codes = (np.concatenate(parts) for parts in zip(*segments, strict=True))
    keys = (confidences.view(np.uint64) << np.uint64(1)) | (codes & 1)
    order = np.lexsort((keys, codes >> 1))
    found = EntryBuckets.of(segments, CURVES, threads)
    found.sort()
    assert (found.keys == keys[order]).all()
    assert found.ends.tolist() == np.searchsorted((codes >> 1)[order], np.arange(2 * CURVES + 1)).tolist()
    assert found.false.tolist() == np.bincount(codes >> 1, codes & 1, 2 * CURVES).tolist()


@pytest.mark.parametrize(("labels", "parts"), [(CURVES, 8), (WORTH_THREADS, 1)])
def test_long_segments_are_divided_unless_the_parts_would_be_shorter_than_their_tallies(
    labels: int, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    scatter = module.scatter

    def counted(confidences: NDArray[np.float64], *values: NDArray[np.generic]) -> None:
        sizes.append(len(confidences))
        scatter(confidences, *values)

    monkeypatch.setattr(module, "scatter", counted)
    segments = segments_of(8 * WORTH_THREADS)
    EntryBuckets.of(segments, labels, 2)
    assert not segments
    assert (sum(sizes), len(sizes)) == (8 * WORTH_THREADS, parts)
