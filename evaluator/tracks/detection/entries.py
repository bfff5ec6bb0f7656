"""The entries of precision/recall curves (detections and matched groups), from which score reports are computed."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluator.derived import derived
from evaluator.metrics.average_precision import indices_by_group, reported_average_precisions
from evaluator.metrics.bootstrap import MeanAveragePrecision, Numbers, Weights
from evaluator.metrics.resampling import HIT, MISS, PARTIAL_HIT, CurveSteps, ImageGroups, ImageRows, crowded_entries
from evaluator.report import CurveRow, SplitReport
from evaluator.tracks.detection.summary import EntryCounts, split_report, weighted
from evaluator.tracks.interface import Engine, Outcome
from evaluator.tracks.shared.curves.rows import curve_row
from evaluator.tracks.shared.label_truth import ObjectTruth


@dataclass(slots=True)
class Entries:
    """The entries of all precision/recall curves: the detections, and an additional entry for each matched group.

    Attributes
    ----------
    images : int array of shape (N,)
    classes : int array of shape (N,)
        Code of the class of each entry. With C classes, labels that are not in the ground truth have the code C. An
        entry that is not scored has C + 1 plus the code of its class. Curves of such entries are computed and
        discarded; otherwise, running time and memory use would reveal which entries are scored.
    confidences : float64 array of shape (N,)
    weights : float64 array of shape (N,)
        The amount that each entry adds to the number of true positives: 1 for a detection that hits an object, the
        group-of weight for a group, 0 for a false positive.
    """

    images: NDArray[np.integer[Any]]
    classes: NDArray[np.integer[Any]]
    confidences: NDArray[np.float64]
    weights: NDArray[np.float64]

    def __getitem__(self, chosen: NDArray[np.bool_]) -> "Entries":
        """Return the entries of precision/recall curves that a Boolean mask of shape (N,) selects."""
        return Entries(self.images[chosen], self.classes[chosen], self.confidences[chosen], self.weights[chosen])

    def average_precisions(self, positives: Numbers) -> Numbers:
        """Return the average precision of each class, given the number of positives of each class; shape (classes,)."""
        count = 2 * len(positives) + 2
        return reported_average_precisions(self.classes, self.confidences, self.weights, positives, count)

    def counts(self, classes: int, group_weight: float) -> EntryCounts:
        """Return the numbers of curve entries, true positives and false positives in each class."""
        hits, groups = self.weights == 1, (self.weights > 0) & (self.weights < 1)
        hit, group, scored = (
            np.bincount(self.classes[chosen], minlength=classes)[:classes]
            for chosen in (hits, groups, np.ones(len(hits), bool))
        )
        return EntryCounts(scored, hit + group_weight * group, scored - hit - group)


@dataclass(frozen=True, slots=True)
class ScoredDetections:
    """A submission whose detections have been matched, with the data from which its outcome is computed.

    Attributes
    ----------
    truth : ObjectTruth
    entries : Entries
    group_weight : float
        The amount that a matched group adds to the number of true positives.
    crowded : bool array of shape (images,)
        Which images have unusually many predictions; see :func:`evaluator.metrics.resampling.crowded_images`.
    """

    truth: ObjectTruth
    entries: Entries
    group_weight: float
    crowded: NDArray[np.bool_]

    def outcome(self) -> Outcome:
        """Return the outcome of scoring the submission, which contains the report for each split."""
        return Outcome(self.truth.for_each_split(self.report), self.statistics, self.curves)

    def report(self, split: str) -> SplitReport:
        """Return the score report for a split."""
        entries = self.entries[self.truth.summed_images(split)[self.entries.images]]
        counts = entries.counts(len(self.truth.labels), self.group_weight)
        return split_report(self.truth, split, self.group_weight, entries.average_precisions, counts)

    def curves(self, split: str) -> list[CurveRow]:
        """Return the precision/recall curves of the classes that are listed in the report of a split."""
        truth, positives = self.truth, weighted(*self.truth.counts(split), self.group_weight)
        entries = self.entries[truth.splits[split][self.entries.images]]
        members = list(indices_by_group(entries.classes, len(positives)))
        rows = []
        for label in truth.shown_labels(split):
            named: CurveRow = {"label": truth.labels[label], "name": truth.names[label], "curve": "ap"}
            mine = members[label]
            rows.append(curve_row(named, entries.confidences[mine], entries.weights[mine], float(positives[label])))
        return rows

    def statistics(self, image_rows: ImageRows) -> "DetectionStatistics":
        """Return the statistics of a split, from which bootstrap replicates are computed.

        ``image_rows`` maps each image to its row in the matrix of bootstrap weights.
        """
        count, entries = len(self.truth.labels) + 1, self.entries
        kinds = np.where(entries.weights >= 1, HIT, np.where(entries.weights > 0, PARTIAL_HIT, MISS)).astype(np.uint8)
        rows, crowded = image_rows[entries.images], crowded_entries(self.crowded, entries.images, image_rows)
        return DetectionStatistics(
            self._images_of("objects", image_rows),
            self._images_of("groups", image_rows),
            CurveSteps.of(entries.classes, entries.confidences, kinds, rows, count, crowded=crowded),
            self.group_weight,
        )

    def _images_of(self, name: Literal["objects", "groups"], image_rows: ImageRows) -> ImageGroups:
        """Return the images of the ordinary objects or of the groups, by class. ``name`` selects the kind of object."""
        truth = self.truth

        def images() -> ImageGroups:
            images, classes = truth.images_and_labels(truth.object_keys if name == "objects" else truth.group_keys)
            return ImageGroups.of(classes, image_rows[images], len(truth.labels), name=name)

        return derived(truth, (name, sha256(image_rows.data).digest()), images)


@dataclass(frozen=True, slots=True)
class DetectionStatistics:
    """The objects, groups and precision/recall curves of a split, prepared for computing bootstrap replicates."""

    ordinary: ImageGroups
    groups: ImageGroups
    curves: CurveSteps
    group_weight: float

    def metrics(self, weights: Weights, engine: Engine) -> Mapping[str, Numbers]:
        """Return the value of every metric in each bootstrap replicate."""

        def areas(positives: Numbers) -> Numbers:
            return engine.average_precisions(weights, self.curves, positives, self.group_weight)

        ordinary, groups = engine.sums(weights, self.ordinary), engine.sums(weights, self.groups)
        return MeanAveragePrecision.of(weighted(ordinary, groups, self.group_weight), areas).metrics()
