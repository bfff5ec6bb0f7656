"""Reads the pairs of a submission with compiled kernels, and merges the results of all threads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import RELATIONSHIPS
from evaluator.files.notices import notice_unknown_relations
from evaluator.kernels.curves.sorting import ascending
from evaluator.kernels.relationships import state as relationships
from evaluator.kernels.relationships.matching import merge
from evaluator.kernels.relationships.state import KernelTruth
from evaluator.metrics.bootstrap import Areas
from evaluator.metrics.resampling import crowded_images
from evaluator.problems import Findings
from evaluator.request import Resources
from evaluator.tracks.relationships.entries import Integers, PairEntries, ScoredPairs, SplitAreas
from evaluator.tracks.relationships.fast.reader import RelationshipReader
from evaluator.tracks.relationships.summary import KINDS, RECALL_AT
from evaluator.tracks.relationships.truth import RelationshipsParameters, RelationshipsTruth, Weights
from evaluator.tracks.shared.curves.buckets import HALVES, EntryBuckets
from evaluator.tracks.shared.fast import (
    FileHeader,
    add_notices,
    predictions_of_images,
    read_all,
    require_one_row_per_image,
)
from evaluator.truth import PRIVATE


def read_file(
    submission: Path,
    resources: Resources,
    truth: KernelTruth,
    parameters: RelationshipsParameters,
    *,
    explains: bool = False,
) -> Sequence[RelationshipReader]:
    """Read a submission file with one reader for each thread.

    ``explains`` must be true if the score is to be explained.

    Raises
    ------
    Declined
        If the reference implementation must read the file.
    """

    def all_readers(header: FileHeader) -> Sequence[RelationshipReader]:
        threshold, threads = parameters.iou_threshold, range(resources.threads)
        return [RelationshipReader(truth, header, threshold, explains=explains) for _ in threads]

    readers = read_all(submission, resources, RELATIONSHIPS, all_readers)
    if readers[0].header.kaggle:
        require_one_row_per_image(readers)
    return readers


def add_all_notices(truth: RelationshipsTruth, readers: Sequence[RelationshipReader], findings: Findings) -> None:
    """Add notices about a submission to ``findings``, after it has been read."""
    counts = add_notices(truth, readers, findings)
    notice_unknown_relations(findings, counts[relationships.UNKNOWN_RELATIONS])


@dataclass(frozen=True, slots=True)
class MergedPairs:
    """The curve entries of all threads.

    Attributes
    ----------
    entries : PairEntries
        The entries in order of ascending confidence. They are later distributed to the buckets of curves in this order,
        so that the buckets need not be sorted.
    order : int64 array of shape (N,)
        Index that each entry had when the file was read, counted over all threads.
    winners : two or three int64 arrays of shape (M,)
        Index, as in ``order``, of the entry that hits each triplet, and of the entry that hits its phrase; -1 if there
        is none. If the score is to be explained, the third array has the index of the entry that would hit each triplet
        if the error of the entry were fixed.
    """

    entries: PairEntries
    order: NDArray[np.int64]
    winners: Sequence[NDArray[np.int64]]

    @classmethod
    def of(cls, readers: Sequence[RelationshipReader]) -> "MergedPairs":
        """Merge the states of all threads into the state of the first thread, and sort the entries."""
        first, offset = readers[0], readers[0].entries
        for other in readers[1:]:
            merge(first.state, other.state, offset)
            offset += other.entries
        winners = np.split(first.state.best_entries[:-2], first.claimed)
        misses = [np.ones(offset, bool) for _ in KINDS]
        for missing, entries in zip(misses, winners, strict=False):
            missing[entries[entries >= 0]] = False
        confidences, images, relations = (joined(readers, name) for name in ("confidences", "images", "relations"))
        order = ascending(confidences.view(np.uint64) << np.uint64(1) | misses[0])
        sorted_misses = [missing[order] for missing in misses]
        return cls(PairEntries(images[order], relations[order], confidences[order], sorted_misses), order, winners)


def joined(readers: Sequence[RelationshipReader], name: str) -> NDArray[Any]:
    """Return the arrays ``name`` of the states of all threads, concatenated without their unused elements."""
    return np.concatenate([getattr(reader.state, name)[: reader.entries] for reader in readers])


def scored_pairs(
    truth: RelationshipsTruth,
    readers: Sequence[RelationshipReader],
    entries: PairEntries,
    areas: Callable[[str], SplitAreas],
    weights: Weights,
) -> ScoredPairs:
    """Return the submission that the readers have read. :class:`ScoredPairs` describes the other parameters."""
    crowded = crowded_images(predictions_of_images(readers))
    return ScoredPairs(truth, entries, images_of_hits(truth, entries), areas, weights, crowded)


def private_codes(entries: PairEntries, usage: NDArray[np.int8]) -> NDArray[np.uint32]:
    """Return one number per entry: 2 if its image is private, otherwise 0. It is part of the entry's code."""
    private: NDArray[np.uint32] = (usage == PRIVATE) * np.uint32(2)
    return private[entries.images]


def buckets_of(
    entries: PairEntries, curves: Integers, private: NDArray[np.uint32], misses: Sequence[NDArray[np.bool_]], count: int
) -> list[EntryBuckets]:
    """Return the entries, distributed to the buckets of their curves, once for each array of ``misses``.

    ``curves`` contains the index of each entry's curve, ``count`` is the number of curves, and ``private`` is the
    result of :func:`private_codes`.
    """
    codes = curves.astype(np.uint32)
    codes *= np.uint32(4)
    codes += private
    return [EntryBuckets.of([(entries.confidences, codes + missing)], count) for missing in misses]


@dataclass(frozen=True, slots=True)
class RelationshipBuckets:
    """The curve entries of a submission, sorted into buckets.

    Attributes
    ----------
    by_relation, pooled : two EntryBuckets each
        The entries of relationships, and the entries of phrases. Each curve has a bucket for public images and a bucket
        for private images. In ``by_relation``, the curves of the report are followed by the curve for unknown relations
        and the curves for pairs that are not scored. In ``pooled``, a single curve for pairs that are not scored
        follows the curve of the report.
    """

    by_relation: list[EntryBuckets]
    pooled: list[EntryBuckets]

    @classmethod
    def of(cls, truth: RelationshipsTruth, entries: PairEntries) -> "RelationshipBuckets":
        """Distribute curve entries, which must be sorted by confidence, to the buckets of all curves."""
        relations, private = len(truth.relations), private_codes(entries, truth.usage)
        return cls(
            buckets_of(entries, entries.relations, private, entries.misses, 2 * relations + 2),
            buckets_of(entries, entries.pooled(relations), private, entries.misses, 2),
        )

    def areas(self, split: str) -> SplitAreas:
        """Return the functions that compute the areas under the curves of a split."""

        def areas(buckets: EntryBuckets) -> Areas:
            return lambda positives: buckets.average_precisions(positives, HALVES[split])

        return [areas(buckets) for buckets in self.by_relation], [areas(buckets) for buckets in self.pooled]


def images_of_hits(truth: RelationshipsTruth, entries: PairEntries) -> list[NDArray[np.int64]]:
    """Return, for each recall limit K, the image of every hit that is among the K most confident entries of its image.

    Among entries with equal confidence, false positives come first. The entries must be sorted by confidence. Those
    that are not scored are counted as if they were in an additional image.
    """
    count = len(truth.images)
    images = np.where(entries.pooled(len(truth.relations)) > 0, count, entries.images)
    private = private_codes(entries, truth.usage)
    buckets, *_ = buckets_of(entries, images, private, entries.misses[:1], count + 1)
    hits = np.flatnonzero(buckets.keys & np.uint64(1) == 0)
    after = np.searchsorted(buckets.ends, hits, side="right")
    from_top = buckets.ends[after] - hits
    found = [(after[from_top <= limit] - 1) // 2 for limit in RECALL_AT]
    return [images[images < count] for images in found]
