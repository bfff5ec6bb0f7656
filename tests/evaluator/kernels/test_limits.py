"""Both scoring implementations have the same limits on the number of images and of predictions in a file."""

import random
from pathlib import Path

import pytest

from evaluator.catalog import Limits
from evaluator.request import Resources
from tests.evaluator.kernels import cases

MAX_BOXES = 130


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("unit", ["images", "boxes"])
@pytest.mark.parametrize("track", cases.FILES)
def test_both_implementations_apply_the_same_limits(track: str, unit: str, threads: int, tmp_path: Path) -> None:
    submission, ends = tmp_path / "submission.csv", []
    for seed in range(40):
        chance = random.Random(seed)
        submission.write_bytes(cases.FILES[track](chance))
        truth = cases.TRUTHS[track](chance, tmp_path / f"truth{seed}")
        limits = Limits(**{unit: chance.randint(0, 3 if unit == "images" else MAX_BOXES)})
        way, fast, reference = cases.both(track, truth, submission, resources=Resources(limits=limits, threads=threads))
        assert fast == reference
        ends.append("fast path" if way == "fast path" else ",".join(fast.get("counts", ())))
    assert ends.count("fast path") > 4, ends
    assert ends.count("too_many_rows") > 4, ends
