"""The rows of the section Labels: the cost of scoring image-level labels, compared with `wc -l`."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

from evaluator.scoring import prepare
from tests.benchmarks.label_files import write
from tests.benchmarks.rows import FOLDER, Goal, Row, alternating, ratio
from tests.benchmarks.scored_files import CLASSIFICATION, scored, wc_of

IMAGES, PER_IMAGE = 100_000, 100
LAYOUTS = {"strings": "kaggle.csv", "long layout": "long.csv"}
COUNT = f"{IMAGES * PER_IMAGE // 1_000_000}M labels of {IMAGES // 1000}k images"


def labels() -> Iterator[Row]:
    """Measure scoring a file with image-level labels. The files are kept for later runs."""
    place = FOLDER / f"labels{IMAGES}"
    truth = place / "truth.podium"
    if not (place / "made").exists():
        write(place, images=IMAGES, per_image=PER_IMAGE)
        (place / "made").touch()
    prepare(CLASSIFICATION, place / "truth", truth)
    for layout, name in LAYOUTS.items():
        yield from rows(layout, truth, place / name)


def rows(layout: str, truth: Path, file: Path) -> Iterator[Row]:
    """Yield the rows for one layout: CPU and peak memory."""
    wc, runs = alternating(lambda: {"cpu": wc_of(file)}, partial(scored, CLASSIFICATION, truth, file))
    cpu, lines = ([each["cpu"] for each in found] for found in (runs, wc))
    goal = Goal(f"{COUNT}, {layout}: CPU / CPU of `wc -l`", 11, 10)
    yield goal.met_by(ratio(cpu, lines), f"{median(cpu):.2f} s / {median(lines):.3f} s")
    rss = max(each["rss"] for each in runs)
    goal = Goal(f"{COUNT}, {layout}: peak RSS / file size", 2, 1.5)
    yield goal.met_by(rss / file.stat().st_size, f"{rss >> 20:,} MiB")
