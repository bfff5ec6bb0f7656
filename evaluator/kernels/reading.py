"""Code that all kernels share when they read a submission: counts, statuses, and reading the image of a line.

The kernels read *plain* syntax only: no quotes, no blank lines, no control characters, every image in one row of the
Kaggle shape. A kernel that finds anything else stops, and the reference implementation reads the file.
"""

from evaluator.kernels.jit import inlined
from evaluator.kernels.text.bits import byte_at
from evaluator.kernels.text.lookup import is_plain, text_at
from evaluator.kernels.text.prediction_strings import COMMA

IGNORED, PUBLIC, PRIVATE = 0, 1, 2  # The usage of an image.
UNCLAIMED = -1.0  # The confidence in best_candidates of an object that has no candidate.

# Positions in State.counts.
(
    ENTRIES,
    UNKNOWN_IMAGE_HASHES,
    IMAGES,
    PREDICTIONS,
    UNKNOWN_IMAGES,
    UNKNOWN_LABELS,
    INVERTED,
    OUTSIDE,
    BEYOND_ONE,
) = range(9)

# The status that a reading kernel returns: done, or why the reference implementation is needed.
DONE, NOT_PLAIN, NEGATIVE_CONFIDENCE = 0, 1, 2


@inlined
def count_unusual(counts, confidence, coordinates):
    """Count inverted boxes, coordinates outside the image and confidences above 1; return whether the box has an area.

    Such predictions are valid but probably not intended; the participant gets a notice with their number.
    """
    x_min, x_max, y_min, y_max = coordinates
    low, high = min(min(x_min, x_max), min(y_min, y_max)), max(max(x_min, x_max), max(y_min, y_max))
    has_area = x_min < x_max and y_min < y_max
    if low < 0.0 or high > 1.0 or confidence > 1.0 or not has_area:
        counts[INVERTED] += not has_area
        counts[OUTSIDE] += low < 0.0 or high > 1.0
        counts[BEYOND_ONE] += confidence > 1.0
    return has_area


@inlined
def next_image(data, at, truth, state):
    """Read the image id at the start of a line and record that the image has a row.

    Returns
    -------
    image : int64
        Its code; -1 if the image is not in the truth.
    at : int64
        Offset of its predictions; 0 if the line is not plain or the image already has a row.
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
    if truth.closed[0] or not is_plain(data, at, end):
        return image, 0
    state.unknown_image_hashes[state.counts[UNKNOWN_IMAGE_HASHES]] = image_hash
    state.counts[UNKNOWN_IMAGE_HASHES] += 1
    state.counts[UNKNOWN_IMAGES] += 1
    return image, end + 1
