"""Open Images visual relationships: triplets of two boxes, and phrases, the smallest box around both."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import RELATIONSHIPS
from evaluator.files.notices import notice_unknown_relations
from evaluator.files.source import Source
from evaluator.files.submission import SubmissionTable, read_submission
from evaluator.metrics.average_precision import reported_average_precisions
from evaluator.metrics.recall import hits_at
from evaluator.metrics.resampling import crowded_images
from evaluator.request import Progress
from evaluator.tracks.interface import Outcome, Scorer
from evaluator.tracks.relationships.entries import PairEntries, ScoredPairs, SplitAreas
from evaluator.tracks.relationships.pairs import PairMatches, match
from evaluator.tracks.relationships.summary import RECALL_AT, Areas
from evaluator.tracks.relationships.triplets import FIRST, LABELS, SECOND
from evaluator.tracks.relationships.truth import RelationshipsParameters, RelationshipsTruth, Weights
from evaluator.tracks.shared.submissions import csv_text, empty_strings, notice_boxes, vocabularies_of, vocabulary_of
from evaluator.truth import IGNORED, Truth


def outcome_of(truth: RelationshipsTruth, matches: PairMatches, weights: Weights, progress: Progress) -> Outcome:
    """Return the outcome of a submission, computed with numpy.

    Pairs that are not scored are processed too. For recall they are ranked separately, as if in additional images.
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
    """Return the functions that compute the areas under the curves of some entries."""

    def areas(curves: NDArray[Any], count: int, misses: NDArray[np.bool_]) -> Areas:
        hits = (~misses).astype(float)
        return lambda positives: reported_average_precisions(curves, entries.confidences, hits, positives, count)

    by_relation = [areas(entries.relations, 2 * relations + 2, misses) for misses in entries.misses]
    return by_relation, [areas(entries.pooled(relations), 2, misses) for misses in entries.misses]


class RelationshipsScorer(Scorer[RelationshipsTruth, RelationshipsParameters, SubmissionTable]):
    """Scores submissions to Open Images visual relationships."""

    track = RELATIONSHIPS

    def truth_of(self, prepared: Truth) -> RelationshipsTruth:
        """Return a truth as this track's type."""
        return RelationshipsTruth.of(prepared)

    def parameters_of(self, resolved: Mapping[str, Any]) -> RelationshipsParameters:
        """Return the parameters as this track's type."""
        return RelationshipsParameters.of(resolved)

    def read(
        self, source: Source, truth: RelationshipsTruth | None, parameters: RelationshipsParameters
    ) -> SubmissionTable:
        """Read a submission, and add notices about predictions that were probably not intended."""
        vocabularies = vocabularies_of(truth)
        if truth is not None:
            codes = {relation: code for code, relation in enumerate(truth.relations)}
            vocabularies["relation"] = vocabulary_of(codes, closed=truth.relations_listed)
        table, findings = read_submission(source, RELATIONSHIPS.form, vocabularies), source.findings
        if not findings.total:
            boxes, labels = [table.numbers(*FIRST), table.numbers(*SECOND)], [table.codes(name) for name in LABELS]
            notice_boxes(findings, truth, table.numbers("Score")[:, 0], boxes, labels)
            notice_unknown_relations(findings, int(np.count_nonzero(table.codes("RelationshipLabel") < 0)))
        return table

    def evaluate(
        self, truth: RelationshipsTruth, table: SubmissionTable, parameters: RelationshipsParameters, progress: Progress
    ) -> Outcome:
        """Score the pairs on every split."""
        matches = match(truth, table, parameters.iou_threshold, progress)
        return outcome_of(truth, matches, parameters.weights, progress)

    def template(self, truth: RelationshipsTruth) -> str:
        """Return a row with an empty prediction string for every image."""
        return empty_strings(RELATIONSHIPS, truth)

    def ceiling(self, truth: RelationshipsTruth, parameters: RelationshipsParameters) -> str:
        """Return a submission with every triplet of the truth, each with confidence 1."""
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
