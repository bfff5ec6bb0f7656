"""Scores a submission with the evaluator, with the options and limits of the job that a worker has claimed."""

import json
import zlib
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings

from evaluator import scoring
from evaluator.explanation import explanation
from evaluator.problems import InvalidTruth
from evaluator.report import Report
from evaluator.request import Bootstrap, Progress, ReportOptions, Resources, ScoringRequest, TruthOptions
from server.challenges.models import Truth
from server.submissions.limits import file_limits
from server.submissions.models import Rerun, Submission
from server.submissions.services.evaluations import SEED
from worker import limits, storage_check
from worker.truth_cache import draws_folder, local_truth
from worker.truths import with_usable_truth
from worker.uploads import local_upload


def score(
    submission: Submission, truth: Truth, options: ReportOptions, progress: Progress, *, first: bool = False
) -> Report:
    """Score the file of a submission against a ground truth, within the limits on CPU time and memory.

    `first` is false if the submission is only scored again for intervals or an explanation. If `first` is true, a file
    in which no prediction could be a hit is rejected, unless the participant has chosen to submit it anyway.

    If the prepared ground truth cannot be used, it is restored first. The limits do not apply to the restoration.
    Raises Unreadable if this worker cannot read a file, or if the stored file differs from the upload.
    """
    return with_usable_truth(truth, partial(score_once, submission, truth, options, progress, first=first))


def score_once(
    submission: Submission, truth: Truth, options: ReportOptions, progress: Progress, *, first: bool
) -> Report:
    with local_truth(truth) as prepared:
        storage_check.refuse_unreadable(prepared)
        with local_upload(submission) as upload:
            return score_files(submission, truth, (prepared, upload), options, progress, first=first)


def score_files(
    submission: Submission,
    truth: Truth,
    files: tuple[Path, Path],
    options: ReportOptions,
    progress: Progress,
    *,
    first: bool,
) -> Report:
    """Score a submission. `files` are the paths of the prepared ground truth and of the submission's file."""
    phase = submission.phase
    request = ScoringRequest(
        phase.track,
        *files,
        parameters=phase.parameters,
        opening=TruthOptions(verify=True, expected=truth.sha256),
        report=options,
        # Without the compiled kernels, explaining a score takes far more time and memory than scoring, so the size of
        # the file is limited.
        resources=Resources(
            file_limits(),
            progress=progress,
            reference_bytes=settings.EXPLANATION_MAX_BYTES if options.curves else None,
            temporary_folder=settings.FILE_UPLOAD_TEMP_DIR,
        ),
        rejects_nothing_to_score=first and not submission.forced,
    )
    try:
        with limits.limited(small=submission.small):
            return scoring.score(request)
    except (OSError, InvalidTruth):
        # An unreadable file may have caused this error. In that case, raise Unreadable instead.
        storage_check.refuse_unreadable(*files)
        raise


def rerun_options(rerun: Rerun) -> ReportOptions:
    """Return the report options for a rerun, which depend on whether it computes intervals or an explanation."""
    track = rerun.submission.phase.declared_track
    if rerun.purpose == Rerun.Purpose.EXPLANATION:
        return ReportOptions(curves=True, explanation=bool(track.explained_tables))
    if not (track.intervals and settings.INTERVAL_REPLICATES):
        return ReportOptions()
    return ReportOptions(bootstrap=Bootstrap(settings.INTERVAL_REPLICATES, SEED, draws_folder(rerun.truth)))


def headline_replicates(report: Report) -> dict[str, bytes]:
    """Return the bootstrap replicates of the headline metric by split, as little-endian float64 bytes.

    If no replicates were drawn, the dict is empty.
    """
    splits = report.splits.items()
    vectors = {name: split.replicates.get(split.headline) for name, split in splits}
    return {name: vector.astype("<f8").tobytes() for name, vector in vectors.items() if vector is not None}


def explanations(report: Report) -> dict[str, bytes]:
    """Return the explanation of a submission's score on each split, as JSON compressed with zlib.

    If two splits contain the same images, the report has a single part for both. This part is converted only once.
    """
    contents: dict[str, bytes] = {}
    for split, part in report.splits.items():
        same = next((name for name in contents if report.splits[name] is part), None)
        contents[split] = contents[same] if same else compressed(explanation(report, split))
    return contents


def compressed(content: dict[str, Any]) -> bytes:
    return zlib.compress(json.dumps(content, allow_nan=False).encode())
