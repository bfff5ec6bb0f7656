"""Relationships by the kernels: the same report as the readable way, to the last bit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import RELATIONSHIPS
from evaluator.files.notices import notice_unknown_relations
from evaluator.kernels.relationships import state as relationships
from evaluator.kernels.relationships.state import merge
from evaluator.problems import Findings
from evaluator.report import SplitReport
from evaluator.tracks.interface import Outcome, Streaming, on_every_split
from evaluator.tracks.relationships.fast.reader import RelationshipReader, truth_of
from evaluator.tracks.relationships.resampling import PairEntries
from evaluator.tracks.relationships.summary import RECALL_AT, objects, summary
from evaluator.tracks.shared.buckets import HALVES, Curves
from evaluator.tracks.shared.fast import note, read_all, refuse_duplicates
from evaluator.truth import PRIVATE, Truth


def stream(truth: Truth, submission: Streaming, parameters: Mapping[str, Any], findings: Findings) -> Outcome:
    """Score a submission on every split while it is read.

    Raises
    ------
    ReadableWay
    """
    known = truth_of(truth)
    readers: Sequence[RelationshipReader] = read_all(
        submission,
        RELATIONSHIPS,
        lambda heading: [RelationshipReader(known, heading, parameters) for _ in range(submission.threads)],
    )
    submission.progress("matching", 0.0)
    if readers[0].heading.kaggle:
        refuse_duplicates(readers)
    entries = gathered(readers)
    curves = AllCurves.of(truth, entries)
    counts = note(truth, readers, findings)
    notice_unknown_relations(findings, counts[relationships.UNKNOWN_RELATIONS])
    submission.progress("scoring", 0.0)
    kinds = len(truth.texts["relations"])
    return Outcome(
        on_every_split(truth, lambda split: fold(truth, curves, split, parameters["weights"])),
        lambda places: entries.counted(kinds).sample(truth, curves.recalled, parameters["weights"], places),
        lambda split: entries.counted(kinds).curves(truth, split),
        trials=lambda metric: truth.arrays["images"],
    )


def gathered(readers: Sequence[RelationshipReader]) -> PairEntries:
    """Put together what the threads have found, the least sure first: all curves keep the order of their entries."""
    misses = misses_of(readers)
    confidences, images, relations = (
        np.concatenate([getattr(reader.state, name)[: reader.entries] for reader in readers])
        for name in ("confidences", "images", "relations")
    )
    order = np.argsort(confidences.view(np.uint64) << np.uint64(1) | misses[0])
    return PairEntries(images[order], relations[order], confidences[order], [missing[order] for missing in misses])


def misses_of(readers: Sequence[RelationshipReader]) -> list[NDArray[np.bool_]]:
    """Bring the threads together; tell which of all their entries miss every relationship, every phrase."""
    first, offset = readers[0], readers[0].entries
    for other in readers[1:]:
        merge(first.state, other.state, offset)
        offset += other.entries
    misses = []
    for takers in np.split(first.state.takers, 2):
        missing = np.ones(offset, bool)
        missing[takers[takers >= 0]] = False
        misses.append(missing)
    return misses


@dataclass(slots=True)
class AllCurves:
    """What a split is summed up from: of relationships and of phrases the curves by relation and of all together.

    ``recalled``: for each limit of recall the image of every relationship that was found.
    """

    by_relation: list[Curves]
    pooled: list[Curves]
    recalled: list[NDArray[np.int64]]

    @classmethod
    def of(cls, truth: Truth, entries: PairEntries) -> "AllCurves":
        """Give each curve its entries."""
        private = (truth.arrays["usage"][entries.images] == PRIVATE) * np.uint32(2)

        def curves(members: NDArray[np.uint32], missing: NDArray[np.bool_], count: int) -> Curves:
            return Curves.of([(entries.confidences, members * np.uint32(4) + private + missing)], count)

        images, kinds = len(truth.texts["images"]), len(truth.texts["relations"])
        idle = entries.relations > kinds  # last of all, in each kind of curve
        by_image = curves(np.where(idle, images, entries.images).astype(np.uint32), entries.misses[0], images + 1)
        return cls(
            [curves(entries.relations.astype(np.uint32), missing, kinds + 2) for missing in entries.misses],
            [curves(idle.astype(np.uint32), missing, 2) for missing in entries.misses],
            [found[found < images] for found in images_of_hits(by_image)],
        )


def images_of_hits(by_image: Curves) -> list[NDArray[np.int64]]:
    """Return for each limit of recall the image of every hit among its surest; of equals false positives come first."""
    hits = np.flatnonzero(by_image.keys & np.uint64(1) == 0)
    after = np.searchsorted(by_image.ends, hits, side="right")
    from_top = by_image.ends[after] - hits
    return [(after[from_top <= limit] - 1) // 2 for limit in RECALL_AT]


def fold(truth: Truth, curves: AllCurves, split: str, weights: tuple[float, float, float]) -> SplitReport:
    """Sum up one split: AP of each relation, their means, recall, and the weighted score."""
    in_split, halves = truth.splits[split], HALVES[split]
    truths = objects(truth, in_split)
    total = int(truths.sum())
    relations, pooled = np.r_[truths, 0.0, 1.0], np.array([total, 1.0])  # what is idle takes as long, and is dropped
    return summary(
        truth,
        truths,
        [np.fromiter(kind.values(relations, halves), float)[:-2] for kind in curves.by_relation],
        pooled=[np.fromiter(kind.values(pooled, halves), float)[0] for kind in curves.pooled],
        recalls=[np.count_nonzero(in_split[hits]) / total if total else float("nan") for hits in curves.recalled],
        weights=weights,
    )
