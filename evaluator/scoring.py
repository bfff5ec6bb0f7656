"""The front door: check, score, prepare."""

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from evaluator import __version__, kernels
from evaluator.bootstrap import Bootstrap, with_intervals
from evaluator.catalog import TRACKS, Limits
from evaluator.files.source import Source
from evaluator.problems import Findings, InvalidParameters, InvalidSubmission
from evaluator.report import READABLE, SMALL, STREAMED, Report
from evaluator.signature import compose
from evaluator.tracks import contest_of
from evaluator.tracks.contest import Contest, Outcome, ReadableWay, Streaming
from evaluator.tracks.folders import Split, open_truth
from evaluator.truth import Truth

Progress = Callable[[str, float], None]
SMALL_BYTES = 1 << 20  # read and scored in a third of the second that loading the kernels takes


def silent(stage: str, fraction: float) -> None:
    """Report progress to nobody."""


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
    bootstrap: int = 0,
    seed: int = 0,
    draws: Path | None = None,
    curves: bool = False,
    explain: bool = False,
    verify: bool = False,
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
        Share of public images and seed, instead of a usage file. The seed is not read where the truth has a salt.
    limits : Limits, optional
    threads : int
        How many cores to use; any number gives the same report to the last bit.
    progress : callable
        Gets a stage (``checking``, ``matching``, ``scoring``, ``bootstrapping``; once on a machine where nobody has
        compiled the kernels also ``compiling``) and the fraction of it that is done.
    bootstrap : int
        How many replicates to draw for intervals; 0 for none.
    seed : int
        Of the replicates, from 0. Submissions scored with one seed share their draws.
    draws : Path, optional
        Folder where the drawn weights are kept for other submissions against the same truth: 1 byte an image and
        replicate for each split. Without it they are drawn in memory, the same ones.
    curves : bool
        Whether the report gets precision/recall curves.
    explain : bool
        Whether it gets tables of errors and what became of each prediction; always by the readable way.
    verify : bool
        Whether all of a prepared truth is compared with its checksums first; see :meth:`Truth.load`.

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
    DamagedTruth, InvalidParameters
    """
    contest, intervals = contest_of(track), Bootstrap(bootstrap, seed, draws, threads)
    if explain and not contest.explaining:
        raise InvalidParameters(f"{track}: scores of this track are not explained")
    if bootstrap and not contest.track.intervals:
        raise InvalidParameters(f"{track}: scores of this track have no intervals; leave bootstrap out")
    resolved = contest.track.resolve(parameters or {})
    opened = open_truth(contest, truth, resolved, usage=usage, split=split, verify=verify)
    signature = compose(contest.track, resolved, opened.sha256)
    limits = limits or Limits()
    findings = Findings(most=limits.defects)
    keeps_images = curves or bootstrap > 0
    source = Streaming(submission, limits, threads, progress or silent, keeps_images, explain)
    outcome, way = scored(contest, opened, source, resolved, findings)
    splits = outcome.splits
    if bootstrap:
        kernels.compile_once(source.progress)
        splits = with_intervals(opened, outcome, intervals, source.progress)
    drawn = {name: outcome.curves(name) for name in splits} if curves else {}
    opened.check_unchanged()
    made = way, drawn, outcome.matches, findings.truth_notices
    return Report(track, signature, resolved, splits, findings.notices, *made)


def scored(
    contest: Contest, truth: Truth, submission: Streaming, parameters: Mapping[str, Any], findings: Findings
) -> tuple[Outcome, str]:
    """Score by kernels, or else the readable way; tell which it was.

    Raises
    ------
    InvalidSubmission
    """
    try:
        return streamed(contest, truth, submission, parameters, findings), STREAMED
    except ReadableWay as reason:
        way = f"{READABLE}: {reason}" if contest.streaming else READABLE
    limits, progress = submission.limits, submission.progress
    read = _read(contest, submission.path, truth, parameters, limits=limits, findings=findings, progress=progress)
    if findings.total:
        raise InvalidSubmission(findings)
    outcome = contest.evaluate(truth, read, parameters, progress)
    if submission.explains:
        outcome = import_module(contest.explaining).explained(truth, read, parameters, outcome)
    return outcome, way


def streamed(
    contest: Contest, truth: Truth, submission: Streaming, parameters: Mapping[str, Any], findings: Findings
) -> Outcome:
    """Score by kernels.

    Raises
    ------
    ReadableWay
        Where there are none, or they cannot, or loading them would take longer than the readable way takes.
    """
    if not contest.streaming:
        raise ReadableWay
    if submission.explains:
        raise ReadableWay("an explanation")
    if contest.streaming not in sys.modules:
        if submission.path.stat().st_size < SMALL_BYTES:
            raise ReadableWay(SMALL)
        kernels.compile_once(submission.progress)
    outcome: Outcome = import_module(contest.streaming).stream(truth, submission, parameters, findings)
    return outcome


def load_kernels() -> None:
    """Load the machine code of every track and of the bootstrap: for a process that lives long."""
    kernels.load(silent)
    for name in filter(None, (contest_of(track).streaming for track in TRACKS)):
        import_module(name)


def check(
    track: str,
    submission: Path,
    *,
    truth: Path | None = None,
    parameters: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Findings:
    """Return every defect of a submission.

    Without a truth only the form is checked; with one, ids and labels too, and then the findings are those of
    :func:`score`: what the kernels can score has no defect, and they score it sooner than the readable way reads it.
    """
    contest = contest_of(track)
    resolved = contest.track.resolve(parameters or {})
    opened = open_truth(contest, truth, resolved) if truth is not None else None
    limits = limits or Limits()
    findings = Findings(most=limits.defects)
    if opened is not None:
        with suppress(ReadableWay):
            streaming = Streaming(submission, limits, threads, progress or silent)
            streamed(contest, opened, streaming, resolved, findings)
            return findings
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
    salt: Path | None = None,
    hidden: bool = False,
) -> dict[str, Any]:
    """Check and compile a truth folder into one file, and return what it is.

    ``warnings`` lists what can be scored but was probably not intended, the first 20 of each code; ``warning_counts``
    has the number of each code.

    ``hidden`` also refuses what would reveal answers to the participants of a contest: caption ids that name their
    image, and segmentation without the sizes of all images.

    ``salt`` is a ``salt.txt`` that replaces the folder's; the prepared truth keeps it and is as secret as it.

    Raises
    ------
    InvalidTruth, InvalidParameters
    """
    contest = contest_of(track)
    resolved = contest.track.resolve(parameters or {})
    truth = open_truth(contest, folder, resolved, usage=usage, split=split, salt=salt, hidden=hidden)
    truth.save(out)
    return {
        "track": track,
        "sha256": truth.sha256,
        "signature": compose(contest.track, resolved, truth.sha256),
        "images": len(truth.texts["images"]),
        "splits": {name: int(chosen.sum()) for name, chosen in truth.splits.items()},
        "parameters": resolved,
        "evaluator": __version__,
        "warnings": [problem.as_dict() for problem in truth.warnings.errors],
        "warning_counts": truth.warnings.counts,
    }


def sample(track: str, truth: Path, out: Path) -> None:
    """Write a submission that names everything and predicts nothing: a form to fill in."""
    contest = contest_of(track)
    out.write_text(contest.blank(open_truth(contest, truth, None)), encoding="utf-8")


def candidates(track: str, truth: Path, out: Path) -> None:
    """Write what a submission chooses from, in an order that reveals nothing; only for tracks that declare it."""
    contest = contest_of(track)
    out.write_text(contest.candidates(open_truth(contest, truth, None)), encoding="utf-8")


def ceiling(track: str, truth: Path, out: Path, *, parameters: Mapping[str, Any] | None = None) -> None:
    """Write the best submission that there can be: the truth itself."""
    contest = contest_of(track)
    resolved = contest.track.resolve(parameters or {})
    text = contest.ceiling(open_truth(contest, truth, resolved), resolved)
    out.write_text(text, encoding="utf-8")


def _read(
    contest: Contest,
    submission: Path,
    truth: Truth | None,
    parameters: Mapping[str, Any],
    *,
    limits: Limits,
    findings: Findings,
    progress: Progress | None,
) -> Any:
    tell = progress or silent
    source = Source(submission, limits, findings, lambda fraction: tell("checking", fraction))
    return contest.read(source, truth, parameters)
