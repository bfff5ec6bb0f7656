"""Every detection and every missed box of the truth on a line of its own: what became of it, and why."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.errors import DETECTION_KINDS, RIGHT
from evaluator.tracks.detection.candidates import sound
from evaluator.tracks.detection.explain.errors import Verdicts
from evaluator.tracks.detection.matches import Detections, Matches
from evaluator.tracks.interface import contains
from evaluator.truth import USAGES, Truth

COLUMNS = (
    *("Usage", "ImageID", "LabelName", "Score", "XMin", "XMax", "YMin", "YMax"),
    *("Outcome", "Reason", "TruthLine", "TruthLabel", "Overlap"),
)
OUTCOMES = ("ignored", "true_positive", "group_found", "absorbed", "false_positive")
IGNORED, HIT, GROUP_FOUND, ABSORBED, FALSE = range(5)
REASONS = (*DETECTION_KINDS, "no_area_or_confidence", "unverified_class", "over_the_cap", "")
UNSOUND, UNVERIFIED, CAPPED = range(len(DETECTION_KINDS), len(DETECTION_KINDS) + 3)
FIRST_LINE = 2  # of boxes.csv below its header

Codes = NDArray[np.int64]


def match_rows(truth: Truth, everything: Detections, matches: Matches, verdicts: Verdicts) -> Iterator[tuple[Any, ...]]:
    """Yield a row of :data:`COLUMNS` for each detection, then one for each missed box.

    ``true_positive`` and ``group_found`` rows, the latter by the weight of a group, are the true positives of the
    score; a group is found by the surest detection in it, and the others are ``absorbed``. ``TruthLine`` is the line
    of boxes.csv that a detection hit, fell into or failed to hit; ``Overlap`` is the IoU with it, of a group-of box
    the share of the detection inside.
    """
    outcomes, reasons = _outcomes(truth, everything, matches, verdicts)
    lines, overlaps = np.full(len(everything), -1), np.zeros(len(everything))
    lines[matches.found.places], overlaps[matches.found.places] = _met(truth, matches, verdicts)
    yield from _rows(truth, everything, outcomes=outcomes, reasons=reasons, rows=lines, overlaps=overlaps)
    for kind, kinds in (("box", verdicts.box_kinds), ("group", verdicts.group_kinds)):
        missed = np.flatnonzero(kinds != RIGHT)
        boxes = truth.arrays["boxes" if kind == "box" else "group_boxes"][missed]
        images, labels = np.divmod(truth.arrays[f"{kind}_keys"][missed], len(truth.texts["labels"]))
        objects = Detections(images, labels, np.full(len(missed), np.nan), boxes, missed, missed)
        rows = truth.arrays[f"{kind}_rows"][missed]
        yield from _rows(truth, objects, outcomes=None, reasons=kinds[missed], rows=rows, overlaps=np.zeros(len(rows)))


def _outcomes(truth: Truth, everything: Detections, matches: Matches, verdicts: Verdicts) -> tuple[Codes, Codes]:
    """Return what became of each detection, and why, as codes of shape (N,)."""
    places = matches.found.places
    outcomes = np.full(len(everything), IGNORED)
    known = [matches.hits, matches.group_found, matches.absorbed]
    outcomes[places] = np.select(known, [HIT, GROUP_FOUND, ABSORBED], FALSE)
    verified = contains(truth.arrays["verified"], everything.keys(truth))
    reasons = np.select([~sound(everything), ~verified], [UNSOUND, UNVERIFIED], CAPPED)
    reasons[places] = verdicts.kinds  # RIGHT is the last of the reasons, which is none
    return outcomes, reasons


def _met(truth: Truth, matches: Matches, verdicts: Verdicts) -> tuple[Codes, NDArray[np.float64]]:
    """Return the row of boxes.csv that each detection has to do with, -1 where none, and the overlap."""
    in_group = matches.absorbed | (verdicts.kinds == DETECTION_KINDS.index("group_of"))
    objects = np.where(matches.hits, matches.objects, verdicts.objects)
    rows = np.where(
        in_group,
        np.append(truth.arrays["group_rows"], -1)[matches.groups],
        np.append(truth.arrays["box_rows"], -1)[objects],
    )
    return rows, np.select([matches.hits, matches.absorbed], [matches.overlaps, matches.shares], verdicts.overlaps)


def _rows(
    truth: Truth,
    found: Detections,
    *,
    outcomes: Codes | None,
    reasons: Codes,
    rows: Codes,
    overlaps: NDArray[np.float64],
) -> Iterator[tuple[Any, ...]]:
    images, labels = list(truth.texts["images"]), list(truth.texts["labels"])
    usages = {code: usage for usage, code in USAGES.items()}
    columns = zip(
        truth.arrays["usage"][found.images].tolist(),
        found.images.tolist(),
        found.labels.tolist(),
        found.confidences.tolist(),
        found.boxes.tolist(),
        outcomes.tolist() if outcomes is not None else [-1] * len(found),
        reasons.tolist(),
        rows.tolist(),
        np.append(truth.arrays["row_labels"], -1)[rows].tolist(),
        overlaps.tolist(),
        strict=True,
    )
    for usage, image, label, score, box, outcome, reason, row, row_label, overlap in columns:
        told = (row + FIRST_LINE, labels[row_label], overlap or "") if row >= 0 else ("", "", "")
        outcome_word = OUTCOMES[outcome] if outcome >= 0 else "missed"
        shown = score if outcome >= 0 else ""
        yield (usages[usage], images[image], labels[label], shown, *box, outcome_word, REASONS[reason], *told)
