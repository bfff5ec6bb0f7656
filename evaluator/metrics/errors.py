"""What went wrong, kind by kind, and what the score would be without it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.average_precision import average_precisions, mean_defined

RIGHT = -1
CLASS, LOCALIZATION, BOTH, DUPLICATE, BACKGROUND, GROUP_OF, MISSED = range(7)
DETECTION_KINDS = ("class", "localization", "both", "duplicate", "background", "group_of", "missed")
RELATIONSHIP_KINDS = (
    *("duplicate", "localization", "relation", "subject", "object"),
    *("several", "background", "missed"),
)
FLOOR = 0.1

Codes = NDArray[np.int64]
Numbers = NDArray[np.float64]


def detection_kinds(own: Numbers, other: Numbers, share: Numbers, threshold: float) -> Codes:
    """Return why each false positive of a detector is none of the hits.

    Parameters
    ----------
    own, other : float64 arrays of shape (N,)
        Highest IoU with an object of its own class, and of another class.
    share : float64 array of shape (N,)
        Highest IoA with a group-of box of its own class.
    threshold : float
        IoU of a hit.

    Returns
    -------
    int64 array of shape (N,)
        The first that fits: ``LOCALIZATION`` (its own class, at least :data:`FLOOR`, but not enough), ``CLASS`` (well
        placed on an object of another class), ``DUPLICATE`` (well placed on an object that a surer one has),
        ``GROUP_OF`` (partly in a group-of box), ``BACKGROUND`` (no object), ``BOTH`` (badly placed on an object of
        another class).

    Notes
    -----
    The kinds, their order and the two thresholds are those of TIDE (Bolya et al., ECCV 2020) as its code has them;
    ``GROUP_OF`` is ours, TIDE knows ignore regions only.

    Examples
    --------
    >>> own, other = np.array([0.3, 0.0, 0.9]), np.array([0.9, 0.9, 0.0])
    >>> [DETECTION_KINDS[kind] for kind in detection_kinds(own, other, np.zeros(3), 0.5)]
    ['localization', 'class', 'duplicate']
    """
    return np.asarray(
        np.select(
            [
                (own >= FLOOR) & (own < threshold),
                other >= threshold,
                own >= threshold,
                share >= FLOOR,
                np.maximum(own, other) <= FLOOR,
            ],
            [LOCALIZATION, CLASS, DUPLICATE, GROUP_OF, BACKGROUND],
            BOTH,
        )
    )


def relationship_kinds(
    exact: Numbers, relation: Numbers, subject: Numbers, object_: Numbers, near: Numbers, threshold: float
) -> Codes:
    """Return why each wrong pair is none of the hits.

    Parameters
    ----------
    exact : float64 array of shape (N,)
        Highest overlap with a triplet of the same two classes and relation.
    relation, subject, object_ : float64 arrays of shape (N,)
        The same with triplets that differ in the relation only, in the first class only, in the second class only.
    near : float64 array of shape (N,)
        The same with any triplet of the image.
    threshold : float
        Overlap of a hit: both boxes reach it.

    Returns
    -------
    int64 array of shape (N,), places in :data:`RELATIONSHIP_KINDS`
        The first that fits: ``duplicate`` (all right, but a surer pair has the triplet), ``localization`` (all right
        but the boxes, which overlap at least :data:`FLOOR`), ``relation``, ``subject``, ``object`` (all right but that
        one), ``background`` (near no triplet), ``several`` (more than one thing is wrong).

    Examples
    --------
    >>> none = np.zeros(2)
    >>> kinds = relationship_kinds(np.array([0.2, 0.0]), none, np.array([0.9, 0.9]), none, none, 0.5)
    >>> [RELATIONSHIP_KINDS[kind] for kind in kinds]
    ['localization', 'subject']
    """
    named = {
        "duplicate": exact >= threshold,
        "localization": exact >= FLOOR,
        "relation": relation >= threshold,
        "subject": subject >= threshold,
        "object": object_ >= threshold,
        "background": near <= FLOOR,
    }
    codes = [RELATIONSHIP_KINDS.index(kind) for kind in named]
    return np.asarray(np.select(list(named.values()), codes, RELATIONSHIP_KINDS.index("several")))


@dataclass(frozen=True, slots=True)
class Evidence:
    """The entries of C curves with what is wrong, and the objects that no entry would find if it were fixed.

    Attributes
    ----------
    curves : int64 array of shape (N,)
    confidences, weights : float64 arrays of shape (N,)
        As for :func:`evaluator.metrics.average_precision.average_precision`.
    kinds : int64 array of shape (N,)
        Kind of error of each entry, ``RIGHT`` for true positives.
    mended : int64 array of shape (N,)
        Curve in which a false positive would be the hit of a free object if its one error were mended; -1 where it
        would be nothing.
    lost, lost_kinds : int64 arrays of shape (M,)
        Curve and kind of each object that was not found and that no entry would be the hit of if it were fixed.
    lost_weights : float64 array of shape (M,)
    truths : float64 array of shape (C,)
        Weight of all objects.
    """

    curves: Codes
    confidences: Numbers
    weights: Numbers
    kinds: Codes
    mended: Codes
    lost: Codes
    lost_kinds: Codes
    lost_weights: Numbers
    truths: Numbers

    def false_positives(self, kind: int) -> int:
        """Return how many entries are wrong in this way."""
        return int(np.count_nonzero(self.kinds == kind))

    def misses(self, kind: int) -> float:
        """Return the weight of the objects that were not found for this reason."""
        fixable = np.count_nonzero((self.kinds == kind) & (self.mended >= 0))
        return float(fixable + self.lost_weights[self.lost_kinds == kind].sum())

    def gain_without(self, kind: int) -> float:
        """Return what the mean average precision would gain if all errors of a kind were fixed.

        A false positive becomes a hit where that is possible and is removed otherwise. An object that no entry would
        find is removed from the truth. As in TIDE, so the gains of all kinds do not add up to what is missing to 1.
        """
        wrong = self.kinds == kind
        hits, kept = wrong & (self.mended >= 0), ~wrong | (self.mended >= 0)
        gone = self.lost_kinds == kind
        removed = np.bincount(self.lost[gone], self.lost_weights[gone], minlength=len(self.truths))
        fixed = average_precisions(
            np.where(hits, self.mended, self.curves)[kept],
            self.confidences[kept],
            np.where(hits, 1.0, self.weights)[kept],
            self.truths - removed,
        )
        return self._gain(fixed)

    def gain_without_false_positives(self) -> float:
        """Return what the mean average precision would gain if no entry were wrong: TIDE's sum of all false positives.

        Nothing else would be found, so the average precision of each curve becomes its recall.
        """
        true = self.kinds == RIGHT
        return self._gain(
            average_precisions(self.curves[true], self.confidences[true], self.weights[true], self.truths)
        )

    def gain_without_misses(self) -> float:
        """Return what the mean average precision would gain if no object were missed: TIDE's sum of all misses.

        The objects that were not found are removed from the truth. All false positives stay.
        """
        found = np.bincount(self.curves, self.weights, len(self.truths)).astype(np.float64)
        return self._gain(average_precisions(self.curves, self.confidences, self.weights, found))

    def _gain(self, fixed: Numbers) -> float:
        """Return how much more the mean would be with other average precisions, of shape (C,).

        A curve that has no objects any more keeps the average precision that it had. It would leave the mean otherwise,
        and raise it although nothing was found.
        """
        now = average_precisions(self.curves, self.confidences, self.weights, self.truths)
        return mean_defined(np.where(np.isnan(fixed), now, fixed)) - mean_defined(now)
