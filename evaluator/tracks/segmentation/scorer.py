"""Open Images instance segmentation: masks against masks; what has a box only is ignored where it is met."""

import base64
import zlib
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import SEGMENTATION
from evaluator.files.source import Source
from evaluator.files.submission import Table, read_table
from evaluator.kernels import compile_once
from evaluator.metrics.boxes import intersection_over_area, intersection_over_union
from evaluator.metrics.masks import KERNEL, Masks, mask_ioa, mask_iou
from evaluator.metrics.matching import best_objects, takers
from evaluator.tracks.detection.candidates import (
    most_confident,
    outcome_of,
    predicted,
    reached,
    sound,
    without_unverified,
)
from evaluator.tracks.detection.matches import Detections, Matches
from evaluator.tracks.interface import (
    Contest,
    Outcome,
    Progress,
    csv_text,
    notice_boxes,
    require_all_images,
    vocabularies_of,
)
from evaluator.truth import Truth

OBJECTS = ("mask_keys", "group_mask_keys")


def read(source: Source, truth: Truth | None, parameters: Mapping[str, Any]) -> Table:
    """Read a submission, and notice what was hardly meant."""
    sizes = {"width": truth.arrays["widths"], "height": truth.arrays["heights"]} if truth else None
    table, findings = read_table(source, SEGMENTATION.form, vocabularies_of(truth), sizes), source.findings
    if truth is not None and parameters["require_all_images"] and not findings.total:
        require_all_images(truth, table, findings)
    if not findings.total:
        empty = int(np.count_nonzero(table.columns["Mask"]["area"] == 0))
        findings.notice("empty_mask", "masks without a pixel were ignored", empty)
        notice_boxes(findings, truth, table.numbers("Score")[:, 0], [], [table.codes("LabelName")])
    return table


def evaluate(truth: Truth, table: Table, parameters: Mapping[str, Any], progress: Progress) -> Outcome:
    """Score the masks on every split."""
    progress("matching", 0.0)
    masks = table.columns["Mask"]
    found = predicted(truth, table, masks["box"], parameters)
    found = found[sound(found)]  # an empty mask has an empty box, which does not count
    found = found[np.argsort(found.keys(truth), kind="stable")]
    compile_once(progress)
    import_module(KERNEL)  # now, so that what loading takes does not depend on whether any mask meets another
    matches = match(truth, found, Masks(masks["compressed"], masks["area"], masks["size"])[found.rows], parameters)
    matches = without_unverified(truth, matches)
    progress("scoring", 0.0)
    weight = parameters["group_of_weight"]
    return outcome_of(truth, matches.entries(truth, weight, OBJECTS), weight)


def match(truth: Truth, found: Detections, masks: Masks, parameters: Mapping[str, Any]) -> Matches:
    """Match masks with masks, as detection does with boxes; then what is left with objects that have a box only.

    A detection that meets such a box is ignored: the surest one of an ordinary box, every one inside a group. Source:
    the official code.

    Parameters
    ----------
    found : Detections
        Sorted by key, with the tight boxes of their masks.
    masks : Masks
        Of the same shape.
    """
    threshold, arrays = parameters["iou_threshold"], truth.arrays
    mask_threshold = float(np.float32(threshold))  # overlaps of masks are in single precision, so it must be too
    objects, groups = (masks_of(truth, kind) for kind in ("", "group_"))

    def rivalry(rivals: NDArray[np.int64]) -> tuple[NDArray[np.float64], list[NDArray[Any]]]:
        theirs, keys = masks[rivals], found[rivals].keys(truth)
        overlaps = best_objects(keys, arrays["mask_keys"], lambda ours, its: mask_iou(theirs, objects, ours, its))[1]
        return overlaps, ties_of(found[rivals], theirs)

    kept = most_confident(truth, found, rivalry)
    found, masks = found[kept], masks[kept]
    keys, ties = found.keys(truth), ties_of(found, masks)
    best, iou = best_objects(keys, arrays["mask_keys"], lambda ours, its: mask_iou(masks, objects, ours, its))
    hits = takers(np.where(iou >= mask_threshold, best, -1), found.confidences, iou, ties)
    group, share = best_objects(keys, arrays["group_mask_keys"], lambda ours, its: mask_ioa(masks, groups, ours, its))
    absorbed = ~hits & (share >= mask_threshold)
    found_at = reached(
        group[absorbed], found.confidences[absorbed], len(arrays["group_mask_keys"]), parameters["group_of_weight"]
    )
    absorbed |= ignored(truth, found, ties, hits | absorbed, threshold)
    return Matches(found, best, iou, hits, group, share, absorbed, found_at, found.labels)


def ignored(
    truth: Truth, found: Detections, ties: list[NDArray[Any]], settled: NDArray[np.bool_], threshold: float
) -> NDArray[np.bool_]:
    """Tell which detections that are not settled lie on an object with a box only, shape (N,)."""
    boxes, group_boxes, keys = truth.arrays["boxes"], truth.arrays["group_boxes"], found.keys(truth)
    best, iou = best_objects(
        keys,
        truth.arrays["box_keys"],
        lambda ours, its: intersection_over_union(found.boxes[ours], boxes[its]),
    )
    targets = np.where(~settled & (iou >= threshold), best, -1)
    first = takers(targets, found.confidences, iou, ties)
    _, share = best_objects(
        keys,
        truth.arrays["group_box_keys"],
        lambda ours, its: intersection_over_area(found.boxes[ours], group_boxes[its]),
    )
    return ~settled & (first | (share >= threshold))


def ties_of(found: Detections, masks: Masks) -> list[NDArray[Any]]:
    """Return what decides between equals last: the box, then the mask itself."""
    return [*found.corners, np.unique(masks.compressed, return_inverse=True)[1]]


def masks_of(truth: Truth, kind: str) -> Masks:
    """Return the masks of the truth's ordinary objects (``""``) or groups (``"group_"``)."""
    places, texts = truth.arrays[f"{kind}masks"], list(truth.texts["masks"])
    images = truth.arrays[f"{kind}mask_keys"] // max(len(truth.texts["labels"]), 1)
    sizes = np.stack([truth.arrays["heights"][images], truth.arrays["widths"][images]], axis=1)
    compressed = np.array([texts[place].encode() for place in places.tolist()], object)
    return Masks(compressed, truth.arrays["areas"][places], sizes)


def blank(truth: Truth) -> str:
    """Write a row with an empty prediction string for every image; a size that is not known may be any."""
    sides = [np.maximum(truth.arrays[name], 1).tolist() for name in ("widths", "heights")]
    rows = ((*of_image, "") for of_image in zip(truth.texts["images"], *sides, strict=True))
    return csv_text(SEGMENTATION.form.kaggle_header, rows)


def ceiling(truth: Truth, parameters: Mapping[str, Any]) -> str:
    """Write every mask of the truth, those of ancestors included, as a sure detection."""
    labels, rows = truth.texts["labels"], []
    for kind in ("", "group_"):
        masks = masks_of(truth, kind)
        for key, mask, (height, width) in zip(
            truth.arrays[f"{kind}mask_keys"].tolist(), masks.compressed, masks.sizes.tolist(), strict=True
        ):
            image, label = divmod(key, len(labels))
            text = base64.b64encode(zlib.compress(mask)).decode()
            rows.append((truth.texts["images"][image], width, height, labels[label], 1, text))
    return csv_text(SEGMENTATION.form.long_header, rows)


CONTEST = Contest(
    SEGMENTATION,
    compiler="evaluator.tracks.segmentation.truth",
    read=read,
    evaluate=evaluate,
    blank=blank,
    ceiling=ceiling,
)
