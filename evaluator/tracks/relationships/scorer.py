"""Open Images visual relationships: triplets of two boxes, and phrases, the one box around both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import RELATIONSHIPS
from evaluator.files.notices import notice_unknown_relations
from evaluator.files.source import Source
from evaluator.files.submission import Table, read_table
from evaluator.metrics.average_precision import average_precision
from evaluator.metrics.boxes import enclosing, pair_overlap
from evaluator.metrics.matching import best_objects, takers
from evaluator.metrics.recall import hits_at
from evaluator.report import SplitReport
from evaluator.tracks.interface import (
    Contest,
    Outcome,
    Progress,
    blank_strings,
    contains,
    csv_text,
    notice_boxes,
    on_every_split,
    vocabularies_of,
    vocabulary_of,
)
from evaluator.tracks.relationships.resampling import PairEntries
from evaluator.tracks.relationships.summary import RECALL_AT, objects, summary
from evaluator.tracks.relationships.triplets import FIRST, LABELS, SECOND, classes_of, triplet_keys
from evaluator.truth import Truth


@dataclass(slots=True)
class Pairs:
    """Predicted pairs; arrays of shape (N,), boxes (N, 4) in single precision.

    ``places``: which predictions of the file these are. ``counts``: whether they count; the key of a pair with an
    unknown label is -1, which no object has.
    """

    images: NDArray[np.int64]
    relations: NDArray[np.int64]
    keys: NDArray[np.int64]
    confidences: NDArray[np.float64]
    first: NDArray[np.float32]
    second: NDArray[np.float32]
    corners: list[NDArray[np.float64]]
    places: NDArray[np.int64]
    counts: NDArray[np.bool_]

    def __getitem__(self, chosen: NDArray[Any]) -> "Pairs":
        """Return the chosen ones."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        corners = [corner[chosen] for corner in values.pop("corners")]
        return Pairs(**{name: value[chosen] for name, value in values.items()}, corners=corners)


def read(source: Source, truth: Truth | None, parameters: Mapping[str, Any]) -> Table:
    """Read a submission, and notice what was hardly meant."""
    vocabularies = vocabularies_of(truth)
    if truth is not None:
        relations = {relation: code for code, relation in enumerate(truth.texts["relations"])}
        vocabularies["relation"] = vocabulary_of(relations, closed=truth.flags["relations_listed"])
    table, findings = read_table(source, RELATIONSHIPS.form, vocabularies), source.findings
    if not findings.total:
        boxes, labels = [table.numbers(*FIRST), table.numbers(*SECOND)], [table.codes(name) for name in LABELS]
        notice_boxes(findings, truth, table.numbers("Score")[:, 0], boxes, labels)
        notice_unknown_relations(findings, int(np.count_nonzero(table.codes("RelationshipLabel") < 0)))
    return table


def evaluate(truth: Truth, table: Table, parameters: Mapping[str, Any], progress: Progress) -> Outcome:
    """Score the pairs on every split."""
    progress("matching", 0.0)
    pairs = predicted(truth, table)
    surest_first = np.argsort(-pairs.confidences, kind="stable")  # of all, so that no part takes long to sort
    pairs = pairs[surest_first]
    threshold, weights = parameters["iou_threshold"], parameters["weights"]
    related = match_relationships(truth, pairs, threshold)
    progress("matching", 0.5)
    phrases = match_phrases(truth, pairs, threshold)
    progress("scoring", 0.0)
    counts = pairs.counts  # no pair is dropped before it is scored: what counts must not tell by time or memory
    ranked_in = np.where(counts, pairs.images, pairs.images + len(truth.texts["images"]))
    recalled = [hits_at(limit, ranked_in, pairs.confidences, related) for limit in RECALL_AT]
    reports = on_every_split(
        truth, lambda split: fold(truth, pairs, (related, phrases), recalled, truth.splits[split], weights)
    )
    kept = pairs.images[counts], pairs.relations[counts], pairs.confidences[counts]
    entries = PairEntries(*kept, [~related[counts], ~phrases[counts]])
    found = [pairs.images[hits] for hits in recalled]
    return Outcome(
        reports,
        partial(entries.sample, truth, found, weights),
        partial(entries.curves, truth),
        trials=lambda metric: truth.arrays["images"],
    )


def evaluated(truth: Truth, table: Table) -> Pairs:
    """Return the pairs that count."""
    pairs = predicted(truth, table)
    return pairs[pairs.counts]


def predicted(truth: Truth, table: Table) -> Pairs:
    """Return all pairs; those count whose labels are both known in the image, or one of them negative there."""
    labels = len(truth.texts["labels"])
    images, one, two = table.codes("image"), table.codes("LabelName1"), table.codes("LabelName2")
    named = (one >= 0) & (two >= 0)
    keys = [images * labels + one, images * labels + two]
    known = [contains(truth.arrays["known"], key) for key in keys]
    negative = [contains(truth.arrays["negative"], key) for key in keys]
    relations = table.codes("RelationshipLabel")
    relations[relations < 0] = len(truth.texts["relations"])  # of no use, yet among the false positives
    first, second = table.numbers(*FIRST), table.numbers(*SECOND)
    with np.errstate(over="ignore"):  # beyond float32 a box is infinite and overlaps nothing
        boxes = first.astype(np.float32), second.astype(np.float32)
    return Pairs(
        images=images,
        relations=relations,
        keys=np.where(named, triplet_keys(truth.texts, images, one, two, relations), -1),
        confidences=table.numbers("Score")[:, 0],
        first=boxes[0],
        second=boxes[1],
        corners=[*first.T, *second.T],
        places=np.arange(len(images)),
        counts=named & ((known[0] & known[1]) | negative[0] | negative[1]),
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
    recalled: Sequence[NDArray[np.bool_]],
    in_split: NDArray[np.bool_],
    weights: tuple[float, float, float],
) -> SplitReport:
    """Sum up one split: AP of each relation, their means, recall, and the weighted score.

    Pairs that do not count have a curve of their own among relations and among pooled ones; both are dropped.
    """
    relations, idle = len(truth.texts["relations"]), -1
    truths = objects(truth, in_split)
    chosen = in_split[pairs.images]
    total, confidences, counts = int(truths.sum()), pairs.confidences[chosen], pairs.counts[chosen]
    curves = np.where(counts, pairs.relations[chosen], idle)
    of_relation = [*((curves == relation, truths[relation]) for relation in range(relations)), (~counts, 1)]
    by_relation, pooled = (
        [
            np.array([average_precision(confidences[of], hit[chosen][of].astype(float), most) for of, most in kind])
            for hit in hits
        ]
        for kind in (of_relation, [(counts, total), (~counts, 1)])
    )
    recalls = [np.count_nonzero(found[chosen]) / total if total else float("nan") for found in recalled]
    counted = [values[:-1] for values in by_relation]
    return summary(
        truth, truths, counted, pooled=[float(values[0]) for values in pooled], recalls=recalls, weights=weights
    )


def ceiling(truth: Truth, parameters: Mapping[str, Any]) -> str:
    """Write every triplet of the truth as a sure pair."""
    labels, relations, arrays = truth.texts["labels"], truth.texts["relations"], truth.arrays
    images = [truth.texts["images"][image] for image in arrays["images"].tolist()]
    one, two, related = (codes.tolist() for codes in classes_of(truth.texts, arrays["triplets"]))
    columns = images, one, two, related, arrays["first"].tolist(), arrays["second"].tolist()
    rows = (
        (image, labels[first], labels[second], relations[relation], 1, *first_box, *second_box)
        for image, first, second, relation, first_box, second_box in zip(*columns, strict=True)
    )
    return csv_text(RELATIONSHIPS.form.long_header, rows)


CONTEST = Contest(
    RELATIONSHIPS,
    compiler="evaluator.tracks.relationships.truth",
    read=read,
    evaluate=evaluate,
    blank=blank_strings(RELATIONSHIPS),
    ceiling=ceiling,
    fast_path="evaluator.tracks.relationships.fast.scoring",
    explaining="evaluator.tracks.relationships.explain.explanation",
)
