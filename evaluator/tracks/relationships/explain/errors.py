"""Why pairs failed: each false positive and each missed triplet of a submission gets one kind of error."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.boxes import pair_overlap
from evaluator.metrics.errors import RELATIONSHIP_KINDS, RIGHT, Evidence, relationship_kinds
from evaluator.metrics.matching import best_objects, takers
from evaluator.tracks.relationships.scorer import Pairs
from evaluator.tracks.relationships.summary import objects
from evaluator.tracks.relationships.triplets import classes_of
from evaluator.truth import Truth

Codes = NDArray[np.int64]
Overlaps = NDArray[np.float64]
MENDABLE = [RELATIONSHIP_KINDS.index(kind) for kind in ("localization", "relation", "subject", "object")]
MISSED = RELATIONSHIP_KINDS.index("missed")
# What a pair shares with the triplets it is compared with, and how its error is told by that.
SAME = {
    "exact": (True, True, True),
    "relation": (True, True, False),
    "subject": (False, True, True),
    "object_": (True, False, True),
}


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What is said of N pairs and M triplets.

    Attributes
    ----------
    kinds : int64 array of shape (N,)
        Kind of error of each false positive, ``RIGHT`` for hits.
    triplets : int64 array of shape (N,)
        The triplet that a pair hit, or failed to hit; -1 where none.
    overlaps : float64 array of shape (N,)
        The smaller of the two IoUs with it.
    mended : int64 array of shape (N,)
        Relation in which it would hit that triplet if its one error were mended, -1 where that is taken or would be.
    missed : int64 array of shape (M,)
        Kind of error by which a triplet was missed, ``RIGHT`` where it was found.
    """

    kinds: Codes
    triplets: Codes
    overlaps: Overlaps
    mended: Codes
    missed: Codes

    def evidence(self, truth: Truth, pairs: Pairs, in_split: NDArray[np.bool_]) -> Evidence:
        """Return what a split's errors are weighed by; the last curve is that of unknown relations."""
        chosen = in_split[pairs.images]
        lost = in_split[truth.arrays["images"]] & (self.missed == MISSED)
        return Evidence(
            curves=pairs.relations[chosen],
            confidences=pairs.confidences[chosen],
            weights=(self.kinds[chosen] == RIGHT).astype(float),
            kinds=self.kinds[chosen],
            mended=self.mended[chosen],
            lost=truth.arrays["relations"][lost],
            lost_kinds=self.missed[lost],
            lost_weights=np.ones(np.count_nonzero(lost)),
            truths=np.append(objects(truth, in_split), 0).astype(float),
        )


def judged(truth: Truth, pairs: Pairs, hits: NDArray[np.bool_], threshold: float) -> Verdicts:
    """Find out what each false positive came nearest to, and what each missed triplet was missed by."""
    nearest = {name: _nearest(truth, pairs, same) for name, same in SAME.items()}
    anything, near = _nearest(truth, pairs, None)
    kinds = relationship_kinds(near=near, threshold=threshold, **{name: most for name, (_, most) in nearest.items()})
    kinds[hits] = RIGHT
    triplets, overlaps = nearest["exact"][0].copy(), nearest["exact"][1].copy()
    for name, (best, most) in {**nearest, "several": (anything, near), "background": (anything, near)}.items():
        if name != "exact":
            mine = kinds == RELATIONSHIP_KINDS.index(name.rstrip("_"))
            triplets[mine], overlaps[mine] = best[mine], most[mine]
    triplets[overlaps == 0] = -1

    free = np.ones(len(truth.arrays["triplets"]), bool)
    free[triplets[hits]] = False
    mendable = np.isin(kinds, MENDABLE) & np.append(free, False)[triplets]
    winners = takers(np.where(mendable, triplets, -1), pairs.confidences, overlaps, pairs.corners)
    missed = np.where(free, MISSED, RIGHT)
    missed[triplets[winners]] = kinds[winners]
    mended = np.where(winners, np.append(truth.arrays["relations"], -1)[triplets], -1)
    return Verdicts(kinds, triplets, overlaps, mended, missed)


def _nearest(truth: Truth, pairs: Pairs, same: tuple[bool, bool, bool] | None) -> tuple[Codes, Overlaps]:
    """Return the triplet that each pair overlaps most, -1 where there is none, and how much.

    ``same``: in which of class 1, class 2 and relation the triplet must be the same, and in which another; None takes
    any triplet of the image.
    """
    ours, theirs = classes_of(truth.texts, pairs.keys), classes_of(truth.texts, truth.arrays["triplets"])

    def overlap(mine: Codes, its: Codes) -> Overlaps:
        overlaps = np.minimum(
            pair_overlap(pairs.first[mine], truth.arrays["first"][its]),
            pair_overlap(pairs.second[mine], truth.arrays["second"][its]),
        )
        for place, wanted in enumerate(same or ()):
            overlaps[(ours[place][mine] == theirs[place][its]) != wanted] = 0.0
        return overlaps

    best, most = best_objects(pairs.images, truth.arrays["images"], overlap)
    return np.where(most > 0, best, -1), most
