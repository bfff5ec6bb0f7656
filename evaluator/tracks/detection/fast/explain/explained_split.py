"""Computes the numbers that explain a detection score on one split, from the sorted outcomes of all predictions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from evaluator.derived import derived
from evaluator.kernels.detection.explain.explained import (
    ABSORBED,
    ARRIVAL,
    FALSE,
    FIXABLE,
    GROUP,
    HIT,
    IGNORED,
    OUTCOMES,
    UNVERIFIED,
    Hierarchy,
)
from evaluator.metrics.average_precision import mean_defined
from evaluator.metrics.bootstrap import MeanAveragePrecision, Numbers
from evaluator.metrics.errors import CLASS, DETECTION_KINDS, LOCALIZATION
from evaluator.report import ClassRow, CurveRow, SplitReport, finite
from evaluator.tracks.detection.explain.ablation import ablation_row
from evaluator.tracks.detection.explain.figures import Figures
from evaluator.tracks.detection.explain.slices import SIZES, positives_of_sizes, slices
from evaluator.tracks.detection.fast import variants
from evaluator.tracks.detection.fast.explain.explaining_reader import ObjectOutcomes
from evaluator.tracks.detection.fast.explain.object_numbers import ObjectNumbers
from evaluator.tracks.detection.summary import EntryCounts, split_report, weighted
from evaluator.tracks.detection.truth import DetectionTruth
from evaluator.tracks.shared.confusions import confused, totals
from evaluator.tracks.shared.curves.buckets import HALVES
from evaluator.tracks.shared.curves.rows import row_of
from evaluator.tracks.shared.curves.variants import CodedCurves, Roles
from evaluator.tracks.shared.label_truth import count_objects
from evaluator.tracks.shared.report_tables import ErrorNumbers

KINDS = range(len(DETECTION_KINDS))
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ExplainedFile:
    """The outcomes of all predictions of a submission, and of all objects of the ground truth.

    Attributes
    ----------
    truth : DetectionTruth
    hierarchy : Hierarchy
    curves : CodedCurves
    objects : ObjectOutcomes
    confusions : two int64 arrays of shape (N,)
        Codes, and how often each occurs; see :class:`evaluator.kernels.detection.explain.confusions.Confusions`. Each
        thread has its own codes, so a code can occur several times.
    group_weight : float
    has_ablation : bool
        Whether the report has an ablation table, as with the official Open Images rules.
    """

    truth: DetectionTruth
    hierarchy: Hierarchy
    curves: CodedCurves
    objects: ObjectOutcomes
    confusions: tuple[Codes, Codes]
    group_weight: float
    has_ablation: bool


def plain_counts(truth: DetectionTruth, hierarchy: Hierarchy) -> NDArray[np.int64]:
    """Return the numbers of objects, as in ``ObjectTruth.object_counts``, but without copies for ancestor classes."""
    boxes, groups = truth.object_keys[hierarchy.box_is_annotated], truth.group_keys[hierarchy.group_is_annotated]
    return count_objects(boxes, groups, truth.usage, len(truth.labels))


class ExplainedSplit:
    """The numbers that explain a detection score on one split, computed from the outcomes of all predictions."""

    def __init__(self, found: ExplainedFile, split: str) -> None:
        self.found = found
        self.truth = found.truth
        self.weight = found.group_weight
        self.split = split
        self.halves = HALVES[split]
        self.codes = np.isin(variants.HALF, self.halves)
        self.positives = weighted(*self.truth.counts(split), self.weight)

    @cached_property
    def report(self) -> SplitReport:
        """The score report for the split, with the tables and columns of its explanation."""
        hits, groups, false = self._count(HIT), self._found_groups, self._false.sum(axis=0)
        counts = EntryCounts(hits + groups + false, hits + self.weight * groups, false)
        report = split_report(self.truth, self.split, self.weight, lambda _: self._areas[0], counts)
        return self._figures().explained(self.truth, report)

    @cached_property
    def curves(self) -> list[CurveRow]:
        """The precision/recall curves of the classes that are listed in the report."""
        truth, roles, rows = self.truth, self._scored, []
        labels, names = list(truth.labels), list(truth.names)
        for label in truth.shown_labels(self.split):
            named: CurveRow = {"label": labels[label], "name": names[label], "curve": "ap"}
            positives = float(self.positives[label])
            curve = self.found.curves.corners(label, roles, positives, self.weight)
            rows.append(row_of(named, float(self._areas[0, label]), positives, curve))
        self.found.curves.discard_corners(truth.shown_labels(self.split), roles, self.weight)
        return rows

    def _count(self, outcome: int) -> Codes:
        """Return the number of curve entries of each class that have the given outcome, shape (classes,).

        A curve entry is a detection or a matched group in a precision/recall curve.
        """
        by_outcome = self.found.curves.by_curve[: len(self.truth.labels)].reshape(-1, 2, OUTCOMES)
        return np.asarray(by_outcome[:, list(self.halves), outcome].sum(axis=1))

    @cached_property
    def _scored(self) -> Roles:
        return variants.as_scored(self.codes, self.weight)

    @cached_property
    def _found_groups(self) -> Codes:
        return self._count(GROUP) * (self.weight > 0)

    @cached_property
    def _false(self) -> Codes:
        """The numbers of false positives by kind of error and by class, shape (kinds, classes)."""
        found = np.array([self._count(FALSE + kind) for kind in KINDS])
        found[LOCALIZATION] += self._count(FIXABLE)
        return found

    @cached_property
    def _objects(self) -> ObjectNumbers:
        return ObjectNumbers.of(self.truth, self.found.objects, self.split, self.weight)

    @cached_property
    def _areas(self) -> Numbers:
        """The average precision of each class in each variant, shape (variants, classes).

        A variant is the submission as scored, or with a hypothetical change, such as without false positives. Row i is
        computed from the i-th element of :meth:`_variants`.
        """
        roles, positives = zip(*self._variants(), strict=True)
        return self.found.curves.areas(np.array(roles), np.array(positives, np.float64), self.weight)

    def _variants(self) -> Iterator[tuple[Roles, Numbers]]:
        """Yield the data from which the average precisions of the submission and of its variants are computed.

        The first variant is the submission as scored. It is followed by one variant for each kind of error, without
        these errors; one without false positives; one without missed objects; one for the objects of each size; and one
        for each combination of rules in the ablation. The data of a variant are the roles of the curve entries (such as
        true positive) and the number of positives of each class.
        """
        yield self._scored, self.positives
        for kind, removed in enumerate(self._objects.lost):
            yield variants.without_errors(self.codes, self.weight, kind), self.positives - removed
        yield variants.without_false_positives(self.codes, self.weight), self.positives
        yield self._scored, self._true
        for size, positives in enumerate(self._positives_of_sizes()):
            yield variants.of_size(self.codes, size), positives
        for hierarchy, verified_only, weight in self._rules():
            plain = hierarchy != self.truth.has_copies
            counts = self._plain_counts() if plain else self.truth.counts(self.split)
            roles = variants.ablated(self.codes, plain=plain, verified_only=verified_only, group_weight=weight)
            yield roles, weighted(*counts, weight)

    @property
    def _true(self) -> Numbers:
        """The total weight of the true positives in each class.

        The weights are added one by one, so that rounding errors are the same as in the reference implementation.
        """
        classes = np.arange(len(self.positives))
        groups = np.repeat(classes, self._found_groups)
        weights = np.concatenate([self._count(HIT), np.full(len(groups), self.weight)])
        return np.bincount(np.concatenate([classes, groups]), weights, len(classes)).astype(np.float64)

    def _positives_of_sizes(self) -> NDArray[np.float64]:
        return derived(
            self.truth, ("positives of sizes", self.split), lambda: positives_of_sizes(self.truth, self.split)
        )

    def _plain_counts(self) -> tuple[Codes, Codes]:
        """Return the numbers of ordinary objects and of groups, without the copies that the hierarchy adds."""
        usages = [1 + half for half in self.halves]
        counts = derived(self.truth, "plain counts", lambda: plain_counts(self.truth, self.found.hierarchy))
        ordinary, groups = counts[usages].sum(axis=0)
        return ordinary, groups

    def _rules(self) -> Iterable[tuple[bool, bool, int]]:
        """Return each combination of rules in the ablation table; none if the report has no such table.

        The rules are whether the hierarchy is used, whether only verified classes (those known to be present or absent
        in an image) are scored, and the group-of weight.
        """
        if not self.found.has_ablation:
            return ()
        return product((True, False) if self.truth.has_copies else (False,), (True, False), (1, 0))

    def _figures(self) -> Figures:
        of_sizes = 3 + len(KINDS)
        of_rules = of_sizes + len(SIZES)
        errors = ErrorNumbers(self._false, self._missed(), self._areas[0], self._areas[1:of_sizes])
        by_size: list[ClassRow] = [
            {"false_positives": int(false), "mAP": finite(mean_defined(areas))}
            for false, areas in zip(self._false_of_sizes(), self._areas[of_sizes:of_rules], strict=True)
        ]
        in_split, kinds = self.truth.splits[self.split], self.found.objects.box_kinds
        scored = self._count(HIT) + self._false.sum(axis=0)
        tables = {
            "class_errors": confused(totals(*self._confusions()), self.truth.labels),
            "slices": slices(self.truth, kinds, in_split, self._objects.by_size, by_size),
        }
        return Figures(
            errors=errors,
            predicted=scored + self.weight * self._found_groups,
            by_outcome={
                "ignored": self._count(UNVERIFIED) + self._count(IGNORED),
                "group_found": self._found_groups,
                "absorbed": self._count(ABSORBED) - self._found_groups,
                "missed": self._objects.missed,
            },
            tables={**tables, "ablation": self._ablation(of_rules)} if self.found.has_ablation else tables,
        )

    def _ablation(self, first: int) -> list[ClassRow]:
        """Return the ablation table. Its first row is computed from the row ``first`` of ``_areas``."""
        return [
            ablation_row(
                MeanAveragePrecision(self.positives, areas),
                verified_only=verified_only,
                hierarchy=hierarchy,
                weight=weight,
            )
            for (hierarchy, verified_only, weight), areas in zip(self._rules(), self._areas[first:], strict=True)
        ]

    def _missed(self) -> list[float]:
        fixed = {CLASS: self._count(ARRIVAL).sum(), LOCALIZATION: self._count(FIXABLE).sum()}
        return [float(fixed.get(kind, 0)) + lost for kind, lost in enumerate(self._objects.lost_by_kind)]

    def _false_of_sizes(self) -> list[int]:
        false = np.where(variants.IS_FALSE & self.codes, self.found.curves.by_code, 0)
        return [int(false[size == variants.SIZE].sum()) for size in range(len(SIZES))]

    def _confusions(self) -> tuple[Codes, Codes, Codes]:
        """Return the actual and the predicted labels of false positives of the kind ``CLASS``, and their numbers."""
        codes, times = self.found.confusions
        pairs, half = np.divmod(codes - 1, 2)
        in_split = np.isin(half, self.halves)
        actual, predicted = np.divmod(pairs[in_split], len(self.truth.labels) or 1)
        return actual, predicted, times[in_split]
