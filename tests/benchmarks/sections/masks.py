"""The rows of the section Masks: the cost of scoring and explaining a file with masks, compared with pycocotools."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from evaluator.scoring import prepare
from tests.benchmarks.mask_files import write
from tests.benchmarks.measure_masks import TRACK
from tests.benchmarks.peers import PeerFailed, cpu_of_peer
from tests.benchmarks.rows import FOLDER, ROOT, Goal, Row, ratio

IMAGES, PER_IMAGE = 100_000, 10
# Number of rounds. In each round, all programs run one directly after the other, so that the load affects all equally.
ROUNDS = 2
PYCOCOTOOLS_SECONDS = 1_800
COUNT = f"{IMAGES * PER_IMAGE // 1_000_000}M masks of {IMAGES // 1000}k images"
DECODING = Goal(f"{COUNT}: CPU / CPU of pycocotools decoding and `iou` of the same pairs", 1.5, 1.0)
MEMORY = Goal(f"{COUNT}: peak RSS / file size", 4, 3)
EXPLANATION = Goal(f"explanation of {COUNT}: CPU / CPU of scoring", 4, 2.5)


def masks() -> Iterator[Row]:
    """Measure scoring and explaining a file with masks. The files are kept for later runs."""
    place = FOLDER / f"masks{IMAGES}"
    if not (place / "made").exists():
        write(place, images=IMAGES, per_image=PER_IMAGE)
        (place / "made").touch()
    prepare(TRACK, place / "truth", place / "truth.podium")
    plain, explained, theirs, failure = [], [], [], ""
    for _ in range(ROUNDS):
        plain.append(measured(place, explained=False))
        explained.append(measured(place, explained=True))
        try:
            files = place / "truth", place / "kaggle.csv"
            theirs.append(cpu_of_peer("pycocotools", "peer_masks.py", *files, seconds=PYCOCOTOOLS_SECONDS))
        except PeerFailed as error:
            failure = str(error)
    cpu, more = [each["cpu"] for each in plain], [each["cpu"] for each in explained]
    if failure:
        yield DECODING.not_run(failure)
    else:
        yield DECODING.met_by(ratio(cpu, theirs), f"{median(cpu):.2f} s / {median(theirs):.2f} s")
    size = (place / "kaggle.csv").stat().st_size
    yield MEMORY.met_by(peak_of(plain) / size, f"{peak_of(plain) >> 20:,} MiB / {size >> 20:,} MiB")
    behind = f"{median(more):.2f} s / {median(cpu):.2f} s; peak RSS {peak_of(explained) >> 20:,} MiB"
    yield EXPLANATION.met_by(ratio(more, cpu), behind)


def peak_of(runs: list[dict[str, Any]]) -> int:
    """Return the highest peak RSS of the runs in bytes."""
    return max(each["rss"] for each in runs)


def measured(place: Path, *, explained: bool) -> dict[str, Any]:
    words = [place / "truth.podium", place / "kaggle.csv", "1", str(int(explained))]
    command = [sys.executable, "-m", "tests.benchmarks.measure_masks", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
