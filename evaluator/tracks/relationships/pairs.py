"""Matches predicted pairs of boxes with the triplets of a ground truth, and with their phrases.

The phrase of a triplet has a single box, which is the smallest box around both boxes of the triplet.
"""

from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.submission import SubmissionTable
from evaluator.metrics.boxes import enclosing, float32_iou
from evaluator.metrics.matching import best_objects, contains, winning_claims
from evaluator.request import Progress
from evaluator.tracks.relationships.triplets import FIRST, SECOND
from evaluator.tracks.relationships.truth import RelationshipsTruth


@dataclass(frozen=True, slots=True)
class Pairs:
    """The N predicted pairs in a submission.

    Attributes
    ----------
    rows : int64 array of shape (N,)
        Row of each pair in the table that was read.
    images, relations : int64 arrays of shape (N,)
        Image code and relation code of each pair. Relations that are not in the ground truth all share the code after
        that of the last relation.
    keys : int64 array of shape (N,)
        Triplet key of each pair, encoded as in the ground truth; -1, which is not a valid key, if one of the labels is
        not in the ground truth.
    confidences : float64 array of shape (N,)
    first_boxes, second_boxes : float32 arrays of shape (N, 4)
    coordinates : list of eight float64 arrays of shape (N,)
        Coordinates of both boxes in double precision. They break ties between pairs of equal confidence and overlap.
    is_scored : bool array of shape (N,)
        Whether each pair is scored. A pair is not scored if one of its labels is not in the ground truth. Any other
        pair is scored if both labels are verified (known to be present or absent) in the image, or if at least one
        label is negative in the image: image_labels.csv has a row for it, but no triplet of the image has it.
    """

    rows: NDArray[np.int64]
    images: NDArray[np.int64]
    relations: NDArray[np.int64]
    keys: NDArray[np.int64]
    confidences: NDArray[np.float64]
    first_boxes: NDArray[np.float32]
    second_boxes: NDArray[np.float32]
    coordinates: list[NDArray[np.float64]]
    is_scored: NDArray[np.bool_]

    @property
    def has_labels(self) -> NDArray[np.bool_]:
        """Whether both labels of each pair are in the ground truth, shape (N,)."""
        return self.keys >= 0

    def __getitem__(self, chosen: NDArray[Any]) -> "Pairs":
        """Return the pairs selected by a Boolean mask or by indices."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        coordinates = [values[chosen] for values in values.pop("coordinates")]
        return Pairs(**{name: value[chosen] for name, value in values.items()}, coordinates=coordinates)


@dataclass(frozen=True, slots=True)
class PairMatches:
    """The triplets and phrases that N pairs hit.

    Attributes
    ----------
    pairs : Pairs
    triplets : int64 array of shape (N,)
        Index of the triplet that each pair overlaps most, among the triplets with the same key; -1 if there is none.
    overlaps : float64 array of shape (N,)
        Overlap with that triplet: the smaller IoU of the two boxes.
    hits, phrase_hits : bool arrays of shape (N,)
        Whether each pair hits a triplet, and whether it hits a phrase (the box around both boxes of a triplet).
    """

    pairs: Pairs
    triplets: NDArray[np.int64]
    overlaps: NDArray[np.float64]
    hits: NDArray[np.bool_]
    phrase_hits: NDArray[np.bool_]

    def __getitem__(self, chosen: NDArray[Any]) -> "PairMatches":
        """Return the matches of the pairs selected by a Boolean mask or by indices."""
        matched = self.triplets[chosen], self.overlaps[chosen], self.hits[chosen], self.phrase_hits[chosen]
        return PairMatches(self.pairs[chosen], *matched)


def predicted(truth: RelationshipsTruth, table: SubmissionTable) -> Pairs:
    """Return every pair of boxes that a submission predicts, in file order."""
    relations = table.codes("RelationshipLabel")
    relations[relations < 0] = len(truth.relations)
    codes = table.codes("image"), table.codes("LabelName1"), table.codes("LabelName2"), relations
    return pairs_of(truth, codes, table.numbers("Score")[:, 0], table.numbers(*FIRST), table.numbers(*SECOND))


def pairs_of(
    truth: RelationshipsTruth,
    codes: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    confidences: NDArray[np.float64],
    first_boxes: NDArray[np.float64],
    second_boxes: NDArray[np.float64],
) -> Pairs:
    """Return N pairs in file order.

    Parameters
    ----------
    truth : RelationshipsTruth
    codes : four int64 arrays of shape (N,)
        Image, first label, second label and relation; see :class:`Pairs`. A label is -1 if it is not in the ground
        truth.
    confidences : float64 array of shape (N,)
    first_boxes, second_boxes : float64 arrays of shape (N, 4)
    """
    labels = len(truth.labels)
    images, first, second, relations = codes
    has_labels = (first >= 0) & (second >= 0)
    label_keys = [images * labels + first, images * labels + second]
    verified = [contains(truth.verified, keys) for keys in label_keys]
    negative = [contains(truth.negative, keys) for keys in label_keys]
    # Coordinates beyond the range of float32 become infinite, so such a box overlaps no other box.
    with np.errstate(over="ignore"):
        boxes = first_boxes.astype(np.float32), second_boxes.astype(np.float32)
    return Pairs(
        rows=np.arange(len(images)),
        images=images,
        relations=relations,
        keys=np.where(has_labels, truth.keys.encode(images, first, second, relations), -1),
        confidences=confidences,
        first_boxes=boxes[0],
        second_boxes=boxes[1],
        coordinates=[*first_boxes.T, *second_boxes.T],
        is_scored=has_labels & ((verified[0] & verified[1]) | negative[0] | negative[1]),
    )


def match(truth: RelationshipsTruth, table: SubmissionTable, threshold: float, progress: Progress) -> PairMatches:
    """Match the pairs in a submission with triplets and phrases. The result is sorted by descending confidence.

    Of the triplets with the same image, labels and relation, a pair can hit only the triplet that it overlaps most,
    and only if the overlap reaches the threshold. If several pairs could hit the same triplet, only the most confident
    one does. The same rules apply to phrases.

    Pairs that are not scored are matched too. Otherwise, running time and memory use would reveal which labels
    annotators verified as present or absent.
    """
    progress("matching", 0.0)
    pairs = predicted(truth, table)
    # The pairs are sorted by confidence only once, which speeds up all later sorts for precision/recall curves.
    pairs = pairs[np.argsort(-pairs.confidences, kind="stable")]

    triplets, overlaps = nearest_triplets(truth, pairs)
    hits = _hits(pairs, triplets, overlaps, threshold)
    progress("matching", 0.5)
    phrases, phrase_overlaps = nearest_phrases(truth, pairs)
    return PairMatches(pairs, triplets, overlaps, hits, _hits(pairs, phrases, phrase_overlaps, threshold))


def nearest_triplets(truth: RelationshipsTruth, pairs: Pairs) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the triplet with the same key that each pair overlaps most (-1 if there is none), and the overlap."""
    return best_objects(pairs.keys, truth.triplets, partial(triplet_overlap, truth, pairs))


def nearest_phrases(truth: RelationshipsTruth, pairs: Pairs) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the triplet with the same key whose phrase each pair overlaps most, and the IoU with the phrase."""
    ours_around = enclosing(pairs.first_boxes, pairs.second_boxes)
    theirs_around = enclosing(truth.first_boxes, truth.second_boxes)
    return best_objects(
        pairs.keys, truth.triplets, lambda ours, theirs: float32_iou(ours_around[ours], theirs_around[theirs])
    )


def triplet_overlap(
    truth: RelationshipsTruth, pairs: Pairs, ours: NDArray[np.int64], theirs: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the overlap of pairs with triplets, given by indices: the smaller IoU of the two boxes, shape (P,)."""
    return np.minimum(
        float32_iou(pairs.first_boxes[ours], truth.first_boxes[theirs]),
        float32_iou(pairs.second_boxes[ours], truth.second_boxes[theirs]),
    )


def _hits(
    pairs: Pairs, objects: NDArray[np.int64], overlaps: NDArray[np.float64], threshold: float
) -> NDArray[np.bool_]:
    return winning_claims(np.where(overlaps >= threshold, objects, -1), pairs.confidences, overlaps, pairs.coordinates)
