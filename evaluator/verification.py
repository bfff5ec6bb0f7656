"""Compares the results of a phase with its ground truth and, if they are available, with the submitted files."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evaluator.bundle.truths import usage_file
from evaluator.catalog import TRACKS
from evaluator.problems import InvalidParameters, InvalidSubmission, visible
from evaluator.request import Resources, ScoringRequest, TruthOptions
from evaluator.results import InvalidResults, Results
from evaluator.scoring import prepare, score
from evaluator.signature import compose
from evaluator.truth import Truth


@dataclass(slots=True)
class ScoreCheck:
    """The result of rescoring the submissions on a leaderboard.

    ``compared`` is the number of entries whose file is available. ``missing`` names each entry without a file, and
    ``problems`` contains a message for each entry whose scores differ.
    """

    compared: int = 0
    missing: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@contextmanager
def prepared_truth(results: Results, truth: Path, opening: TruthOptions) -> Iterator[Path]:
    """Prepare a ground truth folder with the settings in exported results, and yield the path of the prepared file.

    If ``truth`` is already a prepared file, yield its path. If neither the folder nor ``opening`` has a usage file, the
    images are split with the public share in the results and the seed in ``opening``, by default 0.

    Raises
    ------
    InvalidResults
        If this version of the evaluator does not have the track, or does not accept its parameters.
    InvalidTruth
        If the ground truth folder has faults.
    """
    if results.track not in TRACKS:
        raise InvalidResults(f"this version of podium has no track {visible(results.track)}")
    if truth.is_file():
        yield truth
        return
    if not usage_file(truth, opening.usage) and results.public_share < 1:
        opening = replace(opening, split=(results.public_share, opening.split[1] if opening.split else 0))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "truth.podium"
        with _settings():
            prepare(results.track, truth, path, parameters=results.parameters, opening=opening)
        yield path


@contextmanager
def _settings() -> Iterator[None]:
    try:
        yield
    except InvalidParameters as error:
        raise InvalidResults(f"the settings in the results cannot be used: {error}") from None


def truth_problems(results: Results, prepared: Path) -> list[str]:
    """Return a list with a message if a ground truth, or the usage of its images, differs from that in the results."""
    truth = Truth.load(prepared)
    if truth.sha256 != results.truth_sha256:
        return [
            f"the results belong to the ground truth {results.truth_sha256}, but this is {truth.sha256}: it is a "
            f"different version, or a file such as salt.txt or usage.csv is missing"
        ]
    if results.usage_hash is not None and truth.usage_hash != results.usage_hash:
        return ["the usage of the images differs from that in the results"]
    return []


def score_problems(results: Results, prepared: Path, files: Path, resources: Resources) -> ScoreCheck:
    """Rescore the files in a folder, and compare the scores with the exported results.

    A file belongs to all leaderboard entries that contain its sha256. Files without an entry are ignored.

    Raises
    ------
    InvalidResults
        If another version of the evaluator computed the scores.
    """
    _require_same_version(results, prepared)
    paths = _by_sha256(files)
    found, reports = ScoreCheck(), dict[Path, Mapping[str, Any] | None]()
    for board in results.boards:
        for entry in board.entries:
            name = f"{board.split}: the team “{visible(entry.team)}”"
            path = paths.get(entry.submission_sha256 or "")
            if path is None:
                found.missing.append(name)
                continue
            if path not in reports:
                reports[path] = _scores(results, prepared, path, resources)
            found.compared += 1
            scores = reports[path]
            if scores is None:
                found.problems.append(f"{name}: its file {visible(path.name)} has defects and no score")
            elif scores.get(board.split) != {**entry.scores} or not _has_headline(results, entry.score, entry.scores):
                found.problems.append(f"{name}: its file {visible(path.name)} has different scores")
    return found


def _require_same_version(results: Results, prepared: Path) -> None:
    track = TRACKS[results.track]
    with _settings():
        own = compose(track, track.resolve(results.parameters), Truth.load(prepared).sha256)
    if own != results.signature:
        raise InvalidResults(
            f"the scores cannot be recomputed: their signature is {visible(results.signature)}, but this version "
            f"of podium computes {own}"
        )


def _has_headline(results: Results, score: float, scores: Mapping[str, Any]) -> bool:
    return bool(scores.get(TRACKS[results.track].headline) == score)


def _scores(results: Results, prepared: Path, path: Path, resources: Resources) -> dict[str, Any] | None:
    """Return the scores of a file, keyed by split and metric, or None if the file has defects.

    The scores are rounded to the same number of decimals as the scores in the exported results.
    """
    request = ScoringRequest(results.track, prepared, path, parameters=results.parameters, resources=resources)
    try:
        report = score(request)
    except InvalidSubmission:
        return None
    return {
        split: {name: _rounded(value, results.decimals) for name, value in found.metrics.items()}
        for split, found in report.splits.items()
    }


def _rounded(value: float | None, decimals: int | None) -> float | None:
    return value if value is None or decimals is None else round(value, decimals)


def _by_sha256(folder: Path) -> dict[str, Path]:
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                found[file_digest(file, "sha256").hexdigest()] = path
    return found
