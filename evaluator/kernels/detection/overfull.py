"""Matches the predictions in overfull images, which have more than 10,000 predictions.

At most 10,000 detections per image and class are scored. Predictions in overfull images are first collected and then
reduced to this limit. Only the remaining predictions are matched.
"""

import numpy as np
from numba import types

from evaluator.kernels.detection.matching import (
    clear_class_positions,
    finish_image,
    match_detection,
    set_class_positions,
)
from evaluator.kernels.detection.state import STATE, TRUTH, add_unscored, offsets_of
from evaluator.kernels.jit import kernel
from evaluator.kernels.overlap import best_box
from evaluator.kernels.text.csv_blocks import position_in


@kernel(TRUTH, types.int32[::1], types.int32[::1], types.float64[:, ::1], types.float64[::1])
def overlaps_of(truth, images, labels, predictions, overlaps):
    """Compute the highest IoU of each prediction with a box of its image and class.

    Parameters
    ----------
    truth : KernelTruth
    images, labels, predictions
        Arrays like ``collected_images``, ``collected_labels`` and ``collected`` of the state. Predictions of the same
        image and class should be adjacent, so that the boxes of the class are looked up only once.
    overlaps : float64 array of shape (N,)
        Receives the IoU, 0 if the class has no box in the image.
    """
    position = np.int64(-1)
    for row in range(len(images)):
        if row == 0 or images[row] != images[row - 1] or labels[row] != labels[row - 1]:
            first, stop = np.int64(truth.verified_from[images[row]]), np.int64(truth.verified_from[images[row] + 1])
            position = position_in(truth.verified, first, stop, np.int64(labels[row]), truth.search_steps)
        overlaps[row] = 0.0
        if position >= 0:
            box = predictions[row]
            coordinates = (box[1], box[2], box[3], box[4])
            first_box, stop_box = truth.boxes_from[position], truth.boxes_from[position + 1]
            _, overlaps[row] = best_box(truth.boxes, first_box, stop_box, coordinates)


@kernel(
    TRUTH, STATE, types.float64, types.boolean, types.int64, types.int32[::1], types.int32[::1], types.float64[:, ::1]
)
def match_collected(truth, state, threshold, one_image, group_kind, images, labels, predictions):
    """Match predictions in overfull images, one image at a time.

    The caller must have selected at most 10,000 predictions per image and class.

    The state must have room for one more curve entry per prediction and per group-of box in these images.

    Parameters
    ----------
    one_image : bool
        Whether the state holds the data of one image at a time. If false, call
        :func:`~evaluator.kernels.detection.matching.finish_images` afterwards.
    group_kind : int64
        As for :func:`evaluator.kernels.detection.strings.read_strings`.
    images, labels, predictions
        As for :func:`overlaps_of`, with images in ascending order.
    """
    at = 0
    while at < len(images):
        image = np.int64(images[at])
        offsets = offsets_of(truth, image) if one_image else (np.int64(0), np.int64(0))
        set_class_positions(truth, state, image)
        while at < len(images) and images[at] == image:
            label, box = np.int64(labels[at]), predictions[at]
            position = np.int64(state.class_positions[label]) if label >= 0 else np.int64(-1)
            if position >= 0:
                coordinates = (box[1], box[2], box[3], box[4])
                match_detection(truth, state, offsets, threshold, image, position, box[0], coordinates)
            else:
                add_unscored(truth, state, box[0], label, image)
            at += 1
        clear_class_positions(truth, state, image)
        if one_image:
            finish_image(truth, state, offsets, image, group_kind)
