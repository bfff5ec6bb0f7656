"""The main functions of the evaluator: they score and check submissions, and prepare ground truths."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

from evaluator import __version__, kernels
from evaluator.bootstrap import with_intervals
from evaluator.catalog import TRACKS, Limits, Track
from evaluator.files.source import Source
from evaluator.kit import Kit
from evaluator.problems import Findings, InvalidParameters, InvalidSubmission
from evaluator.report import CurveRow, MatchTable, ReferenceNeeded, Report
from evaluator.request import Progress, ReportOptions, Resources, ScoringRequest, TruthOptions, silent
from evaluator.signature import compose
from evaluator.tracks import describer_of, explainer_of, fast_path_for, fast_path_of, scorer_of
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
from evaluator.truth_statistics import Statistics


class TruthSummary(TypedDict):
    """The properties of a prepared ground truth that ``podium prepare`` prints.

    ``warnings`` lists data that can be scored but was probably not intended, with at most 20 warnings of each code.
    ``warning_counts`` maps each code to the number of warnings.
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
    """Score a submission and return the report.

    Returns
    -------
    Report
        The report does not depend on the order of the rows in the submission or on the file layout.

    Raises
    ------
    InvalidSubmission
        If the submission has defects. The exception contains them.
    InvalidTruth
        If the ground truth has faults. The exception contains them.
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
        matches=(request.report.matches and outcome.matches) or MatchTable(),
        truth_notices=findings.truth_notices,
    )


def _require_available(track: Track, report: ReportOptions) -> None:
    if report.explains and not track.modules.explanation:
        raise InvalidParameters(f"{track.name}: this track does not support explanations")
    if report.bootstrap and not track.intervals:
        raise InvalidParameters(f"{track.name}: this track does not support confidence intervals; omit the bootstrap")


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
    """Score a submission. Return the scores, and the reason for not using the compiled kernels, or None."""
    fast = score_by_fast_path(scorer.track, truth, request, parameters, findings)
    if isinstance(fast, Outcome):
        _reject(findings, request)
        return fast, None
    has_kernels = fast is not ReferenceNeeded.NO_FAST_PATH
    resources = request.resources.for_reference(request.submission, findings) if has_kernels else request.resources
    submission = _read(scorer, request.submission, truth, parameters, resources, findings)
    _reject(findings, request)
    evaluate = explainer_of(scorer.track).explain if request.report.explains else scorer.evaluate
    return evaluate(truth, submission, parameters, resources.progress), fast


def _reject(findings: Findings, request: ScoringRequest) -> None:
    """Raise InvalidSubmission if any defects were found in the submission."""
    if request.rejects_nothing_to_score:
        findings.reject_if_nothing_to_score()
    if findings.total:
        raise InvalidSubmission(findings)


def score_by_fast_path(
    track: Track, truth: Truth, request: ScoringRequest, parameters: object, findings: Findings
) -> Outcome | ReferenceNeeded:
    """Score a submission with the track's compiled kernels. Return the scores, or the reason for not using them."""
    if not track.modules.fast_path:
        return ReferenceNeeded.NO_FAST_PATH
    fast = fast_path_for(track, request.submission, request.resources.progress)
    return fast.score(truth, request, parameters, findings) if fast else ReferenceNeeded.SMALL_FILE


def load_kernels(progress: Progress = silent) -> None:
    """Load all kernels; compile them first if needed, which calls ``progress`` as in :func:`kernels.compile_once`."""
    kernels.compile_once(progress)
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
    """Check a submission, and return its defects and notices.

    Without a ground truth, only the file format is checked. With a ground truth, ids and labels are checked too, so the
    findings are the same as those of :func:`score`.
    """
    scorer, resources = scorer_of(track), resources or Resources()
    resolved, findings = scorer.track.resolve(parameters or {}), Findings(most=resources.limits.defects)
    opened = None if truth is None else open_truth(scorer, truth, resolved)
    _read(scorer, submission, opened, scorer.parameters_of(resolved), resources, findings)
    return findings


def check_with_kit(
    kit: Kit, submission: Path, *, force: bool = False, threads: int = 1, progress: Progress = silent
) -> Findings:
    """Return all defects and notices that a participant would see after uploading a submission.

    The parameters and limits are those in the check kit, a file that participants download. If ``force`` is true, a
    file in which no prediction can increase the score is accepted. Uploads have the same option.
    """
    scorer, findings = scorer_of(kit.track.name), Findings(most=kit.limits.defects)
    truth, parameters = scorer.truth_of(kit.truth), scorer.parameters_of(kit.parameters)
    resources = Resources(kit.limits, threads, progress)
    # If the compiled kernels can read a file, it has no defects. Any other file is checked in detail. A check kit (a
    # file for checking submissions locally) contains only the public part of the ground truth, so the kernels receive
    # no annotations here.
    fast = fast_path_for(scorer.track, submission, progress)
    if fast is None or fast.check(truth, submission, parameters, resources, findings) is not None:
        _read(scorer, submission, truth, parameters, resources, findings)
    if not force:
        findings.reject_if_nothing_to_score()
    return replace(findings, truth_notices=[])


def _read(
    scorer: Scorer[TruthType, ParametersType, SubmissionType],
    submission: Path,
    truth: TruthType | None,
    parameters: ParametersType,
    resources: Resources,
    findings: Findings,
) -> SubmissionType:
    progress = partial(resources.progress, "checking")
    source = Source(submission, resources.limits, findings, progress, resources.temporary_folder)
    return scorer.read(source, truth, parameters)


def prepare(
    track: str,
    folder: Path,
    out: Path,
    *,
    parameters: Mapping[str, Any] | None = None,
    opening: TruthOptions | None = None,
) -> TruthSummary:
    """Check a ground truth folder, compile it into one file, and return its properties.

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
    """Write the template submission for a ground truth. It contains every image and no predictions."""
    scorer = scorer_of(track)
    out.write_text(scorer.template(open_truth(scorer, truth)), encoding="utf-8")


def candidates(track: str, truth: Path, out: Path) -> None:
    """Write the list of candidates: all possible answers, in shuffled order.

    Only tracks that declare ``gives_candidates`` have such a list.

    Raises
    ------
    InvalidParameters
    """
    scorer = scorer_of(track)
    if not isinstance(scorer, GivesCandidates):
        raise InvalidParameters(f"{track}: this track has no candidates")
    out.write_text(scorer.candidates(open_truth(scorer, truth)), encoding="utf-8")


def write_kit(
    track: str,
    truth: Path,
    out: Path,
    *,
    parameters: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    opening: TruthOptions | None = None,
) -> None:
    """Write a check kit, which participants use to check submissions. ``limits`` are the server's limits on uploads.

    Raises
    ------
    InvalidTruth, DamagedTruth, InvalidParameters, PreparedOtherwise
    """
    scorer = scorer_of(track)
    resolved = scorer.track.resolve(parameters or {})
    opened = open_truth(scorer, truth, resolved, opening)
    Kit.of(scorer.track, opened, resolved, limits or Limits()).save(out)


def ceiling(track: str, truth: Path, out: Path, *, parameters: Mapping[str, Any] | None = None) -> None:
    """Write the best possible submission for a ground truth, which predicts exactly the ground truth."""
    scorer = scorer_of(track)
    resolved = scorer.track.resolve(parameters or {})
    opened = open_truth(scorer, truth, resolved)
    out.write_text(scorer.ceiling(opened, scorer.parameters_of(resolved)), encoding="utf-8")


def statistics(track: str, truth: Path, *, opening: TruthOptions | None = None) -> dict[str, Any]:
    """Return statistics of a ground truth for organizers as a JSON-serializable dict.

    Its item ``usage_hash`` is a hash of the usage (public, private or ignored) of all images.
    """
    scorer = scorer_of(track)
    opened = open_truth(scorer, truth, opening=opening)
    found, describer = Statistics(opened), describer_of(scorer.track)
    if describer is not None:
        describer.describe(opened, found)
    return {"track": track, "sha256": opened.sha256, "usage_hash": opened.usage_hash, **found.as_dict()}
