"""Provides the files that the benchmarks score, and measures in new processes how long it takes to score them."""

import gzip
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from shutil import copyfileobj
from typing import Any, NamedTuple

from evaluator.scoring import prepare
from tests.benchmarks.challenge import write
from tests.benchmarks.rows import FOLDER, GOLDEN, ROOT

DETECTION, RELATIONSHIPS = "openimages-detection", "openimages-relationships"
CLASSIFICATION = "openimages-classification"
# Two implementations can score a file. The field `way` of the report with the scores begins with the name of the one
# that was used.
FAST_PATH, REFERENCE = "fast path", "reference implementation"


class Made(NamedTuple):
    """The generated challenge: its prepared ground truth, and submissions.

    `small` and `long` contain the same 5 million boxes, as prediction strings and with one box per row. `large`
    contains 20 million boxes, as prediction strings.
    """

    truth: Path
    small: Path
    long: Path
    large: Path


@cache
def made() -> Made:
    """Return the generated challenge. Create its files if they do not exist."""
    small, large, truth = FOLDER / "5M", FOLDER / "20M", FOLDER / "truth.podium"
    for folder, per_image in ((small, 50), (large, 200)):
        if not (folder / "made").exists():
            write(folder, images=99_999, per_image=per_image, long=per_image == 50)
            (folder / "made").touch()
    prepare(DETECTION, small / "truth", truth)
    return Made(truth, small / "kaggle.csv", small / "long.csv", large / "kaggle.csv")


@cache
def golden(case: str, track: str) -> tuple[Path, Path] | None:
    """Return the prepared ground truth and the submission of a golden case, or None if the case does not exist.

    A golden case is a ground truth and a submission whose scores were computed by an official program.
    """
    if not (GOLDEN / case).exists():
        return None
    truth, file = FOLDER / f"{case}.podium", FOLDER / f"{case}.csv"
    with gzip.open(GOLDEN / case / "predictions.csv.gz") as packed, file.open("wb") as plain:
        copyfileobj(packed, plain)
    prepare(track, GOLDEN / case / "truth", truth)
    return truth, file


def cpu_of(*command: str, times: int) -> float:
    """Run a command several times, and return the lowest CPU time in seconds."""
    taken = []
    for _ in range(times):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{command} failed")
        taken.append(usage.ru_utime + usage.ru_stime)
    return min(taken)


def wc_of(file: Path) -> float:
    """Return the CPU time of `wc -l` for a file, as a measure of the current speed of the machine."""
    return cpu_of("wc", "-l", str(file), times=3)


def scored(track: str, truth: Path, file: Path, *, way: str = FAST_PATH, **options: Any) -> dict[str, Any]:
    """Score a file in a new process, with `options` as in `measure.Options`.

    Return the lowest CPU time and wall time in seconds (`cpu`, `wall`) and the peak memory in bytes (`rss`).
    """
    found: dict[str, Any] = _measured(track, truth, file, options)
    if not found["way"].startswith(way):
        raise RuntimeError(f"{file} was scored in an unexpected way: {found['way']}")
    return found


def cpu_between(track: str, truths: tuple[Path, Path], file: Path, **options: Any) -> float:
    """Return the CPU time of scoring a file against one ground truth, divided by that against the other."""
    one, other = truths
    return float(_measured(track, one, file, options, other))


def _measured(track: str, truth: Path, file: Path, options: dict[str, Any], *other: Path) -> Any:
    words = ["-m", "tests.benchmarks.measure", track, truth, file, json.dumps(options, default=str), *other]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def cpu_of_scoring(track: str, truth: Path, file: Path, **options: Any) -> float:
    """Score a file in a new process as `scored` does, and return the lowest CPU time in seconds."""
    return float(scored(track, truth, file, **options)["cpu"])
