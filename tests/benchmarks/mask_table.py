"""Runs the measurements for the rows of the benchmark table on segmentation."""

import json
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from evaluator.scoring import prepare
from tests.benchmarks.board_table import Row, row
from tests.benchmarks.masks import write
from tests.benchmarks.measure_masks import TRACK

ROOT = Path(__file__).parents[2]
# A real challenge has about 100,000 images. A tenth of the images has the same costs per mask, apart from the curves of
# the classes, which weigh more in a small file.
IMAGES, PER_IMAGE = 10_000, 10
# Number of rounds. In each round, all programs run one directly after the other, so that they face the same load.
ROUNDS = 3


def masks(folder: Path, images: int = IMAGES) -> Iterator[Row]:
    """Measure scoring and explaining a file with masks. Test data is kept in `folder` for later runs."""
    place, count = folder / f"masks{images}", f"{images * PER_IMAGE // 1000}k masks of {images // 1000}k images"
    if not (place / "made").exists():
        write(place, images=images, per_image=PER_IMAGE)
        (place / "made").touch()
    prepare(TRACK, place / "truth", place / "truth.podium")
    python = pycocotools(folder / "pycocotools")
    plain, explained, theirs = [], [], []
    for _ in range(ROUNDS):
        plain.append(measured(place, explained=False))
        explained.append(measured(place, explained=True))
        theirs += [] if python is None else [cpu_of_pycocotools(python, place)]
    cpu = [each["cpu"] for each in plain]
    name = f"{count}: CPU / CPU of pycocotools decoding and `iou` of the same pairs"
    if theirs:
        found = median(ours / other for ours, other in zip(cpu, theirs, strict=True))
        yield row(name, 1.5, 1.0, found, f"{median(cpu):.2f} s / {median(theirs):.2f} s; {peak_of(plain)}")
    else:
        yield name, "<= 1.5", "<= 1", "NOT RUN", "pycocotools cannot be installed"
    more = [each["cpu"] for each in explained]
    found = median(one / other for one, other in zip(more, cpu, strict=True))
    behind = f"{median(more):.2f} s / {median(cpu):.2f} s; {peak_of(explained)}"
    yield row(f"explanation of {count}: CPU / CPU of scoring", 4, 2.5, found, behind)


def peak_of(runs: list[dict[str, Any]]) -> str:
    return f"peak RSS {max(each['rss'] for each in runs) >> 20:,} MiB"


def pycocotools(place: Path) -> Path | None:
    """Return the interpreter of a separate environment with pycocotools from PyPI, or None without a network."""
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
    installed = subprocess.run([python, "-m", "pip", "install", "-q", "pycocotools", "numpy"], capture_output=True)
    return None if installed.returncode else python


def measured(place: Path, *, explained: bool) -> dict[str, Any]:
    words = [place / "truth.podium", place / "kaggle.csv", "1", str(int(explained))]
    command = [sys.executable, "-m", "tests.benchmarks.measure_masks", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def cpu_of_pycocotools(python: Path, place: Path) -> float:
    command = [python, Path(__file__).with_name("peer_masks.py"), place / "truth", place / "kaggle.csv"]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
