"""Determines why a pair is a false positive, and why a triplet was not matched."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.errors import NO_ERROR, RELATIONSHIP_KINDS, CurveErrors, relationship_kinds
from evaluator.metrics.matching import best_objects_of_each, winning_claims
from evaluator.tracks.relationships.pairs import PairMatches, triplet_overlap
from evaluator.tracks.relationships.truth import RelationshipsTruth

Codes = NDArray[np.int64]
Overlaps = NDArray[np.float64]
FIXABLE = [RELATIONSHIP_KINDS.index(kind) for kind in ("localization", "relation", "subject", "object")]
MISSED = RELATIONSHIP_KINDS.index("missed")
# The kinds of errors in which exactly one part of a predicted pair is wrong. Each tuple states whether the first label,
# the second label and the relation are correct.
ONE_PART_WRONG = {
    "relation": (True, True, False),
    "subject": (False, True, True),
    "object": (True, False, True),
}


@dataclass(frozen=True, slots=True)
class Compared:
    """The ``kinds``, ``triplets`` and ``overlaps`` of :class:`Errors` for N pairs that are scored."""

    kinds: Codes
    triplets: Codes
    overlaps: Overlaps


@dataclass(frozen=True, slots=True)
class Errors:
    """The kinds of errors of N pairs that are scored, and of the M triplets of the ground truth.

    Attributes
    ----------
    kinds : int64 array of shape (N,)
        Kind of error of each pair, ``NO_ERROR`` for true positives.
    triplets : int64 array of shape (N,)
        Index of the triplet that each pair hits or, for a false positive, that its kind of error refers to; -1 if there
        is none.
    overlaps : float64 array of shape (N,)
        Overlap with that triplet: the smaller IoU of the two boxes.
    fixed : int64 array of shape (N,)
        Code of the relation for which the pair would be a true positive if its only error were fixed; -1 if another
        pair hits that triplet or would hit it first.
    missed : int64 array of shape (M,)
        Kind of error that caused each triplet to be missed, ``NO_ERROR`` if the triplet was matched.
    """

    kinds: Codes
    triplets: Codes
    overlaps: Overlaps
    fixed: Codes
    missed: Codes

    def curve_errors(self, truth: RelationshipsTruth, matches: PairMatches, split: str) -> CurveErrors:
        """Return the errors in a split, by relation. All unknown relations count as one additional relation."""
        in_split = truth.splits[split]
        chosen = in_split[matches.pairs.images]
        lost = in_split[truth.triplet_images] & (self.missed == MISSED)
        return CurveErrors(
            curves=matches.pairs.relations[chosen],
            confidences=matches.pairs.confidences[chosen],
            weights=matches.hits[chosen].astype(float),
            kinds=self.kinds[chosen],
            fixed_curves=self.fixed[chosen],
            missed_curves=truth.triplet_relations[lost],
            missed_kinds=self.missed[lost],
            missed_weights=np.ones(np.count_nonzero(lost)),
            positives=np.append(truth.positives(split), 0).astype(float),
        )


def errors_of(truth: RelationshipsTruth, matches: PairMatches, threshold: float) -> Errors:
    """Return the kind of error for each pair that is scored, and for each triplet that was not matched.

    Pairs that are not scored are compared with the triplets of their image too. Otherwise, the scoring time would
    reveal which pairs are scored.
    """
    found = compared(truth, matches, threshold)
    kinds, triplets, overlaps = found.kinds, found.triplets, found.overlaps
    matches = matches[matches.pairs.is_scored]
    pairs, hits = matches.pairs, matches.hits
    is_free = np.ones(len(truth.triplets), bool)
    is_free[triplets[hits]] = False
    is_fixable = np.isin(kinds, FIXABLE) & np.append(is_free, False)[triplets]
    # Pairs with different labels or relations can claim the same triplet, so their codes break ties too.
    ties = [*pairs.coordinates, truth.keys.without_images(pairs.keys)]
    fixed = winning_claims(np.where(is_fixable, triplets, -1), pairs.confidences, overlaps, ties)
    missed = np.where(is_free, MISSED, NO_ERROR)
    missed[triplets[fixed]] = kinds[fixed]
    relations = np.where(fixed, np.append(truth.triplet_relations, -1)[triplets], -1)
    return Errors(kinds, triplets, overlaps, relations, missed)


def compared(truth: RelationshipsTruth, matches: PairMatches, threshold: float) -> Compared:
    """Compare pairs with the triplets of their images, and return the results for the pairs that are scored.

    The result for a pair does not depend on other pairs, except through the hits in ``matches``.
    """
    scored = matches.pairs.is_scored
    anything, *others = [(best[scored], overlap[scored]) for best, overlap in _nearest(truth, matches)]
    nearest = dict(zip(ONE_PART_WRONG, others, strict=True))
    matches = matches[scored]
    kinds = relationship_kinds(
        exact=matches.overlaps,
        relation=nearest["relation"][1],
        subject=nearest["subject"][1],
        object_=nearest["object"][1],
        any_triplet=anything[1],
        threshold=threshold,
    )
    kinds[matches.hits] = NO_ERROR
    triplets, overlaps = matches.triplets.copy(), matches.overlaps.copy()
    for kind, (best, overlap) in {**nearest, "several": anything, "background": anything}.items():
        chosen = kinds == RELATIONSHIP_KINDS.index(kind)
        triplets[chosen], overlaps[chosen] = best[chosen], overlap[chosen]
    triplets[overlaps == 0] = -1
    return Compared(kinds, triplets, overlaps)


def _nearest(truth: RelationshipsTruth, matches: PairMatches) -> list[tuple[Codes, Overlaps]]:
    """Return the triplet that each pair overlaps most in its image, and the overlap, for several sets of triplets.

    The first element of the result is for all triplets. For each kind in :data:`ONE_PART_WRONG`, another element is
    restricted to the triplets that differ from the pair in exactly that part.
    """
    pairs = matches.pairs
    ours, theirs = truth.keys.decode(pairs.keys), truth.keys.decode(truth.triplets)

    def overlaps(mine: Codes, its: Codes) -> list[Overlaps]:
        found = triplet_overlap(truth, pairs, mine, its)
        same = [our_codes[mine] == their_codes[its] for our_codes, their_codes in zip(ours, theirs, strict=True)]
        differ = (
            np.all([a == b for a, b in zip(same, wanted, strict=True)], axis=0) for wanted in ONE_PART_WRONG.values()
        )
        return [found, *(np.where(chosen, found, 0.0) for chosen in differ)]

    return best_objects_of_each(pairs.images, truth.triplet_images, 1 + len(ONE_PART_WRONG), overlaps)
