"""Limits of images and predictions hold on the fast path as on the readable one, to the last row."""

import random
from pathlib import Path

import pytest

from evaluator.catalog import Limits
from tests.evaluator.kernels import cases

MOST = 130


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("unit", ["images", "boxes"])
@pytest.mark.parametrize("track", cases.FILES)
def test_one_too_many_is_refused_and_no_fewer(track: str, unit: str, threads: int, tmp_path: Path) -> None:
    submission, ends = tmp_path / "submission.csv", []
    for seed in range(40):
        chance = random.Random(seed)
        submission.write_bytes(cases.FILES[track](chance))
        truth = cases.TRUTHS[track](chance, tmp_path / f"truth{seed}")
        limits = Limits(**{unit: chance.randint(0, 3 if unit == "images" else MOST)})
        way, ours, twins = cases.both(track, truth, submission, limits=limits, threads=threads)
        assert ours == twins
        ends.append("streamed" if way == "streamed" else ",".join(ours.get("counts", ())))
    assert ends.count("streamed") > 4, ends
    assert ends.count("too_many_rows") > 4, ends
