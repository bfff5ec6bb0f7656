"""Scores or checks submissions to the relationships track with compiled kernels.

Reports are identical to those of the reference implementation.
"""

from pathlib import Path

from evaluator.files.blocks import Declined
from evaluator.problems import Findings
from evaluator.report import ReferenceNeeded
from evaluator.request import Resources, ScoringRequest
from evaluator.tracks.interface import Outcome
from evaluator.tracks.relationships.fast.explanation import explained
from evaluator.tracks.relationships.fast.pairs import (
    MergedPairs,
    RelationshipBuckets,
    add_all_notices,
    read_file,
    scored_pairs,
)
from evaluator.tracks.relationships.fast.reader import kernel_truth, public_kernel_truth
from evaluator.tracks.relationships.truth import RelationshipsParameters, RelationshipsTruth


def score(
    truth: RelationshipsTruth, request: ScoringRequest, parameters: RelationshipsParameters, findings: Findings
) -> Outcome | ReferenceNeeded:
    """Score a submission on every split, or return the reason why the reference implementation is needed."""
    evaluate = explained if request.report.explains else outcome_of
    try:
        return evaluate(truth, request, parameters, findings)
    except Declined as declined:
        return declined.reason


def check(
    truth: RelationshipsTruth,
    submission: Path,
    parameters: RelationshipsParameters,
    resources: Resources,
    findings: Findings,
) -> ReferenceNeeded | None:
    """Read a submission without scoring it, and add notices about it to ``findings``.

    Return None if the file has no defect; otherwise, return the reason why the reference implementation must check the
    file. Only the public parts of the ground truth are used. Therefore, ``truth`` may come from a check kit, the file
    that participants use to check submissions offline.
    """
    try:
        readers = read_file(submission, resources, public_kernel_truth(truth), parameters)
    except Declined as declined:
        return declined.reason
    add_all_notices(truth, readers, findings)
    return None


def outcome_of(
    truth: RelationshipsTruth, request: ScoringRequest, parameters: RelationshipsParameters, findings: Findings
) -> Outcome:
    """Return the outcome of a submission. The pairs are matched while the file is read.

    Raises
    ------
    Declined
        If the reference implementation must read the file.
    """
    readers = read_file(request.submission, request.resources, kernel_truth(truth), parameters)
    request.resources.progress("matching", 0.0)
    entries = MergedPairs.of(readers).entries
    buckets = RelationshipBuckets.of(truth, entries)
    add_all_notices(truth, readers, findings)
    request.resources.progress("scoring", 0.0)
    return scored_pairs(truth, readers, entries, buckets.areas, parameters.weights).outcome()
