"""The rows of the section Privacy: the cost of scoring against ground truths that differ in one secret annotation."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from evaluator.scoring import prepare
from tests.benchmarks.hostile_files import of_labels, of_pairs, written
from tests.benchmarks.rows import FOLDER, ROUNDS, Goal, Row, ratio
from tests.benchmarks.scored_files import CLASSIFICATION, DETECTION, REFERENCE, RELATIONSHIPS, scored
from tests.evaluator.private_objects import CASES

REFERENCE_PREDICTIONS = 300_000


def private_facts() -> Iterator[Row]:
    """Score hostile files against pairs of ground truths that differ in a single annotation, which is secret.

    A large difference in cost would reveal the annotation. The table rows show the largest ratios of CPU time and of
    peak memory among all pairs.
    """
    folder = FOLDER / "facts"
    folder.mkdir(exist_ok=True)
    cpu, rss = {}, {}
    fast = {}
    tracks = {
        DETECTION: written(folder),
        RELATIONSHIPS: of_pairs(folder / "pairs"),
        CLASSIFICATION: of_labels(folder / "labels"),
    }
    for track, files in tracks.items():
        for name, paths in files.items():
            fast[name] = partial(scored, track), *paths
            kept = folder / "draws"
            fast[f"{name}, 1,000 replicates"] = partial(scored, track, times=2, replicates=1_000, draws=kept), *paths
    for fact, (run, one, other, file) in (fast | on_reference_path(folder / "reference")).items():
        rounds = [(run(one, file), run(other, file)) for _ in range(ROUNDS)]
        for found, name in ((cpu, "cpu"), (rss, "rss")):
            between = ratio([first[name] for first, _ in rounds], [second[name] for _, second in rounds])
            found[fact] = max(between, 1 / between)
    for found, name in ((cpu, "CPU"), (rss, "peak RSS")):
        fact = max(found, key=found.__getitem__)
        goal = Goal(f"truths that differ in one private fact: {name}, larger / smaller", 1.05, 1.02)
        yield goal.met_by(found[fact], fact)


def on_reference_path(folder: Path) -> dict[str, tuple[Callable[..., dict[str, Any]], Path, Path, Path]]:
    """Return test cases that are scored by the reference implementation, keyed by name.

    A test case consists of a function that scores a file, two ground truths that differ in one object, and the file.
    """
    found = {}
    for name, case in CASES.items():
        truths = [path.with_suffix(".podium") for path in case.truths(folder / name)]
        for prepared in truths:
            prepare(case.track, prepared.with_suffix(""), prepared, parameters=case.parameters)
        submission = case.submission(folder / name / "submission.csv", REFERENCE_PREDICTIONS)
        run = partial(scored, case.track, times=1, parameters=case.parameters, way=REFERENCE)
        found[f"{name}, reference path"] = run, *truths, submission
    return found
