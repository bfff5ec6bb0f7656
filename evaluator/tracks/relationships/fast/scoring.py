"""Scoring of relationships by kernels, with the same report as the reference implementation to the last bit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import RELATIONSHIPS
from evaluator.files.notices import notice_unknown_relations
from evaluator.kernels.relationships import state as relationships
from evaluator.kernels.relationships.matching import merge
from evaluator.problems import Findings
from evaluator.report import SplitReport
from evaluator.tracks.interface import Outcome, ScoringRequest, on_every_split
from evaluator.tracks.relationships.fast.reader import RelationshipReader, truth_of
from evaluator.tracks.relationships.resampling import PairEntries
from evaluator.tracks.relationships.summary import RECALL_AT, objects, summary
from evaluator.tracks.shared.buckets import HALVES, EntryBuckets
from evaluator.tracks.shared.fast import add_notices, read_all, require_one_row_per_image
from evaluator.truth import PRIVATE, Truth


def score(truth: Truth, submission: ScoringRequest, parameters: Mapping[str, Any], findings: Findings) -> Outcome:
    """Score a submission on every split, matching pairs while the file is read.

    Raises
    ------
    ReferenceNeeded
        If the submission needs the reference implementation.
    """
    known = truth_of(truth)
    readers: Sequence[RelationshipReader] = read_all(
        submission,
        RELATIONSHIPS,
        lambda header: [RelationshipReader(known, header, parameters) for _ in range(submission.threads)],
    )
    submission.progress("matching", 0.0)
    if readers[0].header.kaggle:
        require_one_row_per_image(readers)
    entries = all_entries(readers)
    buckets = RelationshipBuckets.of(truth, entries)
    counts = add_notices(truth, readers, findings)
    notice_unknown_relations(findings, counts[relationships.UNKNOWN_RELATIONS])
    submission.progress("scoring", 0.0)
    kinds = len(truth.texts["relations"])
    return Outcome(
        on_every_split(truth, lambda split: split_report(truth, buckets, split, parameters["weights"])),
        lambda places: entries.counted(kinds).sample(truth, buckets.recalled, parameters["weights"], places),
        lambda split: entries.counted(kinds).curves(truth, split),
        trials=lambda metric: truth.arrays["images"],
    )


def all_entries(readers: Sequence[RelationshipReader]) -> PairEntries:
    """Return the entries of all threads in ascending order of confidence, so that no bucket needs to be sorted."""
    misses = misses_of(readers)
    confidences, images, relations = (
        np.concatenate([getattr(reader.state, name)[: reader.entries] for reader in readers])
        for name in ("confidences", "images", "relations")
    )
    order = np.argsort(confidences.view(np.uint64) << np.uint64(1) | misses[0])
    return PairEntries(images[order], relations[order], confidences[order], [missing[order] for missing in misses])


def misses_of(readers: Sequence[RelationshipReader]) -> list[NDArray[np.bool_]]:
    """Merge the states of all threads; return which entries miss every triplet, and which miss every phrase."""
    first, offset = readers[0], readers[0].entries
    for other in readers[1:]:
        merge(first.state, other.state, offset)
        offset += other.entries
    misses = []
    for best_entries in np.split(first.state.best_entries, 2):
        missing = np.ones(offset, bool)
        missing[best_entries[best_entries >= 0]] = False
        misses.append(missing)
    return misses


@dataclass(slots=True)
class RelationshipBuckets:
    """Everything that the report of a split is computed from.

    Attributes
    ----------
    by_relation : list of EntryBuckets
        Of triplets and of phrases, a bucket for each relation and half.
    pooled : list of EntryBuckets
        Of triplets and of phrases, a bucket for each half.
    recalled : list of int64 arrays
        For each limit of recall, the image of every triplet that was found.
    """

    by_relation: list[EntryBuckets]
    pooled: list[EntryBuckets]
    recalled: list[NDArray[np.int64]]

    @classmethod
    def of(cls, truth: Truth, entries: PairEntries) -> "RelationshipBuckets":
        """Put entries, ordered by confidence, into the buckets of all curves."""
        private = (truth.arrays["usage"][entries.images] == PRIVATE) * np.uint32(2)

        def buckets(classes: NDArray[np.uint32], missing: NDArray[np.bool_], count: int) -> EntryBuckets:
            return EntryBuckets.of([(entries.confidences, classes * np.uint32(4) + private + missing)], count)

        images, kinds = len(truth.texts["images"]), len(truth.texts["relations"])
        not_scored = entries.relations > kinds  # such entries have the last class of each kind of curve
        images_or_last = np.where(not_scored, images, entries.images).astype(np.uint32)
        by_image = buckets(images_or_last, entries.misses[0], images + 1)
        return cls(
            [buckets(entries.relations.astype(np.uint32), missing, kinds + 2) for missing in entries.misses],
            [buckets(not_scored.astype(np.uint32), missing, 2) for missing in entries.misses],
            [found[found < images] for found in images_of_hits(by_image)],
        )


def images_of_hits(by_image: EntryBuckets) -> list[NDArray[np.int64]]:
    """Return, for each limit of recall, the image of every hit among the most confident entries of that image.

    Of entries with equal confidence, false positives come first.
    """
    hits = np.flatnonzero(by_image.keys & np.uint64(1) == 0)
    after = np.searchsorted(by_image.ends, hits, side="right")
    from_top = by_image.ends[after] - hits
    return [(after[from_top <= limit] - 1) // 2 for limit in RECALL_AT]


def split_report(
    truth: Truth, buckets: RelationshipBuckets, split: str, weights: tuple[float, float, float]
) -> SplitReport:
    """Return the report of one split: AP of each relation, their means, recall, and the weighted score."""
    in_split, halves = truth.splits[split], HALVES[split]
    positives = objects(truth, in_split)
    total = int(positives.sum())
    # Entries that are not scored get a positive as well, so that computing their curve takes as long; it is dropped.
    relations, pooled = np.r_[positives, 0.0, 1.0], np.array([total, 1.0])
    return summary(
        truth,
        positives,
        [np.fromiter(kind.average_precisions(relations, halves), float)[:-2] for kind in buckets.by_relation],
        pooled=[np.fromiter(kind.average_precisions(pooled, halves), float)[0] for kind in buckets.pooled],
        recalls=[np.count_nonzero(in_split[hits]) / total if total else float("nan") for hits in buckets.recalled],
        weights=weights,
    )
