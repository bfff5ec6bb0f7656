"""Scores or checks submissions to the relationships track with compiled kernels.

Reports are identical to those of the reference implementation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import RELATIONSHIPS
from evaluator.files.blocks import Declined
from evaluator.files.notices import notice_unknown_relations
from evaluator.kernels.relationships import state as relationships
from evaluator.kernels.relationships.matching import merge
from evaluator.kernels.relationships.state import KernelTruth
from evaluator.metrics.bootstrap import Areas
from evaluator.metrics.resampling import crowded_images
from evaluator.problems import Findings
from evaluator.report import ReferenceNeeded
from evaluator.request import Resources, ScoringRequest
from evaluator.tracks.interface import Outcome
from evaluator.tracks.relationships.entries import Integers, PairEntries, ScoredPairs, SplitAreas
from evaluator.tracks.relationships.fast.reader import RelationshipReader, kernel_truth, public_kernel_truth
from evaluator.tracks.relationships.summary import RECALL_AT
from evaluator.tracks.relationships.truth import RelationshipsParameters, RelationshipsTruth
from evaluator.tracks.shared.curves.buckets import HALVES, EntryBuckets
from evaluator.tracks.shared.fast import (
    FileHeader,
    add_notices,
    predictions_of_images,
    read_all,
    require_one_row_per_image,
)
from evaluator.truth import PRIVATE


def score(
    truth: RelationshipsTruth, request: ScoringRequest, parameters: RelationshipsParameters, findings: Findings
) -> Outcome | ReferenceNeeded:
    """Score a submission on every split, or return the reason why the reference implementation is needed."""
    if request.report.explains:
        return ReferenceNeeded.EXPLANATION
    try:
        return scored_pairs(truth, request, parameters, findings).outcome()
    except Declined as declined:
        return declined.reason


def check(
    truth: RelationshipsTruth,
    submission: Path,
    parameters: RelationshipsParameters,
    resources: Resources,
    findings: Findings,
) -> ReferenceNeeded | None:
    """Read a submission without scoring it, and add notices about it to ``findings``.

    Return None if the file has no defect; otherwise, return the reason why the reference implementation must check the
    file. Only the public parts of the ground truth are used, so a check kit suffices: a file that contains only these
    parts, with which participants check submissions offline.
    """
    try:
        readers = read_file(submission, resources, public_kernel_truth(truth), parameters)
    except Declined as declined:
        return declined.reason
    add_all_notices(truth, readers, findings)
    return None


def read_file(
    submission: Path, resources: Resources, truth: KernelTruth, parameters: RelationshipsParameters
) -> Sequence[RelationshipReader]:
    """Read a submission file with one reader for each thread.

    Raises
    ------
    Declined
        If the reference implementation must read the file.
    """

    def all_readers(header: FileHeader) -> Sequence[RelationshipReader]:
        return [RelationshipReader(truth, header, parameters.iou_threshold) for _ in range(resources.threads)]

    readers = read_all(submission, resources, RELATIONSHIPS, all_readers)
    if readers[0].header.kaggle:
        require_one_row_per_image(readers)
    return readers


def add_all_notices(truth: RelationshipsTruth, readers: Sequence[RelationshipReader], findings: Findings) -> None:
    """Add notices about a submission to ``findings``, after it has been read."""
    counts = add_notices(truth, readers, findings)
    notice_unknown_relations(findings, counts[relationships.UNKNOWN_RELATIONS])


def scored_pairs(
    truth: RelationshipsTruth, request: ScoringRequest, parameters: RelationshipsParameters, findings: Findings
) -> ScoredPairs:
    """Read and match the pairs in a submission, and add notices to ``findings``.

    Raises
    ------
    Declined
        If the reference implementation must read the file.
    """
    readers = read_file(request.submission, request.resources, kernel_truth(truth), parameters)
    request.resources.progress("matching", 0.0)
    entries = all_entries(readers)
    buckets = RelationshipBuckets.of(truth, entries)
    add_all_notices(truth, readers, findings)
    request.resources.progress("scoring", 0.0)
    crowded = crowded_images(predictions_of_images(readers))
    return ScoredPairs(truth, entries, buckets.found, buckets.areas, parameters.weights, crowded)


def all_entries(readers: Sequence[RelationshipReader]) -> PairEntries:
    """Return the predicted pairs of all threads, as entries of precision/recall curves, by ascending confidence.

    The entries are later distributed to the buckets of :class:`RelationshipBuckets` in this order, so that the buckets
    need not be sorted.
    """
    misses = misses_of(readers)
    confidences, images, relations = (
        np.concatenate([getattr(reader.state, name)[: reader.entries] for reader in readers])
        for name in ("confidences", "images", "relations")
    )
    order = np.argsort(confidences.view(np.uint64) << np.uint64(1) | misses[0])
    return PairEntries(images[order], relations[order], confidences[order], [missing[order] for missing in misses])


def misses_of(readers: Sequence[RelationshipReader]) -> list[NDArray[np.bool_]]:
    """Merge the matches that all threads have found. Return which pairs hit no triplet, and which hit no phrase."""
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


@dataclass(frozen=True, slots=True)
class RelationshipBuckets:
    """The predicted pairs of a submission, as entries of precision/recall curves that are sorted into buckets.

    Attributes
    ----------
    by_relation, pooled : two EntryBuckets each
        The entries as relationships, and the entries as phrases. ``by_relation`` has a curve for each relation, and
        ``pooled`` has one curve for all relations. Each curve has a bucket for public images and a bucket for private
        images. The curves of the report are followed by additional curves, for unknown relations and for pairs that are
        not scored.
    found : list of int64 arrays
        As in :attr:`ScoredPairs.found`.
    """

    by_relation: list[EntryBuckets]
    pooled: list[EntryBuckets]
    found: list[Integers]

    @classmethod
    def of(cls, truth: RelationshipsTruth, entries: PairEntries) -> "RelationshipBuckets":
        """Distribute precision/recall curve entries, sorted by confidence, to the buckets of all curves."""
        private = (truth.usage[entries.images] == PRIVATE) * np.uint32(2)

        def buckets(curves: Integers, missing: NDArray[np.bool_], count: int) -> EntryBuckets:
            codes = curves.astype(np.uint32) * np.uint32(4) + private + missing
            return EntryBuckets.of([(entries.confidences, codes)], count)

        images, relations = len(truth.images), len(truth.relations)
        pooled = entries.pooled(relations)
        by_image = buckets(np.where(pooled > 0, images, entries.images), entries.misses[0], images + 1)
        return cls(
            [buckets(entries.relations, missing, 2 * relations + 2) for missing in entries.misses],
            [buckets(pooled, missing, 2) for missing in entries.misses],
            [found[found < images] for found in images_of_hits(by_image)],
        )

    def areas(self, split: str) -> SplitAreas:
        """Return the functions that compute the areas under the curves of a split."""

        def areas(buckets: EntryBuckets) -> Areas:
            return lambda positives: buckets.average_precisions(positives, HALVES[split])

        return [areas(buckets) for buckets in self.by_relation], [areas(buckets) for buckets in self.pooled]


def images_of_hits(by_image: EntryBuckets) -> list[NDArray[np.int64]]:
    """Return, for each recall limit K, the image of every hit that is among the K most confident pairs of its image.

    Among pairs with equal confidence, false positives come first.
    """
    hits = np.flatnonzero(by_image.keys & np.uint64(1) == 0)
    after = np.searchsorted(by_image.ends, hits, side="right")
    from_top = by_image.ends[after] - hits
    return [(after[from_top <= limit] - 1) // 2 for limit in RECALL_AT]
