"""The front door: check, score, prepare."""

import csv
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from evaluator import __version__
from evaluator.catalog import Limits
from evaluator.files.submission import Table, read
from evaluator.problems import Findings, InvalidParameters, InvalidSubmission, Problem
from evaluator.report import READABLE, SMALL, Report, SplitReport
from evaluator.signature import compose
from evaluator.tracks import CONTESTS
from evaluator.tracks.contest import Contest, ReadableWay, Streaming
from evaluator.truth import Truth, is_prepared

Progress = Callable[[str, float], None]
Split = tuple[float, int]
SMALL_BYTES = 1 << 20  # read and scored in a third of the second that loading the kernels takes


def silent(stage: str, fraction: float) -> None:
    """Report progress to nobody."""


def contest_of(track: str) -> Contest:
    """Return a track's implementation.

    Raises
    ------
    InvalidParameters
        With the names that there are.
    """
    if track not in CONTESTS:
        raise InvalidParameters(f"{track}: no such track; there are {', '.join(CONTESTS)}")
    return CONTESTS[track]


def score(
    track: str,
    truth: Path,
    submission: Path,
    *,
    parameters: Mapping[str, Any] | None = None,
    usage: Path | None = None,
    split: Split | None = None,
    limits: Limits | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Report:
    """Score a submission.

    Parameters
    ----------
    track : str
        Name of the track, such as ``openimages-detection``.
    truth : Path
        A truth folder, or the file that :func:`prepare` made of it.
    submission : Path
        CSV of either shape, gzipped or not.
    parameters : mapping, optional
        Those that differ from the track's defaults.
    usage : Path, optional
        A ``usage.csv`` that stands for the folder's.
    split : (float, int), optional
        Share of public images and seed, instead of a usage file.
    limits : Limits, optional
    threads : int
        How many cores to use; any number gives the same report to the last bit.
    progress : callable
        Gets a stage (``checking``, ``matching``, ``scoring``) and the fraction of it that is done.

    Returns
    -------
    Report
        The same to the last bit for any order of the submission's rows and for both of its shapes.

    Raises
    ------
    InvalidSubmission
        With every defect of the file.
    InvalidTruth
        With every fault of the truth.
    InvalidParameters
    """
    contest = contest_of(track)
    resolved = contest.track.resolve(parameters or {})
    opened = open_truth(contest, truth, resolved, usage=usage, split=split)
    signature = compose(contest.track, resolved, opened.sha256)
    findings = Findings()
    try:
        streaming = Streaming(submission, limits or Limits(), threads, progress or silent)
        splits = streamed(contest, opened, streaming, resolved, findings)
        return Report(track, signature, resolved, splits, findings.notices)
    except ReadableWay as reason:
        way = f"{READABLE}: {reason}"
    table = _read(contest, submission, opened, resolved, limits=limits, findings=findings, progress=progress)
    if findings.total:
        raise InvalidSubmission(findings)
    splits = contest.evaluate(opened, table, resolved, progress or silent)
    return Report(track, signature, resolved, splits, findings.notices, way)


def streamed(
    contest: Contest, truth: Truth, submission: Streaming, parameters: Mapping[str, Any], findings: Findings
) -> dict[str, SplitReport]:
    """Score by kernels.

    Raises
    ------
    ReadableWay
        Where they cannot, or where loading them would take longer than the readable way takes.
    """
    if contest.streaming not in sys.modules and submission.path.stat().st_size < SMALL_BYTES:
        raise ReadableWay(SMALL)
    splits: dict[str, SplitReport] = import_module(contest.streaming).stream(truth, submission, parameters, findings)
    return splits


def load_kernels() -> None:
    """Load the machine code of every track: for a process that lives long."""
    for contest in CONTESTS.values():
        import_module(contest.streaming)


def check(
    track: str,
    submission: Path,
    *,
    truth: Path | None = None,
    parameters: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Findings:
    """Return every defect of a submission, without scoring it.

    Without a truth only the form is checked; with one, ids and labels too, and then the findings are those of
    :func:`score`.
    """
    contest = contest_of(track)
    resolved = contest.track.resolve(parameters or {})
    opened = open_truth(contest, truth, resolved) if truth is not None else None
    findings = Findings()
    _read(contest, submission, opened, resolved, limits=limits, findings=findings, progress=progress)
    return findings


def prepare(
    track: str,
    folder: Path,
    out: Path,
    *,
    parameters: Mapping[str, Any] | None = None,
    usage: Path | None = None,
    split: Split | None = None,
) -> dict[str, Any]:
    """Check and compile a truth folder into one file, and say what it is.

    Raises
    ------
    InvalidTruth, InvalidParameters
    """
    contest = contest_of(track)
    resolved = contest.track.resolve(parameters or {})
    truth = open_truth(contest, folder, resolved, usage=usage, split=split)
    truth.save(out)
    return {
        "track": track,
        "sha256": truth.sha256,
        "signature": compose(contest.track, resolved, truth.sha256),
        "images": len(truth.texts["images"]),
        "splits": {name: int(chosen.sum()) for name, chosen in truth.splits.items()},
        "parameters": resolved,
        "evaluator": __version__,
    }


def sample(track: str, truth: Path, out: Path) -> None:
    """Write a submission that names every image of the truth and predicts nothing: a form to fill in."""
    contest = contest_of(track)
    opened = open_truth(contest, truth, None)
    with out.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(contest.track.kaggle_header)
        rows.writerows((image, "") for image in opened.texts["images"])


def open_truth(
    contest: Contest,
    path: Path,
    parameters: Mapping[str, Any] | None,
    *,
    usage: Path | None = None,
    split: Split | None = None,
) -> Truth:
    """Load a prepared truth, or compile a folder.

    ``parameters`` None takes a prepared truth as it is.

    Raises
    ------
    InvalidTruth, InvalidParameters
    """
    if is_prepared(path):
        return _loaded(contest, path, parameters, fixed=usage is not None or split is not None)
    resolved = contest.track.resolve({}) if parameters is None else parameters
    folders = import_module("evaluator.tracks.folders")
    compiled: Truth = folders.compile_folder(contest.track, path, resolved, usage=usage, split=split)
    return compiled


def _loaded(contest: Contest, path: Path, parameters: Mapping[str, Any] | None, *, fixed: bool) -> Truth:
    truth = Truth.load(path)
    if truth.track != contest.track.name:
        raise InvalidParameters(f"this truth was prepared for {truth.track}, not for {contest.track.name}")
    if fixed:
        raise InvalidParameters("a prepared truth holds its usage already; prepare it again with the other one")
    for name, value in truth.parameters.items():
        if parameters is not None and parameters[name] != value:
            raise InvalidParameters(f"this truth was prepared with {name}={value}; prepare it again for another value")
    return truth


def _read(
    contest: Contest,
    submission: Path,
    truth: Truth | None,
    parameters: Mapping[str, Any],
    *,
    limits: Limits | None,
    findings: Findings,
    progress: Progress | None,
) -> Table:
    tell = progress or silent
    table = read(
        submission,
        contest.track,
        vocabularies=contest.vocabularies(truth) if truth else {},
        limits=limits or Limits(),
        findings=findings,
        progress=lambda fraction: tell("checking", fraction),
    )
    if findings.total:
        return table
    if truth is not None and parameters.get("require_all_images"):
        _require_all_images(truth, table, findings)
    contest.inspect(table, findings)
    return table


def _require_all_images(truth: Truth, table: Table, findings: Findings) -> None:
    for code, image in enumerate(truth.texts["images"]):
        if code not in table.named:
            message = f"image {image} has no row; every image of the test set must have one"
            findings.add(Problem("missing_image", message, image=image))
