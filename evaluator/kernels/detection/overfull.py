"""The detections of images that have more than are sure to count: once the cap was applied, what is left is taken."""

import numpy as np
from numba import types

from evaluator.kernels.detection.state import STATE, TRUTH, add_entry, detect, enter, idle, leave, origin_of, settle
from evaluator.kernels.jit import kernel
from evaluator.kernels.overlap import best_box
from evaluator.kernels.text.csv_blocks import place_in


@kernel(TRUTH, types.int32[::1], types.int32[::1], types.float64[:, ::1], types.float64[::1])
def overlaps_of(truth, images, labels, predictions, overlaps):
    """Find how much each prediction overlaps the box of its image and class that it overlaps most.

    Parameters
    ----------
    truth : DetectionTruth
    images, labels, predictions
        As ``State.collected_images`` and so on; fastest where those of an image and class stand together.
    overlaps : float64 array of shape (N,)
        Receives the IoU, 0 where there is no such box.
    """
    place = np.int64(-1)
    for row in range(len(images)):
        if row == 0 or images[row] != images[row - 1] or labels[row] != labels[row - 1]:
            first, stop = np.int64(truth.verified_from[images[row]]), np.int64(truth.verified_from[images[row] + 1])
            place = place_in(truth.verified, first, stop, np.int64(labels[row]))
        overlaps[row] = 0.0
        if place >= 0:
            box = predictions[row]
            corners = (box[1], box[2], box[3], box[4])
            _, overlaps[row] = best_box(truth.boxes, truth.boxes_from[place], truth.boxes_from[place + 1], corners)


@kernel(
    TRUTH, STATE, types.float64, types.boolean, types.boolean, types.int32[::1], types.int32[::1], types.float64[:, ::1]
)
def take_collected(truth, state, threshold, one_image, groups_count, images, labels, predictions):
    """Take what is left of overfull images once the cap was applied, image by image.

    The state must have room for an entry for each, and for each group of these images one more.

    Parameters
    ----------
    one_image : bool
        Whether suitors and groups are those of one image at a time; else they wait for :func:`settle_all`.
    images, labels, predictions
        As ``State.collected_images`` and so on, images in ascending order.
    """
    at = 0
    while at < len(images):
        image = np.int64(images[at])
        origin = origin_of(truth, image) if one_image else (np.int64(0), np.int64(0))
        enter(truth, state, image)
        while at < len(images) and images[at] == image:
            label, box = np.int64(labels[at]), predictions[at]
            place = np.int64(state.place[label]) if label >= 0 else np.int64(-1)
            if place >= 0:
                corners = (box[1], box[2], box[3], box[4])
                detect(truth, state, origin, threshold, image, place, box[0], corners)
            else:
                add_entry(truth, state, box[0], idle(truth, label), image, 1)
            at += 1
        leave(truth, state, image)
        if one_image:
            settle(truth, state, origin, image, groups_count)
