"""Converts the ground truth of image-level classification to the arrays that the kernels expect."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.derived import derived
from evaluator.kernels.classification.state import KernelTruth
from evaluator.kernels.text.csv_blocks import searchable
from evaluator.kernels.text.lookup import TextIndex, index_of, stored_index
from evaluator.tracks.classification.truth import ClassificationTruth
from evaluator.truth import IGNORED, PRIVATE

CODES_PER_LABEL = 4


def kernel_arrays(
    verified: NDArray[np.int64], images: Collection[str], labels: Collection[str], *, labels_listed: bool
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a prepared ground truth that only the kernels use, by name.

    ``verified`` is as in :attr:`~evaluator.tracks.shared.label_truth.VerifiedTruth.verified`.
    """
    return {
        "verified_from": np.searchsorted(verified, np.arange(len(images) + 1) * len(labels)).astype(np.int32),
        "verified_labels": (verified % max(len(labels), 1)).astype(np.int32),
        **stored_index("images", images),
        **stored_index("labels", labels, as_unknown=not labels_listed),
    }


def kernel_truth(truth: ClassificationTruth) -> KernelTruth:
    """Return the arrays of a ground truth in the form that the kernels expect."""
    complete = truth
    if not truth.has_kernel_arrays:
        complete = derived(truth, "arrays of kernels", lambda: _with_kernel_arrays(truth))
    verified, steps = derived(
        truth, "verified labels to search", lambda: searchable(complete.verified_labels, complete.verified_from)
    )
    return KernelTruth(
        images=TextIndex(*complete.image_index),
        labels=TextIndex(*complete.label_index),
        closed=_closed(truth),
        listed=truth.public_labels[0],
        verified_from=complete.verified_from,
        verified=verified,
        search_steps=steps,
    )


def _with_kernel_arrays(truth: ClassificationTruth) -> ClassificationTruth:
    added = kernel_arrays(truth.verified, truth.images, truth.labels, labels_listed=truth.labels_listed)
    return replace(truth, arrays={**truth.arrays, **added})


def public_kernel_truth(truth: ClassificationTruth) -> KernelTruth:
    """Return the public parts of a ground truth in the form that the kernels expect. Verified labels are not public."""
    count, listed = truth.public_labels
    labels = list(truth.labels)[:count] if listed else []
    verified_from, verified = np.zeros(len(truth.images) + 1, np.int32), np.empty(0, np.int32)
    for array in (verified_from, verified):
        array.flags.writeable = False
    return KernelTruth(
        images=index_of(truth.images),
        labels=index_of(labels, as_unknown=not truth.labels_listed),
        closed=_closed(truth),
        listed=len(labels),
        verified_from=verified_from,
        verified=verified,
        search_steps=0,
    )


def _closed(truth: ClassificationTruth) -> NDArray[np.bool_]:
    closed = np.array([truth.images_listed, truth.labels_listed])
    closed.flags.writeable = False
    return closed


def entry_codes(truth: ClassificationTruth, arrays: KernelTruth) -> NDArray[np.uint32]:
    """Return the code of each curve entry, shape (V,); see :data:`evaluator.tracks.shared.curves.buckets.Segments`.

    Entries of ignored images belong to additional classes, whose codes follow those of all labels.
    """

    def codes() -> NDArray[np.uint32]:
        usage = np.repeat(truth.usage, np.diff(arrays.verified_from))
        found = arrays.verified[: arrays.verified_from[-1]].astype(np.uint32)
        found += np.uint32(len(truth.labels)) * (usage == IGNORED)
        found *= np.uint32(CODES_PER_LABEL)
        found += np.uint32(2) * (usage == PRIVATE)
        found += ~truth.present
        return found

    return derived(truth, "codes of curve entries", codes)
