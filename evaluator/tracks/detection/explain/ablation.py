"""The score without each of the three things that make Open Images' metric its own (the V4 paper's Fig. 28)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluator.files.submission import Table
from evaluator.metrics.average_precision import average_precisions, mean_defined
from evaluator.report import ClassRow, finite
from evaluator.tracks.detection.candidates import predicted, sound
from evaluator.tracks.detection.matches import Matches
from evaluator.tracks.detection.scorer import CORNERS, match, within_cap
from evaluator.tracks.detection.summary import objects
from evaluator.tracks.detection.variants import as_annotated
from evaluator.tracks.interface import contains
from evaluator.truth import Truth


def ablation(truth: Truth, table: Table, parameters: Mapping[str, Any]) -> dict[str, list[ClassRow]]:
    """Return for each split the mAP with and without labels that are not exhaustive, hierarchy, and group-of boxes.

    Without the first, every detection of a class that nobody verified in its image is a false positive; without the
    second, boxes and labels count for the class that was annotated; with weight 0, group-of boxes ask for nothing.
    Each of the three is switched alone and with the others; the row of a scoring's own settings is its score.

    A truth that was compiled without its hierarchy has only the rows without.
    """
    found = predicted(truth, table, table.numbers(*CORNERS), parameters)
    found = found[sound(found) & (found.labels >= 0)]
    rows: dict[str, list[ClassRow]] = {name: [] for name in truth.splits}
    for hierarchy in (True, False) if truth.parameters["expand_hierarchy"] else (False,):
        variant = truth if hierarchy else as_annotated(truth)
        matches = match(variant, within_cap(variant, found), {**parameters, "group_of_weight": 1.0})
        for name in truth.splits:
            rows[name].extend(_weighed(variant, matches, name, hierarchy=hierarchy))
    return rows


def _weighed(truth: Truth, matches: Matches, split: str, *, hierarchy: bool) -> list[ClassRow]:
    entries = matches[~matches.absorbed].entries(truth, 1.0)
    labels = len(truth.texts["labels"])
    in_split = truth.splits[split][entries.images]
    is_verified = contains(truth.arrays["verified"], entries.images * labels + entries.labels)
    is_group = np.arange(len(in_split)) >= np.count_nonzero(~matches.absorbed)
    rows: list[ClassRow] = []
    for verified_only in (True, False):
        for weight in (1, 0):
            chosen = in_split & (is_verified | (not verified_only)) & (~is_group | (weight == 1))
            values = average_precisions(
                entries.labels[chosen],
                entries.confidences[chosen],
                entries.weights[chosen],
                objects(truth, split, weight),
            )
            rows.append(
                {
                    "non_exhaustive_labels": verified_only,
                    "hierarchy": hierarchy,
                    "group_of_weight": weight,
                    "mAP": finite(mean_defined(values)),
                }
            )
    return rows
