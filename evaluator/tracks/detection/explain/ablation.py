"""Computes the mAP with and without three rules of Open Images: incomplete labels, hierarchy and group-of boxes.

Source: the Open Images V4 paper, Fig. 28.
"""

from dataclasses import replace

import numpy as np

from evaluator.metrics.bootstrap import MeanAveragePrecision
from evaluator.report import ClassRow, finite
from evaluator.tracks.detection.candidates import Detections
from evaluator.tracks.detection.matches import Matches, confidences_of_groups
from evaluator.tracks.detection.scorer import match, within_cap
from evaluator.tracks.detection.summary import weighted
from evaluator.tracks.detection.truth import DetectionParameters, DetectionTruth


def ablation(
    truth: DetectionTruth, valid: Detections, matches: Matches, parameters: DetectionParameters
) -> dict[str, list[ClassRow]]:
    """Return, for each split, the mAP with and without the rules for incomplete labels, hierarchy and group-of boxes.

    Without the first rule, a detection is a false positive if its class is not verified (known to be present or absent)
    in the image. Without the second rule, boxes and labels count only for their own class. Without the third rule, the
    group-of weight is 0 and group-of boxes are not positives; with it, the weight is 1. The result has a row for each
    combination of these rules. If submissions are scored with one of these combinations, its row contains the score.

    If the ground truth was compiled without a hierarchy, there are no rows with the hierarchy.

    Parameters
    ----------
    truth : DetectionTruth
    valid : Detections
        All valid detections in the submission.
    matches : Matches
        The result of matching the valid detections.
    parameters : DetectionParameters
    """
    rows: dict[str, list[ClassRow]] = {name: [] for name in truth.splits}
    for hierarchy in (True, False) if truth.has_copies else (False,):
        if hierarchy != truth.has_copies:
            truth = truth.without_copies()
            matches = match(truth, within_cap(truth, valid), parameters)
        known = _with_all_groups(truth, matches[matches.detections.labels >= 0])
        for name in truth.splits:
            rows[name].extend(_by_weight(truth, known, name, hierarchy=hierarchy))
    return rows


def _with_all_groups(truth: DetectionTruth, matches: Matches) -> Matches:
    """Return the matches that would result if the group-of weight were above 0, so that groups could be matched."""
    absorbed = matches.absorbed
    groups, confidences = matches.groups[absorbed], matches.detections.confidences[absorbed]
    return replace(matches, group_confidences=confidences_of_groups(groups, confidences, len(truth.group_keys), 1.0))


def _by_weight(truth: DetectionTruth, matches: Matches, split: str, *, hierarchy: bool) -> list[ClassRow]:
    """Return the rows of a split's ablation table with the hierarchy, or without it if ``hierarchy`` is false."""
    matches = matches[~matches.absorbed]
    detections = len(matches.detections)
    entries = replace(matches, verified=np.ones(detections, bool)).entries(truth, 1.0)
    is_group = np.arange(len(entries.images)) >= detections
    is_verified = is_group.copy()
    is_verified[:detections] = matches.verified
    in_split = truth.splits[split][entries.images]
    rows: list[ClassRow] = []
    for verified_only in (True, False):
        for weight in (1, 0):
            chosen = in_split & (is_verified | (not verified_only)) & (~is_group | (weight == 1))
            variant = MeanAveragePrecision.of(
                weighted(*truth.counts(split), weight), entries[chosen].average_precisions
            )
            rows.append(ablation_row(variant, verified_only=verified_only, hierarchy=hierarchy, weight=weight))
    return rows


def ablation_row(variant: MeanAveragePrecision, *, verified_only: bool, hierarchy: bool, weight: int) -> ClassRow:
    """Return a row of the ablation table: the mAP under one combination of rules."""
    return {
        "non_exhaustive_labels": verified_only,
        "hierarchy": hierarchy,
        "group_of_weight": weight,
        "mAP": finite(float(variant.metrics()["mAP"])),
    }
