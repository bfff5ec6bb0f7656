"""Determines the kind of each error in a submission, and how much the score would rise without each kind of error."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.average_precision import average_precisions, mean_defined

NO_ERROR = -1
CLASS, LOCALIZATION, BOTH, DUPLICATE, BACKGROUND, GROUP_OF, MISSED = range(7)
DETECTION_KINDS = ("class", "localization", "both", "duplicate", "background", "group_of", "missed")
RELATIONSHIP_KINDS = (
    *("duplicate", "localization", "relation", "subject", "object"),
    *("several", "background", "missed"),
)
BACKGROUND_OVERLAP = 0.1  # Highest IoU with any object at which a prediction can count as background.

Codes = NDArray[np.int64]
Numbers = NDArray[np.float64]


def detection_kinds(own: Numbers, other: Numbers, group_share: Numbers, threshold: float) -> Codes:
    """Return the kind of error of each false positive of a detector.

    Parameters
    ----------
    own, other : float64 arrays of shape (N,)
        Highest IoU of each false positive with an object of the same class, and with one of a different class.
    group_share : float64 array of shape (N,)
        Highest fraction of each false positive's area that lies inside one group-of box of the same class.
    threshold : float
        Smallest IoU for a hit.

    Returns
    -------
    int64 array of shape (N,)
        The first kind that applies: ``LOCALIZATION`` (overlaps an object of the same class by
        :data:`BACKGROUND_OVERLAP` or more, but not enough for a hit), ``CLASS`` (overlaps an object of a different
        class enough for a hit), ``DUPLICATE`` (would be a hit, but a more confident detection hits the object),
        ``GROUP_OF`` (partly in a group-of box), ``BACKGROUND`` (overlaps no object), ``BOTH`` (overlaps an object of a
        different class, but not enough).

    Notes
    -----
    The kinds, their order and the use of ``threshold`` and :data:`BACKGROUND_OVERLAP` are the same as in the code of
    TIDE (Bolya et al., ECCV 2020). ``GROUP_OF`` is not in TIDE, which has only ignore regions.

    Examples
    --------
    >>> own, other = np.array([0.3, 0.0, 0.9]), np.array([0.9, 0.9, 0.0])
    >>> [DETECTION_KINDS[kind] for kind in detection_kinds(own, other, np.zeros(3), 0.5)]
    ['localization', 'class', 'duplicate']
    """
    return np.asarray(
        np.select(
            [
                (own >= BACKGROUND_OVERLAP) & (own < threshold),
                other >= threshold,
                own >= threshold,
                group_share >= BACKGROUND_OVERLAP,
                np.maximum(own, other) <= BACKGROUND_OVERLAP,
            ],
            [LOCALIZATION, CLASS, DUPLICATE, GROUP_OF, BACKGROUND],
            BOTH,
        )
    )


def relationship_kinds(
    exact: Numbers, relation: Numbers, subject: Numbers, object_: Numbers, any_triplet: Numbers, threshold: float
) -> Codes:
    """Return the kind of error of each pair that is a false positive.

    Parameters
    ----------
    exact : float64 array of shape (N,)
        Highest overlap with a triplet of the same two classes and relation.
    relation, subject, object_ : float64 arrays of shape (N,)
        Highest overlap with a triplet that differs only in the relation, only in the first class, and only in the
        second class.
    any_triplet : float64 array of shape (N,)
        Highest overlap with any triplet of the image.
    threshold : float
        Smallest overlap for a hit; it applies to both boxes.

    Returns
    -------
    int64 array of shape (N,), indices into :data:`RELATIONSHIP_KINDS`
        The first kind that applies: ``duplicate`` (everything is correct, but a more confident pair hits the triplet),
        ``localization`` (both classes and the relation are correct, and the boxes overlap by :data:`BACKGROUND_OVERLAP`
        or more, but not enough), ``relation``, ``subject``, ``object`` (everything else is correct), ``background``
        (overlaps no triplet), ``several`` (more than one part is wrong).

    Examples
    --------
    >>> none = np.zeros(2)
    >>> kinds = relationship_kinds(np.array([0.2, 0.0]), none, np.array([0.9, 0.9]), none, none, 0.5)
    >>> [RELATIONSHIP_KINDS[kind] for kind in kinds]
    ['localization', 'subject']
    """
    conditions = {
        "duplicate": exact >= threshold,
        "localization": exact >= BACKGROUND_OVERLAP,
        "relation": relation >= threshold,
        "subject": subject >= threshold,
        "object": object_ >= threshold,
        "background": any_triplet <= BACKGROUND_OVERLAP,
    }
    codes = [RELATIONSHIP_KINDS.index(kind) for kind in conditions]
    return np.asarray(np.select(list(conditions.values()), codes, RELATIONSHIP_KINDS.index("several")))


@dataclass(frozen=True, slots=True)
class CurveErrors:
    """The errors of a submission: N entries (mostly predictions) of C precision/recall curves, and M missed objects.

    The missed objects are those that no entry would hit, even if the error of the entry were fixed.

    Attributes
    ----------
    curves : int64 array of shape (N,)
    confidences, weights : float64 arrays of shape (N,)
        As in :func:`evaluator.metrics.average_precision.average_precision`.
    kinds : int64 array of shape (N,)
        Kind of error of each entry, ``NO_ERROR`` for true positives.
    fixed_curves : int64 array of shape (N,)
        Curve in which a false positive would be a hit if its error were fixed; -1 if it would hit nothing.
    missed_curves, missed_kinds : int64 arrays of shape (M,)
        Curve and kind of error of each missed object.
    missed_weights : float64 array of shape (M,)
    positives : float64 array of shape (C,)
        Sum of the weights of the objects of each curve.
    """

    curves: Codes
    confidences: Numbers
    weights: Numbers
    kinds: Codes
    fixed_curves: Codes
    missed_curves: Codes
    missed_kinds: Codes
    missed_weights: Numbers
    positives: Numbers

    def false_positives(self, kind: int) -> Codes:
        """Return the number of false positives with the given kind of error in each curve, shape (C,)."""
        return np.bincount(self.curves[self.kinds == kind], minlength=len(self.positives))

    def misses(self, kind: int) -> float:
        """Return the total weight of the objects that were missed because of errors of the given kind."""
        fixable = np.count_nonzero((self.kinds == kind) & (self.fixed_curves >= 0))
        return float(fixable + self.missed_weights[self.missed_kinds == kind].sum())

    def gain_without(self, kind: int) -> float:
        """Return how much the mean average precision would rise if all errors of the given kind were fixed.

        A false positive becomes a hit if that is possible, and is removed otherwise. A missed object that no entry
        can match is removed from the ground truth. TIDE uses the same rule. The gains of all kinds need not add up to
        1 minus the score.
        """
        wrong = self.kinds == kind
        hits, kept = wrong & (self.fixed_curves >= 0), ~wrong | (self.fixed_curves >= 0)
        missed = self.missed_kinds == kind
        removed = np.bincount(self.missed_curves[missed], self.missed_weights[missed], minlength=len(self.positives))
        fixed = average_precisions(
            np.where(hits, self.fixed_curves, self.curves)[kept],
            self.confidences[kept],
            np.where(hits, 1.0, self.weights)[kept],
            self.positives - removed,
        )
        return self._gain(fixed)

    def gain_without_false_positives(self) -> float:
        """Return how much the mean average precision would rise if there were no false positives.

        No additional object is matched, so the average precision of each curve becomes its recall. TIDE also reports
        this gain.
        """
        true = self.kinds == NO_ERROR
        return self._gain(
            average_precisions(self.curves[true], self.confidences[true], self.weights[true], self.positives)
        )

    def gain_without_misses(self) -> float:
        """Return how much the mean average precision would rise if no object were missed.

        The objects that were not matched are removed from the ground truth. All false positives remain. TIDE also
        reports this gain.
        """
        found = np.bincount(self.curves, self.weights, len(self.positives)).astype(np.float64)
        return self._gain(average_precisions(self.curves, self.confidences, self.weights, found))

    def _gain(self, fixed: Numbers) -> float:
        """Return the increase in mean average precision if ``fixed``, shape (C,), replaced the average precisions.

        A curve whose objects have all been removed keeps its average precision. Otherwise, it would be left out of
        the mean, and the mean could rise even if no additional object is matched.
        """
        now = average_precisions(self.curves, self.confidences, self.weights, self.positives)
        return mean_defined(np.where(np.isnan(fixed), now, fixed)) - mean_defined(now)
