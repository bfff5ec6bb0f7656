"""Relationships by the kernels: the same report as the readable way, to the last bit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import RELATIONSHIPS
from evaluator.files.notices import notice_unknown_relations
from evaluator.kernels import relationships
from evaluator.kernels.relationships import merge
from evaluator.problems import Findings
from evaluator.report import SplitReport
from evaluator.tracks.contest import Streaming
from evaluator.tracks.curves import HALVES, Curves
from evaluator.tracks.relationships_reader import RelationshipReader, truth_of
from evaluator.tracks.relationships_report import RECALL_AT, objects, summary
from evaluator.tracks.streaming import note, read_all, refuse_duplicates
from evaluator.truth import PRIVATE, Truth


def stream(
    truth: Truth, submission: Streaming, parameters: Mapping[str, Any], findings: Findings
) -> dict[str, SplitReport]:
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
    curves = AllCurves.of(truth, readers)
    counts = note(truth, readers, findings)
    notice_unknown_relations(findings, counts[relationships.UNKNOWN_RELATIONS])
    submission.progress("scoring", 0.0)
    reports: dict[str, SplitReport] = {}
    for name, in_split in truth.splits.items():
        twin = reports.get("all") if np.array_equal(in_split, truth.splits["all"]) else None
        reports[name] = twin or fold(truth, curves, name, parameters["weights"])
    return reports


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

    ``images``: those of each image's relationships, for recall.
    """

    by_relation: list[Curves]
    pooled: list[Curves]
    images: Curves

    @classmethod
    def of(cls, truth: Truth, readers: Sequence[RelationshipReader]) -> "AllCurves":
        """Put together what the threads have found; sorted once, for all curves keep the order of their entries."""
        misses = misses_of(readers)
        confidences, images, relations = (
            np.concatenate([getattr(reader.state, name)[: reader.entries] for reader in readers])
            for name in ("confidences", "images", "relations")
        )
        order = np.argsort(confidences.view(np.uint64) << np.uint64(1) | misses[0])
        confidences, images, relations = confidences[order], images[order], relations[order]
        private = (truth.arrays["usage"][images] == PRIVATE) * np.uint32(2)

        def curves(members: NDArray[np.uint32], missing: NDArray[np.bool_], count: int) -> Curves:
            return Curves.of([(confidences, members * np.uint32(4) + private + missing[order])], count)

        kinds, together = relations.astype(np.uint32), np.zeros(len(relations), np.uint32)
        return cls(
            [curves(kinds, missing, len(truth.texts["relations"]) + 1) for missing in misses],
            [curves(together, missing, 1) for missing in misses],
            curves(images.astype(np.uint32), misses[0], len(truth.texts["images"])),
        )


def hits_among(curves: Curves, limit: int, halves: Sequence[int]) -> int:
    """Return how many hits are among the ``limit`` surest of each image; of equals the false positives come first."""
    sizes = np.diff(curves.ends)
    from_top = np.repeat(curves.ends[1:], sizes) - np.arange(len(curves.keys))
    half = np.repeat(np.arange(len(sizes)) % 2, sizes)
    is_hit = curves.keys & np.uint64(1) == 0
    return int(np.count_nonzero(is_hit & (from_top <= limit) & np.isin(half, halves)))


def fold(truth: Truth, curves: AllCurves, split: str, weights: tuple[float, float, float]) -> SplitReport:
    """Sum up one split: AP of each relation, their means, recall, and the weighted score."""
    truths, halves = objects(truth, truth.splits[split]), HALVES[split]
    total, counts = int(truths.sum()), truths.astype(float)
    return summary(
        truth,
        truths,
        [np.fromiter(kind.values(np.append(counts, 0.0), halves), float)[:-1] for kind in curves.by_relation],
        pooled=[next(kind.values(np.array([float(total)]), halves)) for kind in curves.pooled],
        recalls=[hits_among(curves.images, limit, halves) / total if total else float("nan") for limit in RECALL_AT],
        weights=weights,
    )
