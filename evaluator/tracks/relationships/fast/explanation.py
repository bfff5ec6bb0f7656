"""Explains a score of the relationships track with compiled kernels.

The report is identical to that of the reference implementation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.curves.variants import CODES
from evaluator.kernels.relationships.explaining import ARRIVAL, FALSE, FIXABLE, HIT, RELATION
from evaluator.problems import Findings
from evaluator.report import MatchTable
from evaluator.request import ScoringRequest
from evaluator.tracks.interface import Outcome
from evaluator.tracks.relationships.entries import Integers
from evaluator.tracks.relationships.explain.match_rows import COLUMNS, TYPES, Row
from evaluator.tracks.relationships.fast.explained_curves import ExplainedCurves
from evaluator.tracks.relationships.fast.match_rows import ExplainedRows
from evaluator.tracks.relationships.fast.pairs import MergedPairs, add_all_notices, joined, read_file, scored_pairs
from evaluator.tracks.relationships.fast.reader import RelationshipReader, kernel_truth
from evaluator.tracks.relationships.fast.variants import PHRASE_CODE, PRIVATE_CODE
from evaluator.tracks.relationships.truth import RelationshipsParameters, RelationshipsTruth
from evaluator.tracks.shared.curves.variants import CodedCurves, Segments
from evaluator.tracks.shared.fast import FileVersion
from evaluator.truth import PRIVATE

# Columns of ``RelationshipState.best_candidates``: the confidence, the coordinates, and the code of the labels and the
# relation.
IDENTIFYING = [0, *range(2, 11)]


def explained(
    truth: RelationshipsTruth, request: ScoringRequest, parameters: RelationshipsParameters, findings: Findings
) -> Outcome:
    """Return the outcome of a submission, with the tables that explain it.

    The file is read once, and again when the rows of the matches are requested.

    Raises
    ------
    Declined
        If the reference implementation must read the file.
    """
    resources, arrays = request.resources, kernel_truth(truth, explains=True)
    version = FileVersion.of(request.submission)
    readers = read_file(request.submission, resources, arrays, parameters, explains=True)
    resources.progress("matching", 0.0)
    merged = MergedPairs.of(readers)
    curves = explained_curves(truth, readers, merged, resources.threads)
    add_all_notices(truth, readers, findings)
    resources.progress("scoring", 0.0)
    outcome = scored_pairs(truth, readers, merged.entries, curves.areas, parameters.weights).outcome()
    splits = {name: curves.figures(name).explained(truth, report, name) for name, report in outcome.splits.items()}
    header, best = readers[0].header, readers[0].state.best_candidates[:-2, IDENTIFYING]

    def rows() -> Iterator[Row]:
        threshold = parameters.iou_threshold
        reader = RelationshipReader(arrays, header, threshold, explains=True, keeps_numbers=True)
        return iter(ExplainedRows(truth, reader, version, resources, best))

    return replace(outcome, splits=splits, curves=curves.rows, matches=MatchTable(COLUMNS, rows, TYPES))


def explained_curves(
    truth: RelationshipsTruth, readers: Sequence[RelationshipReader], merged: MergedPairs, threads: int
) -> ExplainedCurves:
    """Return the curves of all entries, with the outcome of each entry.

    The state of the first reader has the merged results of all threads.
    """
    entries, relations = merged.entries, len(truth.relations)
    outcomes = joined(readers, "outcomes")
    arrivals = decide(outcomes, merged)
    private = (truth.usage == PRIVATE) * np.uint32(PRIVATE_CODE)
    codes = outcomes[merged.order] + private[entries.images] + ~entries.misses[1] * np.uint32(PHRASE_CODE)
    # The first rows of `best_candidates` belong to triplets and phrases. They are followed by the pairs that would hit
    # each triplet if the error of the pair were fixed.
    confidences = readers[0].state.best_candidates[2 * len(truth.triplets) + arrivals, 0]
    arrived = private[truth.triplet_images[arrivals]] + np.uint32(ARRIVAL)

    def coded(curves: Integers, codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
        return curves.astype(np.uint32) * np.uint32(CODES) + codes

    def sorted_curves(count: int, segments: Segments) -> CodedCurves:
        return CodedCurves.of(segments, count, reported=count // 2, low=2 * PRIVATE_CODE, threads=threads)

    moved = confidences, coded(truth.triplet_relations[arrivals], arrived)
    return ExplainedCurves(
        truth,
        sorted_curves(2 * relations + 2, [moved, (entries.confidences, coded(entries.relations, codes))]),
        sorted_curves(2, [(entries.confidences, coded(entries.pooled(relations), codes))]),
    )


def decide(outcomes: NDArray[np.uint8], merged: MergedPairs) -> NDArray[np.int64]:
    """Set the outcomes of the pairs that hit a triplet, and of those that would hit it if their error were fixed.

    Return the triplets that would be hit if an error in the relation were fixed.
    """
    hits, _, fixing = merged.winners
    triplets = np.flatnonzero((hits < 0) & (fixing >= 0))
    # Pairs in images that are not scored are left out here, so that they keep the outcome UNKNOWN.
    triplets = triplets[outcomes[fixing[triplets]] >= FALSE]
    outcomes[fixing[triplets]] += FIXABLE - FALSE
    hits = hits[hits >= 0]
    outcomes[hits[outcomes[hits] >= FALSE]] = HIT
    return np.asarray(triplets[outcomes[fixing[triplets]] == FIXABLE + RELATION])
