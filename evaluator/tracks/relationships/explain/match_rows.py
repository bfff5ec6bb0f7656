"""Lists each pair and each missed triplet, with its outcome and the reason for the outcome."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.errors import NO_ERROR, RELATIONSHIP_KINDS
from evaluator.tracks.relationships.explain.errors import Compared, Errors
from evaluator.tracks.relationships.pairs import PairMatches
from evaluator.tracks.relationships.triplets import FIRST, LABELS, SECOND
from evaluator.tracks.relationships.truth import RelationshipsTruth
from evaluator.truth import USAGES

COLUMNS = (
    *("Usage", "ImageID", *LABELS, "RelationshipLabel", "Score", *FIRST, *SECOND),
    *("Outcome", "PhraseOutcome", "Reason", "TruthLine", "Overlap"),
)
TYPES = {"TruthLine": int, **dict.fromkeys(("Score", *FIRST, *SECOND, "Overlap"), float)}
# NO_ERROR is -1 and therefore selects the last element of REASONS, an empty string.
REASONS = (*RELATIONSHIP_KINDS, "unverified_class", "")
UNVERIFIED = len(RELATIONSHIP_KINDS)
FIRST_LINE = 2  # Line number of the first row after the header of relationships.csv.
# Number of rows that are converted at once. As Python objects, rows need ten times the memory of the arrays.
ROWS_AT_ONCE = 1 << 14

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
    boxes: list[list[float]]
    outcomes: list[str]
    phrase_outcomes: list[str]
    kinds: NDArray[np.int64]
    triplets: NDArray[np.int64]
    overlaps: NDArray[np.float64]


class PairRows:
    """Converts pairs and missed triplets to rows of :data:`COLUMNS`.

    ``TruthLine`` is the line number, in relationships.csv, of the triplet that the pair hits or that its kind of error
    refers to. ``Overlap`` is the overlap with that triplet: the smaller IoU of the two boxes.
    """

    def __init__(self, truth: RelationshipsTruth) -> None:
        self.truth = truth
        self.lines = np.append(truth.triplet_rows + FIRST_LINE, 0)
        self.images = list(truth.images)
        self.labels = list(truth.labels)
        self.relations = [*truth.relations, ""]
        self.usages = {code: usage for usage, code in USAGES.items()}

    def of_pairs(self, matches: PairMatches, found: Compared) -> Iterator[Row]:
        """Yield a row for each pair whose labels are in the ground truth, in the order of ``Pairs.rows``."""
        order = np.argsort(matches.pairs.rows)
        order = order[matches.pairs.has_labels[order]]
        ranks = np.cumsum(matches.pairs.is_scored) - 1
        for start in range(0, len(order), ROWS_AT_ONCE):
            yield from self._rows(_of_pairs(matches, found, ranks, order[start : start + ROWS_AT_ONCE]))

    def of_missed(self, kinds: NDArray[np.int64]) -> Iterator[Row]:
        """Yield a row for each missed triplet. ``kinds`` is :attr:`Errors.missed`."""
        yield from self._rows(_of_missed(self.truth, kinds))

    def _rows(self, columns: Columns) -> Iterator[Row]:
        truth, images, labels, relations = self.truth, self.images, self.labels, self.relations
        codes = zip(*(part.tolist() for part in truth.keys.decode(columns.keys)), strict=True)
        for usage, image, (first, second, relation), score, boxes, outcome, phrase, kind, triplet, line, overlap in zip(
            truth.usage[columns.images].tolist(),
            columns.images.tolist(),
            codes,
            columns.scores,
            columns.boxes,
            columns.outcomes,
            columns.phrase_outcomes,
            columns.kinds.tolist(),
            columns.triplets.tolist(),
            self.lines[columns.triplets].tolist(),
            columns.overlaps.tolist(),
            strict=True,
        ):
            named = self.usages[usage], images[image], labels[first], labels[second], relations[relation]
            compared = (line, overlap or "") if triplet >= 0 else ("", "")
            yield (*named, score, *boxes, outcome, phrase, REASONS[kind], *compared)


def match_rows(truth: RelationshipsTruth, matches: PairMatches, errors: Errors) -> Iterator[Row]:
    """Yield a row of :data:`COLUMNS` for each pair whose labels are in the ground truth, then for each missed triplet.

    Parameters
    ----------
    matches : PairMatches
        The matches of all pairs.
    errors : Errors
        The errors of the scored pairs.
    """
    rows = PairRows(truth)
    yield from rows.of_pairs(matches, Compared(errors.kinds, errors.triplets, errors.overlaps))
    yield from rows.of_missed(errors.missed)


def _of_pairs(matches: PairMatches, found: Compared, ranks: NDArray[np.int64], chosen: NDArray[np.int64]) -> Columns:
    """Return the columns for the pairs with the indices ``chosen``.

    The arrays of ``found`` have one element for each scored pair. ``ranks`` contains the index of each scored pair in
    these arrays.
    """
    matches = matches[chosen]
    pairs, ranks, count = matches.pairs, ranks[chosen], len(chosen)
    scored, ranks = pairs.is_scored, ranks[pairs.is_scored]
    kinds, triplets, overlaps = np.full(count, UNVERIFIED), np.full(count, -1), np.zeros(count)
    kinds[scored], triplets[scored], overlaps[scored] = found.kinds[ranks], found.triplets[ranks], found.overlaps[ranks]

    def outcomes(hits: NDArray[np.bool_]) -> list[str]:
        words: list[str] = np.select([~scored, hits], ["ignored", "true_positive"], "false_positive").tolist()
        return words

    return Columns(
        pairs.images,
        pairs.keys,
        pairs.confidences.tolist(),
        np.stack(pairs.coordinates, axis=1).tolist(),
        outcomes(matches.hits),
        outcomes(matches.phrase_hits),
        kinds,
        triplets,
        overlaps,
    )


def _of_missed(truth: RelationshipsTruth, kinds: NDArray[np.int64]) -> Columns:
    missed = np.flatnonzero(kinds != NO_ERROR)
    boxes = np.hstack([truth.first_boxes[missed], truth.second_boxes[missed]])
    return Columns(
        truth.triplet_images[missed],
        truth.triplets[missed],
        [""] * len(missed),
        # The coordinates have single precision, so the shortest decimals that identify them are written.
        [[float(str(number)) for number in row] for row in boxes],
        ["missed"] * len(missed),
        [""] * len(missed),
        kinds[missed],
        missed,
        np.zeros(len(missed)),
    )
