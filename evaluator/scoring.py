"""Entry points of the evaluator: score, check, prepare, and the files that are written from a truth."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from evaluator import __version__, kernels
from evaluator.bootstrap import with_intervals
from evaluator.catalog import TRACKS, Track
from evaluator.files.source import Source
from evaluator.problems import Findings, InvalidParameters, InvalidSubmission
from evaluator.report import CurveRow, MatchTable, ReferenceNeeded, Report
from evaluator.request import ReportOptions, Resources, ScoringRequest, TruthOptions, silent
from evaluator.signature import compose
from evaluator.tracks import explainer_of, fast_path_is_loaded, fast_path_of, scorer_of
from evaluator.tracks.compiling import open_truth
from evaluator.tracks.interface import (
    GivesCandidates,
    Outcome,
    ParametersType,
    Scorer,
    Splits,
    SubmissionType,
    TruthType,
)
from evaluator.truth import Truth

SMALL_BYTES = 1 << 20  # Loading the kernels takes longer than scoring such a file without them.


class TruthSummary(TypedDict):
    """Properties of a prepared truth, as ``podium prepare`` prints them.

    ``warnings`` lists what can be scored but was probably not intended, the first 20 of each code; ``warning_counts``
    has the number of each code.
    """

    track: str
    sha256: str
    signature: str
    images: int
    splits: dict[str, int]
    parameters: dict[str, Any]
    evaluator: str
    warnings: list[dict[str, Any]]
    warning_counts: dict[str, int]


def score(request: ScoringRequest) -> Report:
    """Score a submission.

    Returns
    -------
    Report
                Does not depend, to the last bit, on the order of the submission's rows or on its shape.

    Raises
    ------
    InvalidSubmission
        With every defect of the file.
    InvalidTruth
        With every fault of the truth.
    DamagedTruth, InvalidParameters
    """
    scorer = scorer_of(request.track)
    _require_available(scorer.track, request.report)
    resolved = scorer.track.resolve(request.parameters)
    truth = open_truth(scorer, request.truth, resolved, request.opening)
    findings = Findings(most=request.resources.limits.defects)
    outcome, reference = _evaluated(scorer, truth, request, scorer.parameters_of(resolved), findings)
    splits = _with_intervals(truth, outcome, request)
    truth.check_unchanged()
    return Report(
        track=request.track,
        signature=compose(scorer.track, resolved, truth.sha256),
        parameters=resolved,
        splits=splits,
        notices=findings.notices,
        reference=reference,
        curves=_curves(outcome) if request.report.curves else {},
        matches=outcome.matches or MatchTable(),
        truth_notices=findings.truth_notices,
    )


def _require_available(track: Track, report: ReportOptions) -> None:
    if report.explanation and not track.modules.explanation:
        raise InvalidParameters(f"{track.name}: scores of this track are not explained")
    if report.bootstrap and not track.intervals:
        raise InvalidParameters(f"{track.name}: scores of this track have no intervals; remove the bootstrap")


def _with_intervals(truth: Truth, outcome: Outcome, request: ScoringRequest) -> Splits:
    if request.report.bootstrap is None:
        return outcome.splits
    kernels.compile_once(request.resources.progress)
    return with_intervals(truth, outcome, request.report.bootstrap, request.resources)


def _curves(outcome: Outcome) -> dict[str, list[CurveRow]]:
    return {name: outcome.curves(name) if outcome.curves else [] for name in outcome.splits}


def _evaluated(
    scorer: Scorer[TruthType, ParametersType, SubmissionType],
    truth: TruthType,
    request: ScoringRequest,
    parameters: ParametersType,
    findings: Findings,
) -> tuple[Outcome, ReferenceNeeded | None]:
    """Score by the fast path or else by the reference implementation; return the outcome, and the reason or None.

    Raises
    ------
    InvalidSubmission
    """
    fast = score_by_fast_path(scorer.track, truth, request, parameters, findings)
    if isinstance(fast, Outcome):
        return fast, None
    submission = _read(scorer, request.submission, truth, parameters, request.resources, findings)
    if findings.total:
        raise InvalidSubmission(findings)
    evaluate = explainer_of(scorer.track).explain if request.report.explanation else scorer.evaluate
    return evaluate(truth, submission, parameters, request.resources.progress), fast


def score_by_fast_path(
    track: Track, truth: Truth, request: ScoringRequest, parameters: object, findings: Findings
) -> Outcome | ReferenceNeeded:
    """Score by the fast path of a track, or return why that is not possible or would take longer."""
    if not track.modules.fast_path:
        return ReferenceNeeded.NO_FAST_PATH
    if request.report.explanation:
        return ReferenceNeeded.EXPLANATION
    if not fast_path_is_loaded(track):
        if request.submission.stat().st_size < SMALL_BYTES:
            return ReferenceNeeded.SMALL_FILE
        kernels.compile_once(request.resources.progress)
    return fast_path_of(track).score(truth, request, parameters, findings)


def load_kernels() -> None:
    """Load the machine code of every track and of the bootstrap, for a long-running process."""
    kernels.load(silent)
    for track in TRACKS.values():
        if track.modules.fast_path:
            fast_path_of(track)


def check(
    track: str,
    submission: Path,
    *,
    truth: Path | None = None,
    parameters: Mapping[str, Any] | None = None,
    resources: Resources | None = None,
) -> Findings:
    """Return every defect of a submission.

    Without a truth, only the file format is checked. With one, ids and labels are checked too, and the findings are
    those of :func:`score`. The fast path is tried first: a file that it can score has no defect, and scoring by the
    fast path takes less time than reading by the reference implementation.
    """
    scorer, resources = scorer_of(track), resources or Resources()
    resolved, findings = scorer.track.resolve(parameters or {}), Findings(most=resources.limits.defects)
    typed, opened = scorer.parameters_of(resolved), None
    if truth is not None:
        opened = open_truth(scorer, truth, resolved)
        request = ScoringRequest(track, truth, submission, resolved, resources=resources)
        if isinstance(score_by_fast_path(scorer.track, opened, request, typed, findings), Outcome):
            return findings
    _read(scorer, submission, opened, typed, resources, findings)
    return findings


def _read(
    scorer: Scorer[TruthType, ParametersType, SubmissionType],
    submission: Path,
    truth: TruthType | None,
    parameters: ParametersType,
    resources: Resources,
    findings: Findings,
) -> SubmissionType:
    source = Source(submission, resources.limits, findings, lambda fraction: resources.progress("checking", fraction))
    return scorer.read(source, truth, parameters)


def prepare(
    track: str,
    folder: Path,
    out: Path,
    *,
    parameters: Mapping[str, Any] | None = None,
    opening: TruthOptions | None = None,
) -> TruthSummary:
    """Check a truth folder, compile it into one file, and return a summary of it.

    Raises
    ------
    InvalidTruth, InvalidParameters
    """
    scorer = scorer_of(track)
    resolved = scorer.track.resolve(parameters or {})
    truth = open_truth(scorer, folder, resolved, opening)
    truth.save(out)
    return {
        "track": track,
        "sha256": truth.sha256,
        "signature": compose(scorer.track, resolved, truth.sha256),
        "images": len(truth.images),
        "splits": {name: int(chosen.sum()) for name, chosen in truth.splits.items()},
        "parameters": resolved,
        "evaluator": __version__,
        "warnings": [problem.as_dict() for problem in truth.warnings.errors],
        "warning_counts": truth.warnings.counts,
    }


def template(track: str, truth: Path, out: Path) -> None:
    """Write the template submission of a truth: every image, and no predictions."""
    scorer = scorer_of(track)
    out.write_text(scorer.template(open_truth(scorer, truth)), encoding="utf-8")


def candidates(track: str, truth: Path, out: Path) -> None:
    """Write everything that a submission can choose from, in shuffled order; only for tracks with ``gives_candidates``.

    Raises
    ------
    InvalidParameters
    """
    scorer = scorer_of(track)
    if not isinstance(scorer, GivesCandidates):
        raise InvalidParameters(f"{track}: this track has no candidates")
    out.write_text(scorer.candidates(open_truth(scorer, truth)), encoding="utf-8")


def ceiling(track: str, truth: Path, out: Path, *, parameters: Mapping[str, Any] | None = None) -> None:
    """Write the best possible submission: the truth itself."""
    scorer = scorer_of(track)
    resolved = scorer.track.resolve(parameters or {})
    opened = open_truth(scorer, truth, resolved)
    out.write_text(scorer.ceiling(opened, scorer.parameters_of(resolved)), encoding="utf-8")
