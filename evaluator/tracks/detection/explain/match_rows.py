"""Lists each detection and each missed box, with its outcome and the reason for the outcome."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.errors import DETECTION_KINDS, GROUP_OF, NO_ERROR
from evaluator.tracks.detection.candidates import Detections, are_valid, are_verified
from evaluator.tracks.detection.explain.errors import Errors
from evaluator.tracks.detection.matches import Matches
from evaluator.tracks.detection.truth import DetectionTruth
from evaluator.truth import USAGES

COLUMNS = (
    *("Usage", "ImageID", "LabelName", "Score", "XMin", "XMax", "YMin", "YMax"),
    *("Outcome", "Reason", "TruthLine", "TruthLabel", "Overlap"),
)
TYPES = {"TruthLine": int, **dict.fromkeys(("Score", "XMin", "XMax", "YMin", "YMax", "Overlap"), float)}
OUTCOMES = ("ignored", "true_positive", "group_found", "absorbed", "false_positive", "missed")
IGNORED, HIT, FINDS_GROUP, ABSORBED, FALSE, MISSED = range(6)
REASONS = (*DETECTION_KINDS, "no_area_or_confidence", "unverified_class", "over_the_cap", "")
INVALID, UNVERIFIED, OVER_THE_CAP = range(len(DETECTION_KINDS), len(DETECTION_KINDS) + 3)
FIRST_LINE = 2  # Line number of the first row after the header of boxes.csv.
# Number of rows that are converted at once. As Python objects, rows need ten times the memory of the arrays.
ROWS_AT_ONCE = 1 << 14

Codes = NDArray[np.int64]
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The outcomes of N detections or boxes.

    Attributes
    ----------
    outcomes, reasons : int64 arrays of shape (N,)
        Indices into :data:`OUTCOMES` and :data:`REASONS`.
    rows : int64 array of shape (N,)
        Row in boxes.csv with which each detection or box was compared, or -1 if there is none.
    overlaps : float64 array of shape (N,)
        IoU with that box, or IoA with that group-of box.
    """

    outcomes: Codes
    reasons: Codes
    rows: Codes
    overlaps: NDArray[np.float64]

    def __getitem__(self, chosen: Codes) -> "Outcomes":
        """Return the outcomes with the given indices."""
        return Outcomes(self.outcomes[chosen], self.reasons[chosen], self.rows[chosen], self.overlaps[chosen])


class MatchRows:
    """Converts the outcomes of detections and of missed boxes to rows of :data:`COLUMNS`, in portions.

    The score counts each ``true_positive`` row as one true positive, and each ``group_found`` row with the group-of
    weight. The most confident detection in a group-of box matches it. The other detections in that box are
    ``absorbed``. ``TruthLine`` is the line number, in boxes.csv, of the box with which a detection was compared: the
    box that it hits, the box that explains its error, or the group-of box in which it lies. ``Overlap`` is the IoU with
    that box; for a group-of box, it is the fraction of the detection inside the box.
    """

    def __init__(self, truth: DetectionTruth) -> None:
        self.truth = truth
        self.images = list(truth.images)
        self.labels = list(truth.labels)
        self.row_labels = np.append(truth.row_labels, -1)
        self.usages = {code: usage for usage, code in USAGES.items()}

    def of_detections(self, detections: Detections, outcomes: Outcomes) -> Iterator[Row]:
        """Yield a row for each detection."""
        for start in range(0, len(detections), ROWS_AT_ONCE):
            chosen = np.arange(start, min(start + ROWS_AT_ONCE, len(detections)))
            yield from self._rows(detections[chosen], outcomes[chosen])

    def of_missed(self, object_kinds: NDArray[np.integer[Any]], group_kinds: NDArray[np.integer[Any]]) -> Iterator[Row]:
        """Yield a row for each missed box. The parameters are the attributes of :class:`Errors` with these names."""
        truth = self.truth
        boxes = (
            (truth.object_keys, truth.boxes, truth.object_rows, object_kinds),
            (truth.group_keys, truth.group_boxes, truth.group_rows, group_kinds),
        )
        for keys, coordinates, rows, kinds in boxes:
            missed = np.flatnonzero(kinds != NO_ERROR)
            no_confidences, no_overlaps = np.full(len(missed), np.nan), np.zeros(len(missed))
            images, labels = truth.images_and_labels(keys[missed])
            objects = Detections(images, labels, no_confidences, coordinates[missed], missed, missed)
            outcomes = np.full(len(missed), MISSED), kinds[missed].astype(np.int64), rows[missed].astype(np.int64)
            yield from self.of_detections(objects, Outcomes(*outcomes, no_overlaps))

    def _rows(self, detections: Detections, outcomes: Outcomes) -> Iterator[Row]:
        columns = zip(
            self.truth.usage[detections.images].tolist(),
            detections.images.tolist(),
            detections.labels.tolist(),
            detections.confidences.tolist(),
            detections.boxes.tolist(),
            outcomes.outcomes.tolist(),
            outcomes.reasons.tolist(),
            outcomes.rows.tolist(),
            self.row_labels[outcomes.rows].tolist(),
            outcomes.overlaps.tolist(),
            strict=True,
        )
        usages, images, labels = self.usages, self.images, self.labels
        for usage, image, label, confidence, box, outcome, reason, row, row_label, overlap in columns:
            compared = (row + FIRST_LINE, labels[row_label], overlap or "") if row >= 0 else ("", "", "")
            shown = "" if outcome == MISSED else confidence
            named = usages[usage], images[image], labels[label]
            yield (*named, shown, *box, OUTCOMES[outcome], REASONS[reason], *compared)


def match_rows(truth: DetectionTruth, known: Detections, matches: Matches, errors: Errors) -> Iterator[Row]:
    """Yield a row of :data:`COLUMNS` for each detection whose label is in the ground truth, then for each missed box.

    The detections of an image are adjacent and in the order of the file, each followed by its copies for ancestors.
    Images are in the order of their first detection.

    Parameters
    ----------
    truth : DetectionTruth
    known : Detections
        All detections whose label is in the ground truth.
    matches : Matches
        The matches of the detections whose label is verified in their image.
    errors : Errors
    """
    rows, order = MatchRows(truth), _by_image(known)
    yield from rows.of_detections(known[order], outcomes_of(truth, known, matches, errors)[order])
    yield from rows.of_missed(errors.object_kinds, errors.group_kinds)


def _by_image(known: Detections) -> Codes:
    images, which = np.unique(known.images, return_inverse=True)
    first_rows = np.full(len(images), np.iinfo(np.int64).max)
    np.minimum.at(first_rows, which, known.rows)
    return np.lexsort((known.rows, first_rows[which]))


def outcomes_of(truth: DetectionTruth, known: Detections, matches: Matches, errors: Errors) -> Outcomes:
    """Return the outcomes of all detections whose label is in the ground truth; see :func:`match_rows`."""
    indices, count = matches.detections.indices, len(known)
    conditions = [matches.hits, matches.finds_group, matches.absorbed]
    outcomes = np.full(count, IGNORED)
    outcomes[indices] = np.select(conditions, [HIT, FINDS_GROUP, ABSORBED], FALSE)
    ignored_because = [~are_valid(known), ~are_verified(truth, known)]
    reasons = np.select(ignored_because, [INVALID, UNVERIFIED], OVER_THE_CAP)
    # NO_ERROR is -1 and therefore selects the last element of REASONS, an empty string.
    reasons[indices] = errors.kinds
    rows, overlaps = np.full(count, -1), np.zeros(count)
    rows[indices], overlaps[indices] = _compared(truth, matches, errors)
    return Outcomes(outcomes, reasons, rows, overlaps)


def _compared(truth: DetectionTruth, matches: Matches, errors: Errors) -> tuple[Codes, NDArray[np.float64]]:
    """Return, for each detection, the boxes.csv row of the box it was compared with (-1 if none), and the overlap."""
    with_group = matches.absorbed | (errors.kinds == GROUP_OF)
    objects = np.where(matches.hits, matches.objects, errors.objects)
    rows = np.where(
        with_group, np.append(truth.group_rows, -1)[matches.groups], np.append(truth.object_rows, -1)[objects]
    )
    return rows, np.select([matches.hits, matches.absorbed], [matches.overlaps, matches.shares], errors.overlaps)
