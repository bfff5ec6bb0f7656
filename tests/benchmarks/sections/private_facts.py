"""The rows of the section Privacy: the cost of scoring against ground truths that differ in one secret annotation."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from evaluator.scoring import prepare
from tests.benchmarks.hostile_files import of_labels, of_pairs, written
from tests.benchmarks.rows import FOLDER, Goal, Row, alternating, ratio
from tests.benchmarks.scored_files import (
    CLASSIFICATION,
    DETECTION,
    FAST_PATH,
    REFERENCE,
    RELATIONSHIPS,
    cpu_between,
    scored,
)
from tests.evaluator.private_objects import CASES

REFERENCE_PREDICTIONS = 100_000


class Pair(NamedTuple):
    """Two ground truths that differ in one secret annotation, and how a hostile file is scored against them."""

    track: str
    truths: tuple[Path, Path]
    file: Path
    options: dict[str, Any]
    way: str = FAST_PATH

    def cpu(self) -> float:
        return cpu_between(self.track, self.truths, self.file, **self.options)

    def rss(self, truth: Path) -> float:
        return float(scored(self.track, truth, self.file, way=self.way, times=1, **self.options)["rss"])


def private_facts() -> Iterator[Row]:
    """Score hostile files against pairs of ground truths that differ in a single annotation, which is secret.

    A large difference in cost would reveal the annotation. The table rows show the largest ratios of CPU time and of
    peak memory among all pairs.
    """
    folder = FOLDER / "facts"
    folder.mkdir(exist_ok=True)
    cpu, rss = {}, {}
    for fact, pair in (on_fast_path(folder) | on_reference_path(folder / "reference")).items():
        cpu[fact] = pair.cpu()
        one, other = (partial(pair.rss, truth) for truth in pair.truths)
        rss[fact] = ratio(*alternating(one, other, rounds=3))
    for found, name in ((cpu, "CPU"), (rss, "peak RSS")):
        largest = {fact: max(value, 1 / value) for fact, value in found.items()}
        fact = max(largest, key=largest.__getitem__)
        goal = Goal(f"truths that differ in one private fact: {name}, larger / smaller", 1.05, 1.02)
        yield goal.met_by(largest[fact], fact)


def on_fast_path(folder: Path) -> dict[str, Pair]:
    """Return pairs that kernels score, without and with bootstrap replicates and explanations, keyed by name."""
    replicates = {"replicates": 1_000, "draws": folder / "draws"}
    found = {}
    tracks = {
        DETECTION: written(folder),
        RELATIONSHIPS: of_pairs(folder / "pairs"),
        CLASSIFICATION: of_labels(folder / "labels"),
    }
    for track, files in tracks.items():
        for name, (one, other, file) in files.items():
            found[name] = Pair(track, (one, other), file, {})
            found[f"{name}, 1,000 replicates"] = Pair(track, (one, other), file, replicates)
            if track != CLASSIFICATION:
                found[f"{name}, explained"] = Pair(track, (one, other), file, {"explained": True})
    return found


def on_reference_path(folder: Path) -> dict[str, Pair]:
    """Return pairs that the reference implementation scores, keyed by name. They differ in one object."""
    found = {}
    for name, case in CASES.items():
        one, other = (path.with_suffix(".podium") for path in case.truths(folder / name))
        for prepared in (one, other):
            prepare(case.track, prepared.with_suffix(""), prepared, parameters=case.parameters)
        submission = case.submission(folder / name / "submission.csv", REFERENCE_PREDICTIONS)
        options = {"parameters": case.parameters}
        found[f"{name}, reference path"] = Pair(case.track, (one, other), submission, options, REFERENCE)
    return found
