"""Open Images visual relationships: triplets of two boxes, and phrases, the one box around both."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import RELATIONSHIPS
from evaluator.files.notices import notice_unknown_relations
from evaluator.files.submission import Table, Vocabularies, Vocabulary
from evaluator.metrics.average_precision import average_precision
from evaluator.metrics.boxes import enclosing, pair_overlap
from evaluator.metrics.matching import best_objects, takers
from evaluator.metrics.recall import hits_at
from evaluator.problems import Findings
from evaluator.report import SplitReport
from evaluator.tracks.contest import Contest, Progress, contains, notice_boxes, vocabularies_of
from evaluator.tracks.relationships_report import RECALL_AT, objects, summary
from evaluator.tracks.triplets import FIRST, SECOND, triplet_keys
from evaluator.truth import Truth


@dataclass(slots=True)
class Pairs:
    """Predicted pairs that count; arrays of shape (N,), boxes (N, 4) in single precision."""

    images: NDArray[np.int64]
    relations: NDArray[np.int64]
    keys: NDArray[np.int64]
    confidences: NDArray[np.float64]
    first: NDArray[np.float32]
    second: NDArray[np.float32]
    corners: list[NDArray[np.float64]]


def vocabularies(truth: Truth) -> Vocabularies:
    """Return what a truth knows: images, labels, relations."""
    relations = {relation: code for code, relation in enumerate(truth.texts["relations"])}
    return {**vocabularies_of(truth), "relation": Vocabulary(relations, closed=truth.flags["relations_listed"])}


def inspect(table: Table, findings: Findings) -> None:
    """Add the notices of a submission."""
    unknown = (table.codes("LabelName1") < 0) | (table.codes("LabelName2") < 0)
    boxes = [table.numbers(*FIRST), table.numbers(*SECOND)]
    notice_boxes(findings, table.numbers("Score")[:, 0], boxes, unknown)
    notice_unknown_relations(findings, int(np.count_nonzero(table.codes("RelationshipLabel") < 0)))


def evaluate(truth: Truth, table: Table, parameters: Mapping[str, Any], progress: Progress) -> dict[str, SplitReport]:
    """Score the pairs on every split."""
    progress("matching", 0.0)
    pairs = evaluated(truth, table)
    threshold = parameters["iou_threshold"]
    related = match_relationships(truth, pairs, threshold)
    progress("matching", 0.5)
    phrases = match_phrases(truth, pairs, threshold)
    progress("scoring", 0.0)
    reports: dict[str, SplitReport] = {}
    for name, in_split in truth.splits.items():
        twin = reports.get("all") if np.array_equal(in_split, truth.splits["all"]) else None
        reports[name] = twin or fold(truth, pairs, (related, phrases), in_split, parameters["weights"])
    return reports


def evaluated(truth: Truth, table: Table) -> Pairs:
    """Return the pairs that count: both labels known in the image, or at least one of them negative there."""
    labels = len(truth.texts["labels"])
    images, one, two = table.codes("image"), table.codes("LabelName1"), table.codes("LabelName2")
    named = (one >= 0) & (two >= 0)
    keys = [images * labels + one, images * labels + two]
    known = [contains(truth.arrays["known"], key) for key in keys]
    negative = [contains(truth.arrays["negative"], key) for key in keys]
    kept = named & ((known[0] & known[1]) | negative[0] | negative[1])
    relations = table.codes("RelationshipLabel")[kept]
    relations[relations < 0] = len(truth.texts["relations"])  # of no use, yet among the false positives
    first, second = table.numbers(*FIRST)[kept], table.numbers(*SECOND)[kept]
    with np.errstate(over="ignore"):  # beyond float32 a box is infinite and overlaps nothing
        boxes = first.astype(np.float32), second.astype(np.float32)
    return Pairs(
        images=images[kept],
        relations=relations,
        keys=triplet_keys(truth.texts, images[kept], one[kept], two[kept], relations),
        confidences=table.numbers("Score")[kept, 0],
        first=boxes[0],
        second=boxes[1],
        corners=[*first.T, *second.T],
    )


def match_relationships(truth: Truth, pairs: Pairs, threshold: float) -> NDArray[np.bool_]:
    """Tell which pairs hit a relationship: the smaller of the two boxes' overlaps must reach the threshold."""
    first, second = truth.arrays["first"], truth.arrays["second"]

    def overlap(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.minimum(
            pair_overlap(pairs.first[ours], first[theirs]), pair_overlap(pairs.second[ours], second[theirs])
        )

    best, most = best_objects(pairs.keys, truth.arrays["triplets"], overlap)
    return takers(np.where(most >= threshold, best, -1), pairs.confidences, most, pairs.corners)


def match_phrases(truth: Truth, pairs: Pairs, threshold: float) -> NDArray[np.bool_]:
    """Tell which pairs hit a phrase: the box around both."""
    ours, theirs = enclosing(pairs.first, pairs.second), enclosing(truth.arrays["first"], truth.arrays["second"])
    best, most = best_objects(
        pairs.keys, truth.arrays["triplets"], lambda mine, its: pair_overlap(ours[mine], theirs[its])
    )
    return takers(np.where(most >= threshold, best, -1), pairs.confidences, most, pairs.corners)


def fold(
    truth: Truth,
    pairs: Pairs,
    hits: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    in_split: NDArray[np.bool_],
    weights: tuple[float, float, float],
) -> SplitReport:
    """Sum up one split: AP of each relation, their means, recall, and the weighted score."""
    relations = len(truth.texts["relations"])
    truths = objects(truth, in_split)
    chosen = in_split[pairs.images]
    total, confidences = int(truths.sum()), pairs.confidences[chosen]
    of_relation = [pairs.relations[chosen] == relation for relation in range(relations)]
    by_relation = [
        np.array(
            [
                average_precision(confidences[members], hit[chosen][members].astype(float), truths[relation])
                for relation, members in enumerate(of_relation)
            ]
        )
        for hit in hits
    ]
    pooled = [average_precision(confidences, hit[chosen].astype(float), total) for hit in hits]
    recalls = [
        hits_at(limit, pairs.images[chosen], confidences, hits[0][chosen]) / total if total else float("nan")
        for limit in RECALL_AT
    ]
    return summary(truth, truths, by_relation, pooled=pooled, recalls=recalls, weights=weights)


CONTEST = Contest(RELATIONSHIPS, vocabularies, inspect, evaluate, "evaluator.tracks.relationships_streaming")
