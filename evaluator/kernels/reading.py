"""Counters, statuses and functions shared by all kernels that read a submission.

The kernels read *plain* syntax only: no quotes, no blank lines, no control characters and, in the Kaggle layout, only
one row for each image. A kernel that finds anything else stops, and the reference implementation reads the file.
"""

import numpy as np

from evaluator.kernels.jit import inlined
from evaluator.kernels.text.bits import byte_at
from evaluator.kernels.text.lookup import is_accepted, text_at
from evaluator.kernels.text.prediction_strings import COMMA

# The usage of an image: it is not scored, it is in the public split, or it is in the private split.
IGNORED, PUBLIC, PRIVATE = 0, 1, 2
# Placeholder confidence in a state for a ground-truth object that no prediction has matched yet.
UNCLAIMED = -np.inf

# Indices into the array ``counts``, in which a kernel counts, for example, predictions and unknown labels.
(
    ENTRIES,
    UNKNOWN_IMAGE_HASHES,
    IMAGES,
    PREDICTIONS,
    UNKNOWN_IMAGES,
    UNKNOWN_LABELS,
    INVERTED,
    OUTSIDE,
    BEYOND,
    USELESS,
    NEGATIVE,
) = range(11)

# Statuses returned by kernels that read files: done, or the reason why the reference implementation is needed.
DONE, NOT_PLAIN, NEGATIVE_CONFIDENCE = 0, 1, 2


@inlined
def can_match(coordinates, threshold):
    """Return whether a box could match an object inside the image. The result does not depend on the annotations.

    The reference implementation is ``evaluator.tracks.shared.submissions.can_match``.
    """
    x_min, x_max, y_min, y_max = coordinates
    width, height = min(x_max, 1.0) - max(x_min, 0.0), min(y_max, 1.0) - max(y_min, 0.0)
    inside = max(height, 0.0) * max(width, 0.0)
    return x_min < x_max and y_min < y_max and 2 * inside >= threshold * ((y_max - y_min) * (x_max - x_min))


@inlined
def is_usual(confidence, coordinates):
    """Return whether :func:`count_unusual` counts none of the values of a prediction.

    The function has no branches, so the compiler can check several predictions with one instruction.
    """
    x_min, x_max, y_min, y_max = coordinates
    usual = (confidence >= 0.0) & (confidence <= 1.0)
    usual &= (x_min >= 0.0) & (x_min < x_max) & (x_max <= 1.0)
    return usual & (y_min >= 0.0) & (y_min < y_max) & (y_max <= 1.0)


@inlined
def count_unusual(counts, confidence, coordinates, threshold):
    """Count unusual values, such as inverted boxes and coordinates outside the image.

    Predictions with such values are valid but probably not intended, so a notice tells the participant how many there
    are. Return whether the box has an area.
    """
    x_min, x_max, y_min, y_max = coordinates
    has_area = x_min < x_max and y_min < y_max
    if not is_usual(confidence, coordinates):
        low, high = min(min(x_min, x_max), min(y_min, y_max)), max(max(x_min, x_max), max(y_min, y_max))
        counts[INVERTED] += not has_area
        counts[OUTSIDE] += low < 0.0 or high > 1.0
        counts[BEYOND] += confidence < 0.0 or confidence > 1.0
        counts[NEGATIVE] += confidence < 0.0
        counts[USELESS] += not can_match(coordinates, threshold)
    return has_area


@inlined
def next_image(data, at, truth, state):
    """Read the image id at the start of a line and record that the image has a row.

    Returns
    -------
    image : int64
        Code of the image; -1 if the image is not in the ground truth.
    at : int64
        Offset of the image's predictions; 0 if the line has special syntax, such as quotes, if the image already has a
        row, or if it is unknown and unknown images are defects.
    """
    image, end, image_hash = text_at(data, at, truth.images)
    if byte_at(data, end) != COMMA:
        return image, 0
    state.counts[IMAGES] += 1
    if image >= 0:
        if state.named[image]:
            return image, 0
        state.named[image] = 1
        return image, end + 1
    if not is_accepted(data, at, end, image, truth.closed[0]):
        return image, 0
    state.unknown_image_hashes[state.counts[UNKNOWN_IMAGE_HASHES]] = image_hash
    state.counts[UNKNOWN_IMAGE_HASHES] += 1
    state.counts[UNKNOWN_IMAGES] += 1
    return image, end + 1
