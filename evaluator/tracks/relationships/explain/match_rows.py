"""Lists each pair and each missed triplet, with its outcome and the reason for the outcome."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.errors import NO_ERROR, RELATIONSHIP_KINDS
from evaluator.tracks.relationships.explain.errors import Errors
from evaluator.tracks.relationships.pairs import PairMatches
from evaluator.tracks.relationships.triplets import FIRST, LABELS, SECOND
from evaluator.tracks.relationships.truth import RelationshipsTruth
from evaluator.truth import USAGES

COLUMNS = (
    *("Usage", "ImageID", *LABELS, "RelationshipLabel", "Score", *FIRST, *SECOND),
    *("Outcome", "PhraseOutcome", "Reason", "TruthLine", "Overlap"),
)
# NO_ERROR is -1 and therefore selects the last element of REASONS, an empty string.
REASONS = (*RELATIONSHIP_KINDS, "unverified_class", "")
UNVERIFIED = len(RELATIONSHIP_KINDS)
FIRST_LINE = 2  # Line number of the first row after the header of relationships.csv.

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table with N rows, one for each pair or each missed triplet.

    ``boxes`` contains the coordinates of both boxes, shape (N, 8). ``triplets`` contains the index of the triplet that
    a row refers to, or -1 if there is none.
    """

    images: NDArray[np.int64]
    keys: NDArray[np.int64]
    scores: list[Any]
    boxes: NDArray[np.floating[Any]]
    outcomes: list[str]
    phrase_outcomes: list[str]
    kinds: NDArray[np.int64]
    triplets: NDArray[np.int64]
    overlaps: NDArray[np.float64]


def match_rows(truth: RelationshipsTruth, matches: PairMatches, errors: Errors) -> Iterator[Row]:
    """Yield a row of :data:`COLUMNS` for each pair whose labels are in the ground truth, then for each missed triplet.

    ``TruthLine`` is the line number, in relationships.csv, of the triplet that the pair hits or that its kind of error
    refers to. ``Overlap`` is the overlap with that triplet: the smaller IoU of the two boxes.

    Parameters
    ----------
    matches : PairMatches
        The matches of all pairs.
    errors : Errors
        The errors of the scored pairs.
    """
    yield from _rows(truth, _of_pairs(matches, errors))
    yield from _rows(truth, _of_missed(truth, errors))


def _of_pairs(matches: PairMatches, errors: Errors) -> Columns:
    pairs = matches.pairs
    count, scored = len(pairs.rows), pairs.is_scored
    kinds, triplets, overlaps = np.full(count, UNVERIFIED), np.full(count, -1), np.zeros(count)
    kinds[scored], triplets[scored], overlaps[scored] = errors.kinds, errors.triplets, errors.overlaps
    order = np.argsort(pairs.rows)
    order = order[pairs.has_labels[order]]

    def outcomes(hits: NDArray[np.bool_]) -> list[str]:
        words = np.select([~scored, hits], ["ignored", "true_positive"], "false_positive")
        return list(map(str, words[order]))

    return Columns(
        pairs.images[order],
        pairs.keys[order],
        pairs.confidences[order].tolist(),
        np.stack(pairs.coordinates, axis=1)[order],
        outcomes(matches.hits),
        outcomes(matches.phrase_hits),
        kinds[order],
        triplets[order],
        overlaps[order],
    )


def _of_missed(truth: RelationshipsTruth, errors: Errors) -> Columns:
    missed = np.flatnonzero(errors.missed != NO_ERROR)
    return Columns(
        truth.triplet_images[missed],
        truth.triplets[missed],
        [""] * len(missed),
        np.hstack([truth.first_boxes[missed], truth.second_boxes[missed]]),
        ["missed"] * len(missed),
        [""] * len(missed),
        errors.missed[missed],
        missed,
        np.zeros(len(missed)),
    )


def _rows(truth: RelationshipsTruth, columns: Columns) -> Iterator[Row]:
    images, labels, relations = list(truth.images), list(truth.labels), [*truth.relations, ""]
    usages, usage_names = truth.usage.tolist(), {code: name for name, code in USAGES.items()}
    lines = (truth.triplet_rows + FIRST_LINE).tolist()
    codes = zip(*(part.tolist() for part in truth.keys.decode(columns.keys)), strict=True)
    for row, (image, (first, second, relation)) in enumerate(zip(columns.images.tolist(), codes, strict=True)):
        triplet = int(columns.triplets[row])
        yield (
            usage_names[usages[image]],
            images[image],
            labels[first],
            labels[second],
            relations[relation],
            columns.scores[row],
            *map(str, columns.boxes[row]),
            columns.outcomes[row],
            columns.phrase_outcomes[row],
            REASONS[columns.kinds[row]],
            *((lines[triplet], float(columns.overlaps[row]) or "") if triplet >= 0 else ("", "")),
        )
