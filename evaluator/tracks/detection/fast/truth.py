"""Converts the ground truth of detection to the arrays that the kernels expect."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.derived import derived
from evaluator.kernels.detection.explain.explained import Hierarchy
from evaluator.kernels.detection.state import KernelTruth
from evaluator.kernels.text.csv_blocks import searchable
from evaluator.kernels.text.lookup import TextIndex, index_of
from evaluator.metrics.matching import contains
from evaluator.tracks.detection.truth import DetectionTruth, class_ranges


def kernel_truth(truth: DetectionTruth, *, expand_predictions: bool) -> KernelTruth:
    """Return the arrays of a ground truth in the form that the kernels expect.

    If ``expand_predictions`` is true, predictions are also matched as predictions of the ancestors of their classes.
    """
    closed = np.array([truth.images_listed, truth.labels_listed])
    closed.flags.writeable = False
    return KernelTruth(
        images=TextIndex(*truth.image_index),
        labels=TextIndex(*truth.label_index),
        closed=closed,
        listed=truth.public_labels[0],
        usage=truth.usage,
        verified_from=truth.verified_from,
        boxes_from=truth.boxes_from,
        groups_from=truth.groups_from,
        boxes=truth.boxes,
        groups=truth.group_boxes,
        **derived(truth, "arrays of kernels", lambda: _derived_fields(truth)),
        **_ancestors(truth, wanted=expand_predictions),
    )


def _derived_fields(truth: DetectionTruth) -> dict[str, Any]:
    """Return the fields of a :class:`KernelTruth` that are not stored, but computed from the ground truth's arrays."""
    verified, steps = searchable(truth.verified_labels, truth.verified_from)
    ranges = _fields_of_ranges(truth.verified_from, truth.boxes_from, truth.groups_from)
    return {"verified": verified, "search_steps": steps, **ranges}


def _fields_of_ranges(
    verified_from: NDArray[np.int32], boxes_from: NDArray[np.int32], groups_from: NDArray[np.int32]
) -> dict[str, Any]:
    """Return the fields of a :class:`KernelTruth` that are computed from the ranges of its boxes."""
    most_boxes, most_groups = (
        int(np.diff(starts[verified_from]).max(initial=0)) for starts in (boxes_from, groups_from)
    )
    candidates_from = _candidates_from(boxes_from, groups_from)
    return {"candidates_from": candidates_from, "most_boxes": most_boxes, "most_groups": most_groups}


def _candidates_from(boxes_from: NDArray[np.int32], groups_from: NDArray[np.int32]) -> NDArray[np.int32]:
    groups = np.diff(groups_from)
    positions = np.flatnonzero(groups)
    boxes, groups = boxes_from[positions + 1] - boxes_from[positions], groups[positions]
    ends = np.cumsum(boxes, dtype=np.int32)
    found = np.append(np.repeat(ends - boxes, groups), ends[-1:] if len(ends) else np.int32(0))
    found.flags.writeable = False
    return found


def with_class_ranges(part: DetectionTruth) -> DetectionTruth:
    """Return a part of a ground truth with the arrays from which :func:`kernel_truth` is made.

    A part, such as :meth:`DetectionTruth.without_unlabelled`, has these arrays of the whole ground truth. Data that is
    derived from a part is not kept for later submissions.
    """
    ranges = class_ranges(
        part.verified, part.object_keys, part.group_keys, images=len(part.images), labels=len(part.labels)
    )
    return replace(part, arrays={**part.arrays, **_read_only(ranges)})


def _ancestors(truth: DetectionTruth, *, wanted: bool) -> dict[str, Any]:
    """Return the arrays with the ancestors of each label, or empty arrays if ``wanted`` is false."""
    ancestors_from, ancestors = truth.ancestors_from, truth.ancestors
    if not wanted:
        ancestors_from, ancestors = np.zeros_like(ancestors_from), ancestors[:0]
    return _read_only({"ancestors_from": ancestors_from, "ancestors": np.array(ancestors)})


def public_kernel_truth(truth: DetectionTruth) -> KernelTruth:
    """Return the public parts of a ground truth in the form that the kernels expect.

    Boxes are not public, and neither are verified classes (those known to be present or absent in an image).
    """
    count, listed = truth.public_labels
    closed = np.array([truth.images_listed, truth.labels_listed])
    labels = list(truth.labels)[:count] if listed else []
    return KernelTruth(
        images=index_of(truth.images),
        labels=index_of(labels, as_unknown=not truth.labels_listed),
        listed=len(labels),
        **_read_only({"closed": closed, "usage": np.zeros(len(truth.images), np.int8)}),
        **_no_annotations(len(truth.images)),
    )


def without_annotations(truth: KernelTruth) -> KernelTruth:
    """Return the ground truth without its boxes and verified classes. The images and labels are kept.

    A kernel needs only images and labels to read a submission without matching its predictions. A class is verified in
    an image if its presence or absence is known.
    """
    return truth._replace(**_no_annotations(len(truth.usage)))


def _no_annotations(images: int) -> dict[str, Any]:
    ranges = {
        "verified_from": np.zeros(images + 1, np.int32),
        "boxes_from": np.zeros(1, np.int32),
        "groups_from": np.zeros(1, np.int32),
    }
    arrays = {
        "verified": np.empty(0, np.int32),
        "boxes": np.empty((0, 4)),
        "groups": np.empty((0, 4)),
        "ancestors_from": np.zeros(1, np.int64),
        "ancestors": np.empty(0, np.int64),
    }
    return {"search_steps": 0, **_read_only(ranges | arrays), **_fields_of_ranges(**ranges)}


def without_copies(truth: KernelTruth, hierarchy: Hierarchy) -> KernelTruth:
    """Return the ground truth without the boxes that were copied to the ancestors of their class.

    All verified classes (those known to be present or absent in an image) are kept, including those that the hierarchy
    implies.
    """
    boxes, groups = hierarchy.box_is_annotated, hierarchy.group_is_annotated
    ranges = {
        "boxes_from": np.append(0, np.cumsum(boxes)).astype(np.int32)[truth.boxes_from],
        "groups_from": np.append(0, np.cumsum(groups)).astype(np.int32)[truth.groups_from],
    }
    arrays = {"boxes": truth.boxes[boxes], "groups": truth.groups[groups]}
    return truth._replace(**_read_only(ranges | arrays), **_fields_of_ranges(truth.verified_from, **ranges))


def hierarchy_of(truth: DetectionTruth) -> Hierarchy:
    """Return the data that only explanations need: which boxes and verified classes are copies, and all ancestors.

    With a hierarchy, boxes are copied for the ancestors of their class, and verified classes (those known to be present
    or absent in an image) for their ancestors or descendants.
    """
    images, labels = truth.images_and_labels(truth.object_keys)
    is_annotated, groups = truth.object_is_annotated, truth.group_is_annotated
    annotated = np.flatnonzero(is_annotated)
    verified_plain = contains(truth.labelled_unexpanded, truth.verified)
    for starts, chosen in ((truth.boxes_from, is_annotated), (truth.groups_from, groups)):
        verified_plain[np.repeat(np.arange(len(verified_plain)), np.diff(starts))[chosen]] = True
    arrays = {
        "box_is_annotated": is_annotated,
        "group_is_annotated": groups,
        "verified_plain": verified_plain,
        "annotated_from": np.searchsorted(images[annotated], np.arange(len(truth.images) + 1)).astype(np.int32),
        "annotated": annotated.astype(np.int32),
        "label_of_box": labels.astype(np.int32),
    }
    return Hierarchy(**_read_only(arrays), **_ancestors(truth, wanted=truth.has_copies))


def _read_only(arrays: dict[str, Any]) -> dict[str, Any]:
    for array in arrays.values():
        array.flags.writeable = False
    return arrays
