"""Scores Open Images visual relationships: triplets with two boxes, and phrases with one box around both."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import RELATIONSHIPS
from evaluator.files.notices import notice_nothing_to_score, notice_unknown_relations
from evaluator.files.source import Source
from evaluator.files.submission import SubmissionTable, read_submission
from evaluator.metrics.average_precision import reported_average_precisions
from evaluator.metrics.bootstrap import Areas
from evaluator.metrics.boxes import enclosing
from evaluator.metrics.recall import hits_at
from evaluator.metrics.resampling import crowded_images
from evaluator.request import Progress
from evaluator.tracks.interface import Outcome, Scorer
from evaluator.tracks.relationships.entries import PairEntries, ScoredPairs, SplitAreas
from evaluator.tracks.relationships.pairs import PairMatches, match
from evaluator.tracks.relationships.summary import RECALL_AT
from evaluator.tracks.relationships.triplets import FIRST, LABELS, SECOND
from evaluator.tracks.relationships.truth import RelationshipsParameters, RelationshipsTruth, Weights
from evaluator.tracks.shared.submissions import (
    can_match,
    csv_text,
    empty_strings,
    notice_predictions,
    vocabularies_of,
    vocabulary_of,
)
from evaluator.truth import IGNORED, Truth


def outcome_of(truth: RelationshipsTruth, matches: PairMatches, weights: Weights, progress: Progress) -> Outcome:
    """Return the outcome of a submission, computed with numpy.

    Pairs that are not scored are processed too, so that the running time does not reveal which pairs are scored. For
    recall, these pairs are ranked separately, as if they were in additional images.
    """
    progress("scoring", 0.0)
    pairs = matches.pairs
    counts = pairs.is_scored & (truth.usage[pairs.images] != IGNORED)
    relations = np.where(counts, pairs.relations, pairs.relations + len(truth.relations) + 1)
    entries = PairEntries(pairs.images, relations, pairs.confidences, [~matches.hits, ~matches.phrase_hits])
    images = np.where(pairs.is_scored, pairs.images, pairs.images + len(truth.images))
    found = [pairs.images[hits_at(limit, images, pairs.confidences, matches.hits)] for limit in RECALL_AT]

    def areas(split: str) -> SplitAreas:
        return areas_by_numpy(entries[truth.summed_images(split)[entries.images]], len(truth.relations))

    crowded = crowded_images(np.bincount(pairs.images, minlength=len(truth.images)))
    return ScoredPairs(truth, entries, found, areas, weights, crowded).outcome()


def areas_by_numpy(entries: PairEntries, relations: int) -> SplitAreas:
    """Return functions that compute, with numpy, the areas under the curves of the given entries."""

    def areas(curves: NDArray[Any], count: int, misses: NDArray[np.bool_]) -> Areas:
        hits = (~misses).astype(float)
        return lambda positives: reported_average_precisions(curves, entries.confidences, hits, positives, count)

    by_relation = [areas(entries.relations, 2 * relations + 2, misses) for misses in entries.misses]
    return by_relation, [areas(entries.pooled(relations), 2, misses) for misses in entries.misses]


class RelationshipsScorer(Scorer[RelationshipsTruth, RelationshipsParameters, SubmissionTable]):
    """Scores submissions to the visual relationships track of Open Images."""

    track = RELATIONSHIPS

    def truth_of(self, prepared: Truth) -> RelationshipsTruth:
        """Return a ground truth as an instance of this track's ground truth class."""
        return RelationshipsTruth.of(prepared)

    def parameters_of(self, resolved: Mapping[str, Any]) -> RelationshipsParameters:
        """Return the parameters as an instance of this track's parameter class."""
        return RelationshipsParameters.of(resolved)

    def read(
        self, source: Source, truth: RelationshipsTruth | None, parameters: RelationshipsParameters
    ) -> SubmissionTable:
        """Read a submission, and add notices about predictions that are probably mistakes."""
        vocabularies = vocabularies_of(truth)
        if truth is not None:
            codes = {relation: code for code, relation in enumerate(truth.relations)}
            by_name = truth.relations_by_name
            vocabularies["relation"] = vocabulary_of(codes, closed=truth.relations_listed, by_name=by_name)
        table, findings = read_submission(source, RELATIONSHIPS.form, vocabularies), source.findings
        if not findings.total:
            boxes, labels = [table.numbers(*FIRST), table.numbers(*SECOND)], [table.codes(name) for name in LABELS]
            notice_predictions(findings, truth, table.numbers("Score")[:, 0], boxes, labels)
            if truth is not None:
                notice_unknown_relations(findings, int(np.count_nonzero(table.codes("RelationshipLabel") < 0)))
            outlines = [*boxes, enclosing(*boxes)]
            useful = np.any([can_match(outline, parameters.iou_threshold) for outline in outlines], axis=0)
            notice_nothing_to_score(findings, len(useful), int(np.count_nonzero(useful)))
        return table

    def evaluate(
        self, truth: RelationshipsTruth, table: SubmissionTable, parameters: RelationshipsParameters, progress: Progress
    ) -> Outcome:
        """Score the pairs in a submission on every split."""
        matches = match(truth, table, parameters.iou_threshold, progress)
        return outcome_of(truth, matches, parameters.weights, progress)

    def template(self, truth: RelationshipsTruth) -> str:
        """Return the template submission, which has an empty prediction string for every image."""
        return empty_strings(RELATIONSHIPS, truth)

    def ceiling(self, truth: RelationshipsTruth, parameters: RelationshipsParameters) -> str:
        """Return the best possible submission: every triplet of the ground truth, with confidence 1."""
        first, second, relations = truth.keys.decode(truth.triplets)
        columns = (
            _texts(truth.images, truth.triplet_images),
            _texts(truth.labels, first),
            _texts(truth.labels, second),
            _texts(truth.relations, relations),
            np.hstack([truth.first_boxes, truth.second_boxes]).tolist(),
        )
        rows = ((*texts, 1, *coordinates) for *texts, coordinates in zip(*columns, strict=True))
        return csv_text(RELATIONSHIPS.form.long_header, rows)


def _texts(texts: Sequence[str], codes: NDArray[np.int64]) -> list[str]:
    return [texts[code] for code in codes.tolist()]


SCORER = RelationshipsScorer()
